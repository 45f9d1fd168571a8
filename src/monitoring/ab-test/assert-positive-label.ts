import { DataValidationError } from '../../exceptions/index.ts';
import { Table } from '../../table/index.ts';

/** A column of both arms, as it was given and as it was read. */
interface LabelledColumn {
  readonly name: string;
  readonly values: readonly (string | number | null)[];
  readonly binary: Float64Array;
}

/**
 * Checks that the positive label occurs in the rows of both arms together: without a single row, it is mistyped or
 * means nothing in that column. Decisions may be for no one, where the true labels are in the same words.
 * @throws {DataValidationError} with the labels there are
 */
export function assertPositiveLabel(
  positiveLabel: string,
  outcome: LabelledColumn,
  truth: LabelledColumn | undefined,
): void {
  if (truth !== undefined && isStrange(truth)) throw unknownLabel(positiveLabel, truth);
  if (!isStrange(outcome)) return;
  const known = new Set(truth === undefined ? [] : labelsOf(truth));
  if (!labelsOf(outcome).every((label) => known.has(label))) throw unknownLabel(positiveLabel, outcome);
}

function isStrange({ binary }: LabelledColumn): boolean {
  return !binary.includes(1) && binary.includes(0);
}

function labelsOf({ name, values }: LabelledColumn): readonly string[] {
  return Table.from({ [name]: values.map((value) => (value === null ? null : String(value))) }).categorical(name)
    .labels;
}

function unknownLabel(label: string, column: LabelledColumn): DataValidationError {
  const labels = labelsOf(column).slice(0, 50);
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  return new DataValidationError(
    `No row of either arm holds the positive label '${label}' in column '${column.name}'.`,
    {
      context: { column: column.name, positiveLabel: label, labels },
      suggestion: `Its labels are ${shown.join(', ')}${labels.length > 8 ? ', \u2026' : ''}.`,
    },
  );
}
