import { ValueError } from '../../exceptions/index.ts';
import { measureDefinition, type MeasureName } from '../measures/index.ts';
import { type MetricDefinition, metricKind } from '../metric-definitions.ts';
import { missingColumn } from '../metric-rows.ts';
import type { GroupStats } from '../statistics/group-stats.ts';

/** @throws {ValueError} where the statistics are not of the kind that the metric is computed from */
export function assertKind(stats: GroupStats, definition: MetricDefinition): void {
  const { metric } = definition;
  const kind = metricKind(definition);
  if (stats.kind === kind) return;
  throw new ValueError(`${metric} is computed from statistics of ${kind}; got those of ${stats.kind}.`, {
    context: { metric, kind: stats.kind },
    suggestion: 'Reduce the rows with reduceClassification, reduceRegression or reduceScores.',
  });
}

/** @throws {MetricComputationError} where a measure needs true labels and none were counted */
export function assertTruth(statistics: readonly GroupStats[], metric: string, measures: readonly MeasureName[]): void {
  const needy = measures.map(measureDefinition).filter(({ needsTruth }) => needsTruth);
  const blind = needy.some(({ kind }) => statistics.some((stats) => stats.kind === kind && !stats.hasTruth));
  if (blind) throw missingColumn(metric, 'true labels', 'yTrue, --y-true');
}
