import type { SensitiveSource } from '../../table/index.ts';
import { crossControl } from '../frame/cross-control.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import type { MetricBackend } from '../backends/metric-backend.ts';
import { classNamesOf, predictionRows, rowsRead, scoreRows } from '../metric-rows.ts';
import { rowReadings } from '../reduce/row-readings.ts';
import type { MetricRows } from '../row-options.ts';
import { reduceOnce, type StatsRequest, type StatsSource } from './stats-source.ts';

/**
 * Returns a source that computes the statistics of rows in memory. A backend goes through the rows once for each kind
 * of statistics.
 */
export function rowsSource(loadBackend: () => Promise<MetricBackend>, rows: MetricRows): StatsSource<SensitiveSource> {
  return {
    statistics: reduceOnce((request) => reduce(loadBackend, rows, request)),
    async crossed(request, control) {
      const { column, cells } = crossControl(rows.sensitive, control, rows.nanPolicy, rows.naValues);
      return { stats: await reduce(loadBackend, { ...rows, sensitive: column }, request), cells };
    },
    classNames: (needsTruth) => Promise.resolve(classNamesOf(rowsRead(rows, needsTruth))),
  };
}

async function reduce(
  loadBackend: () => Promise<MetricBackend>,
  given: MetricRows,
  { kind, metric, needsTruth, className }: StatsRequest,
): Promise<GroupStats> {
  const backend = await loadBackend();
  const read = rowsRead(given, needsTruth);
  const rows: MetricRows =
    className === undefined ? { ...read, average: undefined } : { ...read, positiveLabel: className, average: 'macro' };
  const count = {
    classification: () => backend.classification(predictionRows(rows, metric)),
    regression: () => backend.regression(predictionRows(rows, metric)),
    scores: () => backend.scores(scoreRows(rows, metric)),
  };
  const stats = await count[kind]();
  return { ...stats, readings: [...(stats.readings ?? []), ...rowReadings(kind, rows)] };
}
