import { DataValidationError } from '../exceptions/index.ts';
import { loadData } from '../io/index.ts';
import { classLabels } from '../io/positive-label.ts';
import { cellsOf } from '../metrics/analyzer/sql-stats-source.ts';
import { assertClasses } from '../metrics/metric-rows.ts';
import { crossControl } from '../metrics/frame/index.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
} from '../metrics/reduce/reduce-source.ts';
import { groupReadings, outcomeReadings } from '../metrics/reduce/row-readings.ts';
import type { MetricRows } from '../metrics/row-options.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { FileSource } from '../schemas/data-source.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import { asNumbersWithout, type Column, missingOutcomes, type Table } from '../table/index.ts';
import {
  type AttributeStatistics,
  binaryTruth,
  decideScores,
  type NeededStatistics,
  ofClasses,
  type OutcomeClasses,
  SCORE_THRESHOLD,
} from './measure-attributes.ts';
import { assertFewClasses, type ValidateBounds } from './validate-bounds.ts';

/**
 * Computes the statistics of files for every requested attribute. The duckdb backend uses SQL scans that do not load
 * the rows. Other backends load all rows into memory.
 */
export async function fileStatistics(
  files: FileSource,
  needed: NeededStatistics,
  request: ValidateRequest,
  { maxClasses, signal }: ValidateBounds,
): Promise<readonly AttributeStatistics[]> {
  const classes = request.average === undefined ? undefined : await fileClasses(files, needed, request);
  assertFewClasses(classes?.all.length ?? 0, maxClasses);
  if (request.backend !== 'duckdb') return loadAndCount(files, needed, request, classes);
  if (classes !== undefined) return countClasses(files, needed, request, { classes, signal });
  const { kind, needsTruth } = needed;
  const { control = [], sampleWeight, nanPolicy, naValues, positiveLabel, yTruePositiveLabel } = request;
  const yTrue = needsTruth ? request.yTrue : undefined;
  const own = request.attributes;
  // One scan counts each attribute by itself and crossed with the control feature.
  const attributes = control.length === 0 ? own : [...own, ...own.map((attribute) => [...control, ...attribute])];
  const common = { attributes, sampleWeight, nanPolicy, naValues, positiveLabel, yTruePositiveLabel };
  const reductions = await {
    classification: () => reduceClassificationSource(files, { ...common, ...decisionColumns(request), yTrue }),
    regression: () => reduceRegressionSource(files, { ...common, yPred: request.yPred ?? '', yTrue }),
    scores: () => reduceScoreSource(files, { ...common, yScore: request.score ?? '', yTrue: yTrue ?? '' }),
  }[kind]();
  return own.map((_, index): AttributeStatistics => {
    const { stats } = reductions[index] as (typeof reductions)[number];
    const crossed = reductions[own.length + index];
    // The readings of the crossed attribute include the control feature.
    return {
      stats: { ...stats, readings: crossed?.stats.readings ?? stats.readings },
      crossed:
        crossed === undefined ? undefined : { stats: crossed.stats, cells: cellsOf(crossed.parts, control.length) },
    };
  });
}

/** Returns the classes of the decisions, and of the true labels if they are needed. */
async function fileClasses(
  files: FileSource,
  { needsTruth }: NeededStatistics,
  { yPred = '', yTrue, naValues }: ValidateRequest,
): Promise<OutcomeClasses> {
  const missing = missingOutcomes(naValues);
  const labelsOf = async (...columns: string[]): Promise<readonly string[]> =>
    assertClasses((await classLabels(files, columns)).filter((label) => !missing.has(label)));
  const predicted = await labelsOf(yPred);
  return { predicted, all: needsTruth && yTrue !== undefined ? await labelsOf(yTrue, yPred) : predicted };
}

/** Counts each class against all other classes, with one scan for each class. */
async function countClasses(
  files: FileSource,
  { needsTruth }: NeededStatistics,
  request: ValidateRequest,
  { classes, signal }: { readonly classes: OutcomeClasses } & Pick<ValidateBounds, 'signal'>,
): Promise<readonly AttributeStatistics[]> {
  const { attributes, yPred = '', yTrue, sampleWeight, nanPolicy, naValues } = request;
  const byClass: (readonly GroupStats[])[] = [];
  for (const positiveLabel of classes.all) {
    signal?.throwIfAborted();
    const reductions = await reduceClassificationSource(files, {
      ...{ attributes, yPred, sampleWeight, nanPolicy, naValues, positiveLabel, isOneOfMany: true },
      yTrue: needsTruth ? yTrue : undefined,
    });
    byClass.push(reductions.map(({ stats }) => stats));
  }
  return attributes.map((_, index) => {
    const counted = byClass.map((stats) => stats[index] as GroupStats);
    return ofClasses(classes, counted, counted[0]?.readings ?? []);
  });
}

function decisionColumns({ yPred, score, scoreThreshold }: ValidateRequest): {
  readonly yPred: string;
  readonly scoreThreshold?: number;
} {
  return score === undefined
    ? { yPred: yPred ?? '' }
    : { yPred: score, scoreThreshold: scoreThreshold ?? SCORE_THRESHOLD };
}

async function loadAndCount(
  files: FileSource,
  { kind, needsTruth }: NeededStatistics,
  request: ValidateRequest,
  classes: OutcomeClasses | undefined,
): Promise<AttributeStatistics[]> {
  const [{ metricBackend }, { rowsSource }] = await Promise.all([
    import('../metrics/backends/metric-backend.ts'),
    import('../metrics/analyzer/rows-source.ts'),
  ]);
  const { attributes, control = [] } = request;
  const table = await loadNeeded(files, request);
  const columnsOf = (list: readonly string[]): Record<string, Column> =>
    Object.fromEntries(list.map((name) => [name, table.column(name)]));
  const columns = rowColumns(table, kind, request);
  const labels = { positiveLabel: request.positiveLabel, yTruePositiveLabel: request.yTruePositiveLabel };
  const { nanPolicy, naValues } = request;
  const count = (sensitive: MetricRows['sensitive'], className?: string): Promise<GroupStats> =>
    rowsSource(metricBackend(request.backend), { ...columns, sensitive, nanPolicy, naValues }).statistics({
      kind,
      metric: 'validate',
      needsTruth,
      className,
    });
  const outcome = outcomeReadings(request.score !== undefined && kind === 'classification' ? 'scores' : kind, {
    ...columns,
    ...labels,
    average: request.average,
    yTrue: needsTruth && request.yTrue !== undefined ? table.column(request.yTrue) : undefined,
    naValues,
  });
  const counted = attributes.map(async (attribute): Promise<AttributeStatistics> => {
    const sensitive = columnsOf(attribute);
    const readings = [...outcome, ...groupReadings(columnsOf([...attribute, ...control]), naValues)];
    if (classes !== undefined) {
      return ofClasses(classes, await Promise.all(classes.all.map((name) => count(sensitive, name))), readings);
    }
    const stats = { ...(await count(sensitive)), readings };
    if (control.length === 0) return { stats, crossed: undefined };
    const { column, cells } = crossControl(sensitive, columnsOf(control), nanPolicy, naValues);
    return { stats, crossed: { stats: await count(column), cells } };
  });
  return Promise.all(counted);
}

function loadNeeded(files: FileSource, request: ValidateRequest): Promise<Table> {
  const { attributes, control = [], yPred, score, yTrue, sampleWeight } = request;
  const names = [...attributes.flat(), ...control, yPred, score, yTrue, sampleWeight];
  return loadData(files, {
    columns: [...new Set(names.filter((name) => name !== undefined))],
    labels: [...attributes.flat(), ...control],
  });
}

/**
 * Returns the columns of the rows. If a threshold turns scores into decisions, the decisions and the true labels are 0
 * and 1.
 */
function rowColumns(table: Table, kind: GroupStats['kind'], request: ValidateRequest): Omit<MetricRows, 'sensitive'> {
  const { score, positiveLabel, yTruePositiveLabel } = request;
  const column = (name: string | undefined): Column | undefined =>
    name === undefined ? undefined : table.column(name);
  const common = { yScore: column(score), sampleWeight: column(request.sampleWeight) };
  if (score === undefined || kind !== 'classification') {
    return { ...common, yPred: column(request.yPred), yTrue: column(request.yTrue), positiveLabel, yTruePositiveLabel };
  }
  const { yTrue } = request;
  const truth = yTrue === undefined ? undefined : binaryTruth(table.column(yTrue), request);
  return { ...common, yPred: decide(table, score, request), yTrue: truth };
}

/** Turns scores into decisions; a missing score stays missing. */
function decide(table: Table, score: string, request: ValidateRequest): Float64Array {
  const scores = asNumbersWithout(table.column(score), missingOutcomes(request.naValues));
  const { values } = scores.kind === 'numeric' ? scores : table.numeric(score);
  const infinite = values.findIndex((value) => Math.abs(value) === Infinity);
  if (infinite >= 0) {
    throw new DataValidationError(
      `Column '${score}' should hold finite numbers, but row ${String(infinite + 1)} holds ${String(values[infinite])}.`,
      {
        code: 'invalid-value',
        context: { column: score, row: infinite + 1 },
        suggestion: 'Correct that value or leave it empty.',
      },
    );
  }
  return decideScores(values, request.scoreThreshold);
}
