import { isDeviceTensor, type SensitiveSource } from '../../table/index.ts';
import { crossControl } from '../frame/cross-control.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { type MetricBackend, nativeBackend } from '../backends/metric-backend.ts';
import { classNamesOf, predictionRows, rowsRead, scoreRows } from '../metric-rows.ts';
import { rowReadings } from '../reduce/row-readings.ts';
import type { crossControlTensors } from '../reduce/tensors/cross-control-tensors.ts';
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
      const backend = await loadBackend();
      const predicted = request.kind === 'scores' ? rows.yScore : rows.yPred;
      const onDevice = backend.name === 'native' && isDeviceTensor(predicted);
      const cross = onDevice ? (await import('../reduce/tensors/cross-control-tensors.ts')).crossControlTensors : crossOnHost; // prettier-ignore
      return cross(rows, control, (sensitive) => count(backend, rowsOf({ ...rows, sensitive }, request), request));
    },
    async classNames(needsTruth) {
      const { yTrue, yPred } = rowsRead(rows, needsTruth);
      if (![yTrue, yPred].some(isDeviceTensor)) return classNamesOf(rowsRead(rows, needsTruth));
      const { distinctValues } = await import('../reduce/tensors/tensor-arguments.ts');
      return classNamesOf({ ...rows, yTrue: await distinctValues('yTrue', yTrue), yPred: await distinctValues('yPred', yPred) }); // prettier-ignore
    },
  };
}

const crossOnHost: typeof crossControlTensors = async (rows, control, statisticsOf) => {
  const { column, cells } = crossControl(rows.sensitive, control, rows.nanPolicy, rows.naValues);
  return { stats: await statisticsOf(column), cells };
};

async function reduce(
  loadBackend: () => Promise<MetricBackend>,
  given: MetricRows,
  request: StatsRequest,
): Promise<GroupStats> {
  const rows = rowsOf(given, request);
  const stats = await count(await loadBackend(), rows, request);
  return { ...stats, readings: [...(stats.readings ?? []), ...rowReadings(request.kind, rows)] };
}

/** Returns the rows that a request needs. */
function rowsOf(given: MetricRows, { needsTruth, className }: StatsRequest): MetricRows {
  const read = rowsRead(given, needsTruth);
  if (className === undefined) return { ...read, average: undefined };
  return { ...read, positiveLabel: className, average: 'macro' };
}

function count(given: MetricBackend, rows: MetricRows, { kind, metric }: StatsRequest): Promise<GroupStats> {
  // All backends count the same; only the native one adds up clusters.
  const backend = rows.cluster === undefined && rows.strata === undefined ? given : nativeBackend;
  const countOf = {
    classification: () => backend.classification(predictionRows(rows, metric)),
    regression: () => backend.regression(predictionRows(rows, metric)),
    scores: () => backend.scores(scoreRows(rows, metric)),
  };
  return countOf[kind]();
}
