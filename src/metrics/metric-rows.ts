import { DataValidationError, MetricComputationError, ValueError } from '../exceptions/index.ts';
import { oneOf } from '../internal/arguments.ts';
import { type ColumnSource, missingOutcomes, Table } from '../table/index.ts';
import type { ClassificationRows } from './reduce/reduce-classification.ts';
import type { RegressionRows } from './reduce/reduce-regression.ts';
import type { ScoreRows } from './reduce/reduce-scores.ts';
import type { MetricRows } from './row-options.ts';
import type { GroupStats } from './statistics/group-stats.ts';

/*
 * Selects the columns that each kind of statistics needs. A missing column is an error that names the metric. Other
 * columns are not read, so they may contain anything.
 */

/** Returns the rows without the true labels if a metric does not need them. */
export function rowsRead(rows: MetricRows, needsTruth: boolean): MetricRows {
  return needsTruth ? rows : { ...rows, yTrue: undefined };
}

/** Returns the rows for a metric of decisions or predicted numbers, and checks that the required columns are given. */
export function predictionRows(rows: MetricRows, metric: string): ClassificationRows & RegressionRows {
  return { ...rows, yPred: needed(rows.yPred, 'predictions', 'yPred', metric) };
}

/** Returns the rows for a metric of scores, and checks that the required columns are given. */
export function scoreRows(rows: MetricRows, metric: string): ScoreRows {
  return {
    ...rows,
    yScore: needed(rows.yScore, 'scores', 'yScore', metric),
    yTrue: needed(rows.yTrue, 'true labels', 'yTrue', metric),
  };
}

function needed(column: ColumnSource | undefined, what: string, argument: string, metric: string): ColumnSource {
  if (column !== undefined) return column;
  throw missingColumn(metric, what, argument);
}

/** Returns the error for a metric with a missing column. */
export function missingColumn(metric: string, what: string, argument: string): MetricComputationError {
  return new MetricComputationError(`${metric} needs ${what}, but none were given.`, {
    code: 'missing-argument',
    context: { metric, argument, missing: argument },
    suggestion: `Give the ${what} too (${argument}).`,
  });
}

/**
 * Returns the classes of an outcome in sorted order: the distinct labels of the predictions and, if they are used, of
 * the true labels.
 * @throws {ValueError} if a positive label is also given
 * @throws {DataValidationError} if there are fewer than two classes
 */
export function classNamesOf(rows: Omit<MetricRows, 'sensitive'>): readonly string[] {
  if (rows.positiveLabel !== undefined || rows.yTruePositiveLabel !== undefined) throw macroWithPositiveLabel();
  const labels = [rows.yTrue, rows.yPred].flatMap((source) =>
    source === undefined ? [] : Table.from({ outcome: source }).categorical('outcome').labels,
  );
  const missing = missingOutcomes(rows.naValues);
  return assertClasses([...new Set(labels)].filter((label) => !missing.has(label)).sort());
}

/** Returns the error for `average` combined with a positive label. */
export function macroWithPositiveLabel(): ValueError {
  return new ValueError(
    "average: 'macro' measures every class separately and cannot be combined with a positiveLabel.",
    {
      suggestion: 'Remove the positive label, or do not average over classes.',
    },
  );
}

/** @throws {ValueError} if `average` is given, which a frame of measures does not support */
export function refuseAverage(average: string | undefined): void {
  if (average === undefined) return;
  throw new ValueError('A metric frame does not average over classes.', {
    context: { parameter: 'average', value: average },
    suggestion: 'Give one class as positiveLabel, or compute a single metric.',
  });
}

/** @throws {ValueError} if `average` is not `macro` */
export function parseAverage(given: string | undefined): 'macro' | undefined {
  return given === undefined ? undefined : oneOf<'macro'>('average', given, ['macro']);
}

/** @throws {DataValidationError} if there are fewer than two classes */
export function assertClasses(names: readonly string[]): readonly string[] {
  if (names.length >= 2) return names;
  throw new DataValidationError(
    `average: 'macro' needs at least two classes, but the outcome has ${String(names.length)}.`,
    {
      code: 'invalid-data',
      context: { classes: names },
      suggestion: 'Check that the selected columns contain the classes.',
    },
  );
}

/** @throws {ValueError} if the metric is not a metric of decisions */
export function assertMacroKind(kind: GroupStats['kind'], metric: string): void {
  if (kind === 'classification') return;
  throw new ValueError(
    `average: 'macro' applies to decisions only, but ${metric} is a metric of ${kind === 'scores' ? 'scores' : 'numbers'}.`,
    {
      suggestion: 'Use a metric of decisions, or do not average over classes.',
    },
  );
}
