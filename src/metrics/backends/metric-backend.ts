import { MetricComputationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { hasClusters } from '../../table/cluster-columns.ts';
import { isTensorLike, onHost } from '../../table/index.ts';
import { type ClassificationRows, reduceClassification } from '../reduce/reduce-classification.ts';
import { reduceRegression, type RegressionRows } from '../reduce/reduce-regression.ts';
import { reduceScores, type ScoreRows } from '../reduce/reduce-scores.ts';
import type { ClassificationStats, RegressionStats, ScoreStats } from '../statistics/group-stats.ts';

/**
 * A backend that computes per-group statistics from rows. All backends return the same statistics for the same rows.
 */
export interface MetricBackend {
  readonly name: string;
  classification(rows: ClassificationRows): Promise<ClassificationStats>;
  regression(rows: RegressionRows): Promise<RegressionStats>;
  scores(rows: ScoreRows): Promise<ScoreStats>;
}

/** Counts arrays on the host and tensors on their device. Clusters are added up on the host, so that tensors are read. */
export const nativeBackend: MetricBackend = {
  name: 'native',
  classification: async (rows) =>
    isTensorLike(rows.yPred) && !hasClusters(rows)
      ? (await import('../reduce/reduce-tensors.ts')).reduceClassificationTensors(rows)
      : reduceClassification(hasClusters(rows) ? await onHost(rows) : rows),
  regression: async (rows) =>
    isTensorLike(rows.yPred) && !hasClusters(rows)
      ? (await import('../reduce/reduce-tensors.ts')).reduceRegressionTensors(rows)
      : reduceRegression(hasClusters(rows) ? await onHost(rows) : rows),
  scores: async (rows) =>
    isTensorLike(rows.yScore) && !hasClusters(rows)
      ? (await import('../reduce/reduce-tensors.ts')).reduceScoreTensors(rows)
      : reduceScores(hasClusters(rows) ? await onHost(rows) : rows),
};

/** Each backend is loaded on first use. */
const BACKENDS: Readonly<Record<string, () => Promise<MetricBackend>>> = {
  native: () => Promise.resolve(nativeBackend),
  danfo: async () => (await import('./danfo-backend.ts')).danfoBackend,
  duckdb: async () => (await import('./duckdb-backend.ts')).duckDbBackend,
};

/** The names of the backends. */
export const METRIC_BACKENDS: readonly string[] = Object.keys(BACKENDS);

/**
 * Returns a function that loads a backend by its name. The name is checked immediately.
 * @throws {MetricComputationError} if the name is unknown
 */
export function metricBackend(name: string): () => Promise<MetricBackend> {
  const load = BACKENDS[name];
  if (load !== undefined) return load;
  throw new MetricComputationError(`There is no metric backend named '${name}'.`, {
    context: { backend: name },
    suggestion: suggestNames(name, METRIC_BACKENDS, 'backends'),
  });
}
