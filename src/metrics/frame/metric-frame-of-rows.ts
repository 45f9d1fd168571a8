import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { SensitiveSource } from '../../table/index.ts';
import { reduceRows } from '../compute-metric.ts';
import { measureDefinition, type MeasureName, parseMeasure } from '../measures/index.ts';
import { refuseAverage, rowsRead } from '../metric-rows.ts';
import { METRIC_OPTION_NAMES, type MetricOptions } from '../options.ts';
import { METRIC_ROWS_NAMES, type MetricRows } from '../row-options.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { crossControl, levelsOf, type StatsByKind } from './cross-control.ts';
import { MetricFrame } from './metric-frame.ts';

/** The rows of a frame, with the names of its measures. */
export interface MetricFrameRows extends MetricRows {
  /** Names of measures, such as `selection_rate`, `true_positive_rate`, `roc_auc`, `mean_absolute_error`, `count`. */
  readonly metrics: readonly string[];
  /** A control feature: groups are also compared within each level of the feature. Several features are crossed. */
  readonly control?: SensitiveSource | undefined;
}

/** Lists the columns and options of {@link MetricFrameRows}. */
export const METRIC_FRAME_ROWS_NAMES: OptionNames<MetricFrameRows> = {
  ...METRIC_ROWS_NAMES,
  metrics: true,
  control: true,
};

/**
 * Computes several measures of every group in one pass over the rows, like fairlearn's MetricFrame.
 *
 * With `control`, groups are also compared within each level of the control feature. The frame warns if the mean gap
 * within levels has the opposite sign (Simpson's paradox). Rows without a level are included in the values of the
 * groups over all rows, but not in the values of any level.
 * @param rows the columns that the measures need, `sensitive`, and the names of the measures
 * @throws {ValueError} if a measure is unknown, or no measure is given
 * @throws {DataValidationError} if a value is invalid
 * @example
 * ```ts
 * import { metricFrame } from 'evenhand/metrics';
 *
 * const frame = metricFrame(
 *   { yPred: [1, 0, 1, 1], sensitive: ['a', 'a', 'b', 'b'], metrics: ['selection_rate', 'count'] },
 *   { minGroupSize: 1 },
 * );
 * console.log(frame.byGroup['a'], frame.overall['selection_rate'], frame.difference()['selection_rate']);
 * // { selection_rate: 0.5, count: 2 } 0.75 0.5
 * ```
 */
export function metricFrame(rows: MetricFrameRows, options: MetricOptions = {}): MetricFrame {
  assertKnownOptions('metricFrame', rows, METRIC_FRAME_ROWS_NAMES);
  assertKnownOptions('metricFrame', options, METRIC_OPTION_NAMES);
  refuseAverage(rows.average);
  const measures = parseMeasures(rows.metrics);
  const statsOf = (own: MetricRows): StatsByKind => {
    const stats = kindsOf(measures).map(
      ({ kind, measure, needsTruth }) => [kind, reduceRows(kind, rowsRead(own, needsTruth), measure)] as const,
    );
    return Object.fromEntries(stats);
  };
  if (rows.control === undefined) return new MetricFrame(statsOf(rows), measures, options);
  const { column, cells } = crossControl(rows.sensitive, rows.control, rows.nanPolicy, rows.naValues);
  const levels = levelsOf(statsOf({ ...rows, sensitive: column }), cells);
  return new MetricFrame(statsOf(rows), measures, options, levels);
}

/**
 * Returns measures by their names.
 * @throws {ValueError} if a name is unknown, or no name is given
 */
export function parseMeasures(names: readonly string[]): readonly MeasureName[] {
  if (names.length > 0) return Object.freeze([...new Set(names.map(parseMeasure))]);
  throw new ValueError('A metric frame needs at least one measure in metrics.', {
    suggestion: "Name at least one measure, such as metrics: ['selection_rate', 'count'].",
  });
}

/** A kind of statistics that one or more measures need. */
export interface NeededKind {
  readonly kind: GroupStats['kind'];
  /** The first measure that needs this kind. */
  readonly measure: MeasureName;
  /** Whether any measure of this kind needs true labels. */
  readonly needsTruth: boolean;
}

/** Returns the kinds of statistics that measures need. */
export function kindsOf(measures: readonly MeasureName[]): NeededKind[] {
  const kinds = new Map<GroupStats['kind'], NeededKind>();
  for (const measure of measures) {
    const { kind, needsTruth } = measureDefinition(measure);
    const known = kinds.get(kind) ?? { kind, measure, needsTruth };
    kinds.set(kind, { ...known, needsTruth: known.needsTruth || needsTruth });
  }
  return [...kinds.values()];
}
