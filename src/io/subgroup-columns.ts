import { DataValidationError } from '../exceptions/index.ts';
import { formatCompact, formatCount } from '../internal/format.ts';

/** A column whose values are coded: categories, or numbers in bins. */
export interface SubgroupColumn {
  readonly name: string;
  readonly kind: 'values' | 'bins';
  readonly labels: readonly string[];
  /** The number of rows without a value. */
  readonly missing: number;
}

/** The limits of a column. */
export interface ColumnLimits {
  /** The number of bins of a column of numbers. */
  readonly bins: number;
  /** The maximum number of values of a column of labels. */
  readonly maxValues: number;
}

/** Returns whether a column of numbers has so many different ones that it is divided into bins. */
export function needsBins(distinct: number, bins: number): boolean {
  return distinct > 2 * bins;
}

/** The number of rows from which a column with a different value in each row is an identifier. */
const FEWEST_OF_IDENTIFIER = 100;

/** What is known about the values of a column. */
export interface ColumnFacts {
  readonly name: string;
  readonly isNumber: boolean;
  /** Whether all numbers are whole. */
  readonly isWhole: boolean;
  readonly distinct: number;
  readonly known: number;
}

/**
 * Checks that conditions on a column describe groups of rows.
 * @throws {DataValidationError} if the column is an identifier, or has too many labels
 */
export function assertGroupColumn(
  { name, isNumber, isWhole, distinct, known }: ColumnFacts,
  { bins, maxValues }: ColumnLimits,
): void {
  const isIdentifier = distinct === known && known >= FEWEST_OF_IDENTIFIER && (!isNumber || isWhole);
  const isBinned = isNumber && needsBins(distinct, bins);
  if (!isIdentifier && (isBinned || distinct <= maxValues)) return;
  throw new DataValidationError(
    isIdentifier
      ? `Column '${name}' has a different value in each of its ${formatCount(known)} rows, so it is an identifier and forms no groups.`
      : `Column '${name}' has ${formatCount(distinct)} values, but at most ${formatCount(maxValues)} are searched.`,
    {
      code: isIdentifier ? 'invalid-value' : 'too-many-groups',
      context: { column: name, distinct, limit: maxValues },
      suggestion: isIdentifier
        ? 'Leave the column out.'
        : 'Leave the column out, merge its values into fewer, or raise the limit (maxValues).',
    },
  );
}

/** The bins of a column of numbers: the upper ends of all but the last bin, ascending, and the labels. */
export interface Bins {
  readonly cuts: readonly number[];
  readonly labels: readonly string[];
}

/**
 * Returns bins between quantiles. A bin contains its upper end, but not its lower end.
 * @param quantiles the quantiles between the bins, ascending, possibly repeated
 */
export function binsOf(quantiles: readonly number[], [min, max]: readonly [number, number], isWhole: boolean): Bins {
  const cuts = [...new Set(quantiles)].filter((cut) => cut < max);
  const ends = [...cuts, max];
  const shown = (end: number): string => (isWhole ? String(end) : formatCompact(end, 4));
  const labels = ends.map((end, index) => {
    const before = ends[index - 1];
    if (before === undefined) return end === min ? shown(end) : `${shown(min)} to ${shown(end)}`;
    if (!isWhole) return `over ${shown(before)} to ${shown(end)}`;
    return before + 1 === end ? shown(end) : `${shown(before + 1)} to ${shown(end)}`;
  });
  // Rounded ends may be equal.
  return {
    cuts,
    labels: new Set(labels).size === labels.length ? labels : ends.map((end, index) => binLabel(ends, end, index, min)),
  };
}

function binLabel(ends: readonly number[], end: number, index: number, min: number): string {
  return index === 0 ? `${String(min)} to ${String(end)}` : `over ${String(ends[index - 1])} to ${String(end)}`;
}

/** Returns the shares of rows below the cuts between bins. */
export function binShares(bins: number): number[] {
  return Array.from({ length: bins - 1 }, (_, index) => (index + 1) / bins);
}
