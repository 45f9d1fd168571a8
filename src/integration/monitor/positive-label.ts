import { assertPositiveLabel } from '../../io/positive-label.ts';
import { withRelation } from '../../io/sql-source.ts';
import type { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import type { Table } from '../../table/index.ts';

/**
 * Checks that a positive label means something in a file, as `validate` does.
 * @throws {DataValidationError} with the labels there are
 */
export async function assertLabelInFile(
  { positiveLabel, yPred, yTrue }: MonitorRequest,
  path: string,
  table: Table,
): Promise<void> {
  if (positiveLabel === undefined) return;
  const named = (name: string): { name: string; has: (state: number) => boolean; isRead: boolean } => {
    const { codes, labels } = table.categorical(name);
    const positive = labels.indexOf(positiveLabel);
    const states = new Set(Array.from(codes, (code) => (code < 0 ? -1 : Number(code === positive))));
    return { name, has: (state) => states.has(state), isRead: true };
  };
  const columns = { positiveLabel, yPred: named(yPred), yTrue: yTrue === undefined ? undefined : named(yTrue) };
  await withRelation(path, (session, relation) => assertPositiveLabel(session, relation, columns));
}

/** Cells, 2 x truth + decision with truth 2 where it is unknown, whose decision is positive. */
const POSITIVE_DECISIONS = [1, 3, 5];
/** Those whose truth is positive. */
const POSITIVE_TRUTHS = [2, 3];

/** A remark where no event of a stream ever held the positive label. */
export function strangeLabel(
  { positiveLabel, yPred }: MonitorRequest,
  { stream }: RealTimeFairnessTracker,
): string | undefined {
  if (positiveLabel === undefined || stream.events === 0) return undefined;
  const cells = [...POSITIVE_DECISIONS, ...POSITIVE_TRUTHS];
  const isHeld = stream.tables.some(({ data, stride, groups }) =>
    Array.from({ length: groups }, (_, group) => cells.some((cell) => (data[group * stride + cell] ?? 0) > 0)).includes(
      true,
    ),
  );
  return isHeld ? undefined : `No event holds the positive label '${positiveLabel}' in '${yPred}'.`;
}
