import { MetricComputationError } from '../exceptions/index.ts';
import { suggestNames } from '../internal/nearest.ts';
import { isTensorLike } from '../table/index.ts';
import type { ClassificationStats, RegressionStats } from './group-stats.ts';
import { type ClassificationRows, reduceClassification, reduceRegression, type RegressionRows } from './reduce-rows.ts';
import { reduceClassificationTensors, reduceRegressionTensors } from './reduce-tensors.ts';

/** A way from rows to per-group statistics. All backends give the same statistics for the same rows. */
export interface MetricBackend {
  readonly name: string;
  classification(rows: ClassificationRows): Promise<ClassificationStats>;
  regression(rows: RegressionRows): Promise<RegressionStats>;
}

/** Arrays are counted on the host, tensors where they are. */
const native: MetricBackend = {
  name: 'native',
  classification: async (rows) =>
    isTensorLike(rows.yPred) ? reduceClassificationTensors(rows) : reduceClassification(rows),
  regression: async (rows) => (isTensorLike(rows.yPred) ? reduceRegressionTensors(rows) : reduceRegression(rows)),
};

const BACKENDS: Readonly<Record<string, MetricBackend>> = { native };

/**
 * A backend by its name.
 * @throws {MetricComputationError} for an unknown one
 */
export function metricBackend(name: string): MetricBackend {
  const backend = BACKENDS[name];
  if (backend !== undefined) return backend;
  throw new MetricComputationError(`There is no metric backend named '${name}'.`, {
    context: { backend: name },
    suggestion: suggestNames(name, Object.keys(BACKENDS), 'backends'),
  });
}
