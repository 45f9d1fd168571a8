import { DataValidationError } from '../exceptions/index.ts';
import { distinctLabels } from './class-labels.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';

/** Whether a state occurs among the labels or the decisions that were counted. */
type HasState = (state: number) => boolean;

/** Columns that a positive label was looked for in, and the states found there. */
interface LabelledColumns {
  readonly positiveLabel: string;
  readonly yTrue?: { readonly name: string; readonly has: HasState } | undefined;
  /** Left out where decisions do not come from labels. */
  readonly yPred?: { readonly name: string; readonly has: HasState } | undefined;
}

/**
 * Checks that a positive label means something in the rows counted.
 * @throws {DataValidationError} with the labels there are
 */
export async function assertPositiveLabel(
  session: SqlSession,
  relation: Relation,
  { positiveLabel, yTrue, yPred }: LabelledColumns,
): Promise<void> {
  // Without a single positive, a label is mistyped or means nothing in that column.
  const isStrange = (has: HasState): boolean => !has(1) && has(0);
  if (yTrue !== undefined && isStrange(yTrue.has)) {
    throw await unknownLabel(session, relation, yTrue.name, positiveLabel);
  }
  if (yPred === undefined || !isStrange(yPred.has)) return;
  // A model may decide for no one, if it speaks the language of the true labels.
  const known = new Set(yTrue === undefined ? [] : await distinctLabels(session, relation, [yTrue.name]));
  const predicted = await distinctLabels(session, relation, [yPred.name]);
  if (!predicted.every((label) => known.has(label))) {
    throw await unknownLabel(session, relation, yPred.name, positiveLabel);
  }
}

async function unknownLabel(
  session: SqlSession,
  relation: Relation,
  name: string,
  label: string,
): Promise<DataValidationError> {
  const labels = (await distinctLabels(session, relation, [name])).slice(0, 50);
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  return new DataValidationError(
    `No row of ${relation.title} holds the positive label '${label}' in column '${name}'.`,
    {
      context: { column: name, positiveLabel: label, labels },
      suggestion: `The labels of '${name}' are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.`,
    },
  );
}
