import type { CountedRows } from '../io/counted-rows.ts';
import { loadData, type QuerySource } from '../io/index.ts';
import type { SourceRequest } from '../io/sql-engine.ts';
import { cellsOf } from '../metrics/analyzer/sql-stats-source.ts';
import { assertClasses } from '../metrics/metric-rows.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
  sourceLabels,
} from '../metrics/reduce/reduce-source.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { FileSource } from '../schemas/data-source.ts';
import { SCORE_THRESHOLD, type ValidateRequest } from '../schemas/validate-values.ts';
import { missingOutcomes, type Table } from '../table/index.ts';
import {
  type AttributeStatistics,
  type NeededStatistics,
  ofClasses,
  type OutcomeClasses,
} from './measure-attributes.ts';
import { countTable } from './table-statistics.ts';
import { assertFewClasses, type ValidateBounds } from './validate-bounds.ts';

/**
 * Computes the statistics of files, counts or rows on an engine for every requested attribute. The duckdb backend uses SQL scans that do
 * not load the rows. Other backends load all rows into memory.
 */
export async function fileStatistics(
  files: FileSource | CountedRows | QuerySource,
  needed: NeededStatistics,
  request: ValidateRequest,
  { maxClasses, signal }: ValidateBounds,
): Promise<readonly AttributeStatistics[]> {
  const classes = request.average === undefined ? undefined : await fileClasses(files, needed, request);
  assertFewClasses(classes?.all.length ?? 0, maxClasses);
  if ('paths' in files && request.backend !== 'duckdb') {
    return countTable(await loadNeeded(files, request), needed, request, classes);
  }
  if (classes !== undefined) return countClasses(files, needed, request, { classes, signal });
  const { kind, needsTruth } = needed;
  const { control = [], minCell, positiveLabel, yTruePositiveLabel } = request;
  const yTrue = needsTruth ? request.yTrue : undefined;
  const own = request.attributes;
  // One scan counts each attribute by itself and crossed with the control feature.
  const attributes = control.length === 0 ? own : [...own, ...own.map((attribute) => [...control, ...attribute])];
  const common = { ...rowColumns(request), attributes, minCell, positiveLabel, yTruePositiveLabel };
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
  files: FileSource | CountedRows | QuerySource,
  { needsTruth }: NeededStatistics,
  { yPred = '', yTrue, naValues }: ValidateRequest,
): Promise<OutcomeClasses> {
  const missing = missingOutcomes(naValues);
  const labelsOf = async (...columns: string[]): Promise<readonly string[]> =>
    assertClasses((await sourceLabels(files, columns)).filter((label) => !missing.has(label)));
  const predicted = await labelsOf(yPred);
  return { predicted, all: needsTruth && yTrue !== undefined ? await labelsOf(yTrue, yPred) : predicted };
}

/** Counts each class against all other classes, with one scan for each class. */
async function countClasses(
  files: FileSource | CountedRows | QuerySource,
  { needsTruth }: NeededStatistics,
  request: ValidateRequest,
  { classes, signal }: { readonly classes: OutcomeClasses } & Pick<ValidateBounds, 'signal'>,
): Promise<readonly AttributeStatistics[]> {
  const { attributes, yPred = '', yTrue } = request;
  const byClass: (readonly GroupStats[])[] = [];
  for (const positiveLabel of classes.all) {
    signal?.throwIfAborted();
    const reductions = await reduceClassificationSource(files, {
      ...{ ...rowColumns(request), attributes, yPred, positiveLabel, isOneOfMany: true },
      yTrue: needsTruth ? yTrue : undefined,
    });
    byClass.push(reductions.map(({ stats }) => stats));
  }
  return attributes.map((_, index) => {
    const counted = byClass.map((stats) => stats[index] as GroupStats);
    return ofClasses(classes, counted, counted[0]?.readings ?? []);
  });
}

function rowColumns({
  sampleWeight,
  cluster,
  strata,
  nanPolicy,
  naValues,
}: ValidateRequest): Omit<SourceRequest, 'attributes'> {
  return { sampleWeight, cluster, strata, nanPolicy, naValues };
}

function decisionColumns({ yPred, score, scoreThreshold }: ValidateRequest): {
  readonly yPred: string;
  readonly scoreThreshold?: number;
} {
  return score === undefined
    ? { yPred: yPred ?? '' }
    : { yPred: score, scoreThreshold: scoreThreshold ?? SCORE_THRESHOLD };
}

function loadNeeded(files: FileSource, request: ValidateRequest): Promise<Table> {
  const { attributes, control = [], yPred, score, yTrue, sampleWeight, cluster, strata } = request;
  const names = [...attributes.flat(), ...control, yPred, score, yTrue, sampleWeight, cluster, strata];
  return loadData(files, {
    columns: [...new Set(names.filter((name) => name !== undefined))],
    labels: [...attributes.flat(), ...control, ...[cluster, strata].filter((name) => name !== undefined)],
  });
}
