import { finiteOrNull } from '../../internal/values.ts';
import { criticalValue } from '../../stats/normal.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import { readingWarnings } from '../../table/index.ts';
import { type GroupMeasure, type MeanSampling, measureDefinition } from '../measures/index.ts';
import { type MetricDefinition, metricNeedsTruth } from '../metric-definitions.ts';
import { type GroupIntervals, type GroupRates, MetricResult, type MissingRows } from '../metric-result.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { ClusterStats } from '../statistics/cluster-stats.ts';
import type { ClassStats, GroupStats } from '../statistics/group-stats.ts';
import { droppedPerGroup, rowsPerGroup, rowsWithoutTruth } from '../statistics/rows-per-group.ts';
import { assertKind, assertTruth, groupsOfCompat, measureOfCompat, overallOfCompat, referenceIndex } from './compat.ts';
import { clusterInterval, clusterWarnings } from './cluster-evidence.ts';
import { compareSuppressed, isSuppressed } from './compare-suppressed.ts';
import { gatherEvidence, NO_EVIDENCE } from './evidence.ts';
import {
  inPlainWords,
  participation,
  sameDecisionWarnings,
  skippedWarnings,
  thinWarnings,
  whyUndefined,
} from './exclusions.ts';
import { detectableGap, pairOfMeasure, pairOfMetric } from './gap-evidence.ts';
import { type ComparedMeasure, compareMeasures, gapOf, largest } from './gap.ts';
import { describeMissing, type DroppedAndKept, missingRows } from './missing-rows.ts';
import { type Bounds, worstCaseOf } from './worst-case.ts';

/**
 * Compares groups by a metric. This function creates every {@link MetricResult} of a group metric. If there are several
 * classes, their values are averaged (macro).
 * @param classes statistics of the same rows and groups, one for each class
 * @param rowWarnings warnings about the rows, which are the last ones of the result
 * @throws {MetricComputationError} if true labels are needed but the statistics contain none
 */
export function compareGroups(
  classes: readonly ClassStats[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
  rowWarnings: readonly string[] = [],
): MetricResult {
  for (const { stats: own } of classes) assertKind(own, definition);
  const [only] = classes;
  if (only !== undefined && isSuppressed(only.stats)) {
    assertTruth([only.stats], definition.metric, definition.measures);
    return compareSuppressed(only.stats, definition, options);
  }
  assertTruth(
    classes.map(({ stats: own }) => own),
    definition.metric,
    definition.measures,
  );
  const grouped = classes.map((one) => ({ ...one, stats: groupsOfCompat(one.stats, options) }));
  const { stats } = grouped[0] as ClassStats;
  const needsTruth = metricNeedsTruth(definition);
  const rows = rowsPerGroup(stats, needsTruth);
  const measured = grouped.flatMap((one) => measuresOf(one, definition, options));
  const taking = participation(
    measured.map(({ measure }) => measure),
    stats.labels,
    rows,
    options,
  );
  const anchorGroup = options.method === 'to_reference' ? referenceIndex(stats, rows, options) : undefined;
  const compared = measured.map(({ measure, className, overall }, index): ComparedMeasure => {
    const groups = taking.groups[index] as readonly number[];
    const anchor = anchorGroup === undefined ? overall : (measure.values[anchorGroup] as number);
    return { measure, className, groups, anchor, anchorGroup };
  });
  const outcome = evaluate(compared, taking.large.length, definition, options);
  const isDefined = outcome.undefinedReason === null;
  const evidence = isDefined ? gatherEvidence(grouped, outcome.usable, definition, options) : NO_EVIDENCE;
  const effectSize = isDefined && options.withEffectSize ? effectSizeOf(outcome.usable, definition) : null;
  const label = (group: number): string => stats.labels[group] as string;
  const [first, second] = (isDefined ? pairOfMetric(outcome.usable, definition, options) : undefined) ?? [];
  const missing = missingOf(stats, outcome, definition, options);
  return new MetricResult({
    metric: definition.metric,
    value: outcome.value,
    ci: evidence.ci === null ? null : widen(evidence.ci, outcome.value),
    ciLevel: evidence.ci === null ? null : options.ciLevel,
    ciMethod: evidence.ciMethod,
    effectSize: effectSize?.value ?? null,
    effectSizeName: effectSize?.name ?? null,
    pValue: evidence.pValue,
    pValueMethod: evidence.pValueMethod,
    minimumDetectableGap:
      isDefined && options.withCi && classes.length === 1 ? detectableGap(outcome.usable, definition, options) : null,
    method: options.method,
    referenceGroup: referenceLabel(stats.labels, compared),
    agg: definition.measures.length > 1 ? (definition.agg ?? options.agg) : null,
    compat: options.compat ?? null,
    nPerGroup: Object.fromEntries(taking.large.map((group) => [label(group), rows[group] as number])),
    perGroup: perGroup(compared, taking.large, label, classes.length),
    perGroupCi:
      options.withCi && classes.length === 1 ? intervalsPerGroup(compared, taking.large, label, options) : null,
    excluded: Object.fromEntries(taking.excluded),
    first: first === undefined ? null : label(first),
    second: second === undefined || second === null ? null : label(second),
    nDropped: stats.nDropped + (needsTruth ? rowsWithoutTruth(stats) : 0),
    missing: missing.rows,
    undefinedReason: outcome.undefinedReason,
    warnings: [
      ...readingWarnings(classes[0]?.stats.readings ?? []),
      ...(classes.length === 1 ? sameDecisionWarnings(stats) : []),
      ...skippedWarnings(taking, rows),
      ...thinWarnings(compared, stats.labels),
      ...clusterWarnings(compared, stats),
      ...compared.flatMap(({ measure }) => measure.notes ?? []),
      ...outcome.warnings,
      ...(isDefined && options.withEffectSize && effectSize === null ? noEffectSize(outcome.usable) : []),
      ...evidence.warnings,
      ...missing.warnings,
      ...rowWarnings,
    ],
    seed: evidence.isRandom || missing.isRandom ? options.seed : null,
    ...(stats.clusters === undefined ? {} : { nClusters: clustersPerGroup(stats.clusters, taking.large, label) }),
  });
}

/**
 * Returns the numbers of rows with missing values, the range of values that the metric could have without missing
 * values, and warnings.
 */
function missingOf(
  stats: GroupStats,
  { value, undefinedReason, usable }: Outcome,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): { readonly rows: MissingRows; readonly warnings: readonly string[]; readonly isRandom: boolean } {
  const needsTruth = metricNeedsTruth(definition);
  const counted: DroppedAndKept = {
    dropped: droppedPerGroup(stats, needsTruth),
    kept: rowsPerGroup(stats, needsTruth),
  };
  const { rows: unbounded, isRandom } = missingRows(counted, stats.labels, options.seed);
  const worstCase = (): Bounds | null =>
    unbounded.n === 0
      ? [value, value]
      : worstCaseOf(stats, usable, definition, options, couldBeCompared(counted, options));
  const bounds = undefinedReason === null ? worstCase() : null;
  const rows: MissingRows = { ...unbounded, worstCase: bounds === null ? null : widen(bounds, value) };
  const warning = describeMissing(rows, counted, stats.labels, definition.metric);
  return { rows, warnings: warning === undefined ? [] : [warning], isRandom };
}

/** Returns the groups that have missing values and would have enough rows without them. */
function couldBeCompared({ dropped, kept }: DroppedAndKept, { minGroupSize }: FilledMetricOptions): readonly number[] {
  return Array.from(dropped.keys()).filter((group) => {
    const missing = dropped[group] as number;
    return missing > 0 && missing + (kept[group] as number) >= minGroupSize;
  });
}

/** The values of a measure for each group, and for all rows if groups are compared with all rows. */
interface Measured {
  readonly measure: GroupMeasure;
  readonly className: string | undefined;
  readonly overall: number | undefined;
}

function measuresOf(
  { stats, className }: ClassStats,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Measured[] {
  return definition.measures.map((measureName) => {
    const { measure } = measureDefinition(measureName);
    const own = measureOfCompat(measure(stats), options);
    const overall = options.method === 'to_overall' ? overallOfCompat(measure, stats, options) : undefined;
    const name = className === undefined ? own.name : `${own.name} of '${className}'`;
    return { measure: { ...own, name }, className, overall };
  });
}

/** The metric's value, or the reason why it is undefined. */
interface Outcome {
  readonly value: number;
  readonly undefinedReason: string | null;
  /**
   * The measures from which the value is computed. Measures with a ratio of 0 to 0 are excluded if another measure is
   * defined.
   */
  readonly usable: readonly ComparedMeasure[];
  readonly warnings: readonly string[];
}

function evaluate(
  compared: readonly ComparedMeasure[],
  large: number,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Outcome {
  const undefinedReason = whyUndefined(compared, large, options);
  if (undefinedReason !== null) return { value: NaN, undefinedReason, usable: [], warnings: [] };
  const isNative = options.compat === undefined || options.compat === 'aequitas';
  const lost = compared.filter((one) => Number.isNaN(gapOf(one, definition, options)));
  const usable = isNative && lost.length < compared.length ? compared.filter((one) => !lost.includes(one)) : compared;
  const value = compareMeasures(usable, definition, options);
  const names = lost.map(({ measure }) => inPlainWords(measure.name)).join(' and the ');
  const why =
    definition.comparison === 'ratio'
      ? `the ${names} is 0 in all groups or changes sign, so that it has no ratio`
      : `a group has no ${names}`;
  if (Number.isNaN(value)) return { value, undefinedReason: why, usable, warnings: [] };
  if (!Number.isFinite(value)) {
    return {
      value,
      undefinedReason: 'the rate of the privileged group is 0, so that the ratio is infinite',
      usable,
      warnings: [],
    };
  }
  return { value, undefinedReason: null, usable, warnings: usable.length < compared.length ? [why] : [] };
}

/** Returns the label of the reference group, with which all other groups are compared; null if there is none. */
function referenceLabel(labels: readonly string[], [first]: readonly ComparedMeasure[]): string | null {
  return first?.anchorGroup === undefined ? null : (labels[first.anchorGroup] ?? null);
}

function clustersPerGroup(
  { clusters }: ClusterStats,
  groups: readonly number[],
  label: (group: number) => string,
): Readonly<Record<string, number>> {
  return Object.fromEntries(groups.map((group) => [label(group), clusters[group] as number]));
}

/** Widens the interval, if needed, so that it contains the estimate. */
function widen([low, high]: readonly [number, number], value: number): readonly [number, number] {
  return [Math.min(low, value), Math.max(high, value)];
}

function noEffectSize(compared: readonly ComparedMeasure[]): string[] {
  return hasPairOfGroups(compared) && compared.every(({ measure }) => measure.sampling.kind === 'rates')
    ? ['no risk ratio: the smallest rate is 0']
    : [];
}

/** Returns whether groups are compared with another group, and not with all rows or averaged over classes. */
function hasPairOfGroups(compared: readonly ComparedMeasure[]): boolean {
  return compared.every(
    ({ anchor, anchorGroup, className }) =>
      className === undefined && (anchor === undefined || anchorGroup !== undefined),
  );
}

/**
 * Returns the measures of every compared group. If there is a reference group, also returns the disparity of each
 * group.
 */
function perGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  classes: number,
): Record<string, GroupRates> {
  return tabulate(compared, large, label, ({ measure, anchor, anchorGroup }, group) => {
    const value = measure.values[group] as number;
    const rate = { [measure.name]: finiteOrNull(value) };
    if (anchorGroup === undefined || anchor === undefined || classes > 1) return rate;
    return { ...rate, [`${measure.name}_disparity`]: finiteOrNull(value / anchor) };
  });
}

/** Returns the intervals of each group. */
function intervalsPerGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  { ciLevel }: FilledMetricOptions,
): Record<string, GroupIntervals> {
  return tabulate(compared, large, label, ({ measure }, group) => ({
    [measure.name]: groupInterval(measure, group, ciLevel),
  }));
}

/**
 * Returns the entries of every large enough group, by the label of the group. If a group is excluded from a measure,
 * its entry for that measure is null.
 */
function tabulate<Entry>(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  entriesOf: (one: ComparedMeasure, group: number) => Readonly<Record<string, Entry | null>>,
): Record<string, Record<string, Entry | null>> {
  const members = compared.map(({ groups }) => new Set(groups));
  const rows = large.map((group) => {
    const entries = compared.map((one, index) =>
      members[index]?.has(group) === true ? entriesOf(one, group) : { [one.measure.name]: null },
    );
    return [label(group), Object.assign({}, ...entries) as Record<string, Entry | null>] as const;
  });
  return Object.fromEntries(rows);
}

/**
 * Returns the interval of one group's measure: Wilson's interval for a rate, a normal interval for a mean. Returns null
 * if the interval is not available.
 */
function groupInterval(
  { values, sampling }: Pick<GroupMeasure, 'values' | 'sampling'>,
  group: number,
  level: number,
): Interval | null {
  const value = values[group] as number;
  if (sampling.kind === 'none' || Number.isNaN(value)) return null;
  if (sampling.clusters !== undefined) return clusterInterval({ values, sampling }, sampling.clusters, group, level);
  if (sampling.kind === 'rates') {
    const trials = sampling.effectiveCounts[group] as number;
    // A level very close to 1 has no finite critical value.
    if (!Number.isFinite(trials) || !Number.isFinite(criticalValue(level))) return null;
    return wilsonInterval(trials * value, trials, level);
  }
  const half = criticalValue(level) * (sampling.standardErrors[group] as number);
  if (!Number.isFinite(half)) return null;
  return sampling.ceiling === undefined
    ? [value - half, value + half]
    : [Math.max(0, value - half), Math.min(sampling.ceiling, value + half)];
}

/** An effect size, and the name of its measure. */
interface EffectSize {
  readonly name: 'risk_ratio' | 'cohens_d';
  readonly value: number;
}

/**
 * Computes the effect size of the gap. For a rate, the effect size is the ratio of the largest to the smallest value;
 * for several rates, it is the largest such ratio. For means, it is Cohen's d of the groups with the largest and the
 * smallest mean. Returns null if it is undefined.
 */
function effectSizeOf(compared: readonly ComparedMeasure[], { comparison }: MetricDefinition): EffectSize | null {
  const [first] = compared;
  if (first === undefined || !hasPairOfGroups(compared)) return null;
  const { sampling } = first.measure;
  if (sampling.kind === 'none' || (sampling.kind === 'means' && sampling.skewness === undefined)) return null;
  const [name, value] =
    sampling.kind === 'rates'
      ? (['risk_ratio', riskRatio(compared, comparison)] as const)
      : (['cohens_d', cohensDOfPair(first, sampling, comparison)] as const);
  return Number.isFinite(value) ? { name, value } : null;
}

function riskRatio(compared: readonly ComparedMeasure[], comparison: MetricDefinition['comparison']): number {
  const ratios = compared.map((one) => {
    const { values } = one.measure;
    const [high, low] = pairOfMeasure(one, comparison);
    return (values[high] as number) / (values[low as number] as number);
  });
  // A ratio of 0 to 0 is undefined, but the other rate may have a defined ratio.
  return largest(ratios.filter((ratio) => !Number.isNaN(ratio)));
}

/** Computes d = (mean_a - mean_b) / pooled standard deviation from standard errors: s^2 = se^2 n. */
function cohensDOfPair(
  compared: ComparedMeasure,
  { standardErrors, sizes }: MeanSampling,
  comparison: MetricDefinition['comparison'],
): number {
  const part = (group: number): { mean: number; n: number; variance: number } => {
    const n = sizes[group] as number;
    const mean = compared.measure.values[group] as number;
    return { mean, n, variance: (standardErrors[group] as number) ** 2 * n };
  };
  const [high, low] = pairOfMeasure(compared, comparison);
  const [a, b] = [part(high), part(low as number)];
  const pooled = Math.sqrt(((a.n - 1) * a.variance + (b.n - 1) * b.variance) / (a.n + b.n - 2));
  return (a.mean - b.mean) / pooled;
}
