import { DataValidationError } from '../../exceptions/index.ts';
import type { Table } from '../../table/index.ts';

/**
 * Returns the label that is mapped to 1: the given label, or by default the less frequent of the two labels. Returns
 * null if the target is already 0/1.
 */
export function findPositiveLabel(table: Table, target: string, named: string | undefined): string | null {
  const { codes, labels } = table.categorical(target);
  const shown = quoteList(labels);
  if (named !== undefined) {
    assertLabel(`The target '${target}'`, labels, named, { target });
    return named;
  }
  if (labels.every((label) => ['0', '1', '0.0', '1.0', 'true', 'false'].includes(label.toLowerCase()))) return null;
  if (labels.length === 2) {
    const [first, second] = labels as [string, string];
    const ofSecond = codes.reduce((sum, code) => sum + Number(code === 1), 0);
    const ofFirst = codes.reduce((sum, code) => sum + Number(code === 0), 0);
    return ofSecond <= ofFirst ? second : first;
  }
  throw new DataValidationError(
    `The target '${target}' has ${String(labels.length)} values${labels.length === 0 ? '' : ` (${shown})`}, but training needs two.`,
    {
      code: 'too-few-groups',
      context: { target, values: labels.length },
      suggestion: 'Set the label that counts as positive (positiveLabel); the others count as negative.',
    },
  );
}

/** @throws {DataValidationError} if a column does not have the positive label among its labels */
export function assertLabel(
  what: string,
  labels: readonly string[],
  positiveLabel: string,
  context: Readonly<Record<string, unknown>>,
  suggestion = `Its values are ${quoteList(labels)}.`,
): void {
  if (labels.includes(positiveLabel)) return;
  throw new DataValidationError(`${what} never has the value '${positiveLabel}'.`, {
    code: 'unknown-label',
    context: { ...context, positiveLabel },
    suggestion,
  });
}

/** Formats the first few of some values for messages. */
function quoteList(values: readonly string[]): string {
  return `${values
    .slice(0, 8)
    .map((value) => `'${value}'`)
    .join(', ')}${values.length > 8 ? ', …' : ''}`;
}

/** @throws {DataValidationError} if the target has only one class */
export function assertTwoClasses(y: Uint8Array, target: string): void {
  if (y.includes(0) && y.includes(1)) return;
  throw new DataValidationError(`The target '${target}' has one value only, so there is nothing to learn.`, {
    code: 'invalid-data',
    context: { target },
    suggestion: 'Choose another target or another positive label.',
  });
}
