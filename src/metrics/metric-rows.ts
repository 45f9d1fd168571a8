import { DataValidationError, MetricComputationError, ValueError } from '../exceptions/index.ts';
import { oneOf } from '../internal/arguments.ts';
import { type ColumnSource, missingOutcomes, Table } from '../table/index.ts';
import type { ClassificationRows } from './reduce/reduce-classification.ts';
import type { RegressionRows } from './reduce/reduce-regression.ts';
import type { ScoreRows } from './reduce/reduce-scores.ts';
import type { MetricRows } from './row-options.ts';
import type { GroupStats } from './statistics/group-stats.ts';

/*
 * Which columns each kind of statistics is made of; what is missing is an error that names the metric. A column that
 * the kind does not read is left alone, so that it may hold anything.
 */

/** Rows without the true labels, where a metric does not need them. */
export function rowsRead(rows: MetricRows, needsTruth: boolean): MetricRows {
  return needsTruth ? rows : { ...rows, yTrue: undefined };
}

/** The rows of a metric of decisions. */
export function classificationRows(rows: MetricRows, metric: string): ClassificationRows {
  return withPredictions(rows, metric);
}

/** The rows of a metric of predicted numbers. */
export function regressionRows(rows: MetricRows, metric: string): RegressionRows {
  return withPredictions(rows, metric);
}

function withPredictions(rows: MetricRows, metric: string): ClassificationRows & RegressionRows {
  return { ...rows, yPred: needed(rows.yPred, 'predictions', 'yPred', metric) };
}

/** The rows of a metric of scores. */
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

/** The error for a metric whose data were not given. */
export function missingColumn(metric: string, what: string, argument: string): MetricComputationError {
  return new MetricComputationError(`${metric} needs ${what}, and none were given.`, {
    code: 'missing-argument',
    context: { metric, argument, missing: argument },
    suggestion: `Give the ${what} too (${argument}).`,
  });
}

/**
 * The classes of an outcome: the distinct labels of predictions, and of truth where it is read, in sorted order.
 * @throws {ValueError} where a positive label is given too, or there are statistics of one kind only
 */
export function classNamesOf(rows: MetricRows): readonly string[] {
  if (rows.positiveLabel !== undefined || rows.yTruePositiveLabel !== undefined) throw macroWithPositiveLabel();
  const labels = [rows.yTrue, rows.yPred].flatMap((source) =>
    source === undefined ? [] : Table.from({ outcome: source }).categorical('outcome').labels,
  );
  const missing = missingOutcomes(rows.naValues);
  return assertClasses([...new Set(labels)].filter((label) => !missing.has(label)).sort());
}

/** The error for two ways of reading classes at once. */
export function macroWithPositiveLabel(): ValueError {
  return new ValueError("average: 'macro' takes every class in turn, so that it has no positiveLabel.", {
    suggestion: 'Leave one of them out.',
  });
}

/** @throws {ValueError} where classes should be averaged, which a frame of measures does not do */
export function refuseAverage(average: string | undefined): void {
  if (average === undefined) return;
  throw new ValueError('A metric frame does not average over classes.', {
    context: { parameter: 'average', value: average },
    suggestion: 'Name one class as positiveLabel, or ask for a single metric.',
  });
}

/** @throws {ValueError} for another average than macro */
export function parseAverage(given: string | undefined): 'macro' | undefined {
  return given === undefined ? undefined : oneOf<'macro'>('average', given, ['macro']);
}

/** @throws {DataValidationError} where there is no class to compare with the rest */
export function assertClasses(names: readonly string[]): readonly string[] {
  if (names.length >= 2) return names;
  throw new DataValidationError(
    `average: 'macro' needs two classes or more; the outcome has ${String(names.length)}.`,
    {
      context: { classes: names },
      suggestion: 'Check that the columns named hold the classes.',
    },
  );
}

/** Kinds of statistics that classes can be counted in. */
export function assertMacroKind(kind: GroupStats['kind'], metric: string): void {
  if (kind === 'classification') return;
  throw new ValueError(
    `average: 'macro' is for decisions; ${metric} is of ${kind === 'scores' ? 'scores' : 'numbers'}.`,
    {
      suggestion: 'Leave average out.',
    },
  );
}
