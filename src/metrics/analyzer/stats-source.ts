import { compareRows } from '../compute-metric.ts';
import { type ControlCell, levelsOf } from '../frame/cross-control.ts';
import { kindsOf, parseMeasures } from '../frame/metric-frame-of-rows.ts';
import { MetricFrame } from '../frame/metric-frame.ts';
import { metricDefinition, metricKind, metricNeedsTruth } from '../metric-definitions.ts';
import type { MetricResult } from '../metric-result.ts';
import { assertMacroKind, parseAverage } from '../metric-rows.ts';
import { fillMetricOptions, type MetricOptions } from '../options.ts';
import type { ClassStats, GroupStats } from '../statistics/group-stats.ts';

/** A request for statistics. */
export interface StatsRequest {
  readonly kind: GroupStats['kind'];
  /** The name of the metric that needs the statistics, for use in messages. */
  readonly metric: string;
  readonly needsTruth: boolean;
  /** For a multiclass outcome: the class to treat as positive; all other classes are negative. */
  readonly className?: string | undefined;
}

/**
 * The source of an analyzer's statistics: rows that a backend aggregates, or a file or query that is aggregated with
 * SQL.
 */
export interface StatsSource<Control> {
  statistics(request: StatsRequest): Promise<GroupStats>;
  /** Returns statistics of groups crossed with a control feature, and the level and group of each cell. */
  crossed(
    request: StatsRequest,
    control: Control,
  ): Promise<{ readonly stats: GroupStats; readonly cells: readonly ControlCell[] }>;
  classNames(needsTruth: boolean): Promise<readonly string[]>;
}

/** Returns a function that caches the statistics of each kind, so that they are computed only once. */
export function reduceOnce(reduce: StatsSource<never>['statistics']): StatsSource<never>['statistics'] {
  const known = new Map<string, Promise<GroupStats>>();
  return (request) => {
    const key = JSON.stringify([request.kind, request.needsTruth, request.className]);
    const stats = known.get(key) ?? reduce(request);
    known.set(key, stats);
    return stats;
  };
}

/** Computes a metric from a source of statistics. */
export async function metricFromSource(
  source: StatsSource<never>,
  name: string,
  options: MetricOptions,
  average: 'macro' | undefined,
): Promise<MetricResult> {
  const definition = metricDefinition(name);
  const filled = fillMetricOptions(options);
  const request: StatsRequest = {
    kind: metricKind(definition),
    metric: definition.metric,
    needsTruth: metricNeedsTruth(definition),
  };
  if (parseAverage(average) === 'macro') assertMacroKind(request.kind, definition.metric);
  const classNames = average === 'macro' ? await source.classNames(request.needsTruth) : [undefined];
  const classes: ClassStats[] = [];
  for (const className of classNames) {
    classes.push({ className, stats: await source.statistics({ ...request, className }) });
  }
  return compareRows(classes, definition, filled);
}

/** Computes a frame of measures from a source of statistics. */
export async function frameFromSource<Control>(
  source: StatsSource<Control>,
  names: readonly string[],
  control: Control | undefined,
  options: MetricOptions,
): Promise<MetricFrame> {
  const measures = parseMeasures(names);
  const statistics: [string, GroupStats][] = [];
  const crossed: [string, GroupStats][] = [];
  let cells: readonly ControlCell[] = [];
  for (const { kind, measure: metric, needsTruth } of kindsOf(measures)) {
    const request = { kind, metric, needsTruth };
    statistics.push([kind, await source.statistics(request)]);
    if (control === undefined) continue;
    const own = await source.crossed(request, control);
    crossed.push([kind, own.stats]);
    cells = own.cells;
  }
  const levels = levelsOf(Object.fromEntries(crossed), cells);
  return new MetricFrame(Object.fromEntries(statistics), measures, options, levels);
}
