import { ConfigValidationError, MetricComputationError, ValueError } from '../exceptions/index.ts';
import { compareGroups } from '../metrics/compare/compare-groups.ts';
import { type ControlCell, levelsOf, MetricFrame, type StatsByKind } from '../metrics/frame/index.ts';
import {
  type MetricDefinition,
  metricDefinition,
  metricKind,
  metricNeedsTruth,
} from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { measureDefinition, type MeasureName, parseMeasure } from '../metrics/measures/index.ts';
import { fillMetricOptions, type MetricOptions } from '../metrics/options.ts';
import { readTruth } from '../metrics/reduce/reduce-scores.ts';
import { type GroupStats, sum } from '../metrics/statistics/group-stats.ts';
import { rowsPerGroup } from '../metrics/statistics/rows-per-group.ts';
import { assertThreshold, metricRange } from '../metrics/threshold-range.ts';
import { type MeasureOptions, type MetricGate, parseMetricGate } from '../schemas/validate-values.ts';
import type { ColumnSource, LabelCounts } from '../table/index.ts';
import { isHigherBetter, joinVerdicts, judge, type Verdict } from './assertions.ts';
import { assertFewDraws, type ValidateBounds } from './validate-bounds.ts';

/** The default score threshold: scores at or above it are positive decisions. */
export const SCORE_THRESHOLD = 0.5;

/** Statistics of one attribute. */
export interface AttributeStatistics {
  readonly stats: GroupStats;
  /** The statistics of the same rows crossed with the levels of a control feature, without rows that have no level. */
  readonly crossed: { readonly stats: GroupStats; readonly cells: readonly ControlCell[] } | undefined;
}

/** The kind of statistics to compute, and whether it needs true labels. */
export interface NeededStatistics {
  readonly kind: GroupStats['kind'];
  readonly needsTruth: boolean;
}

/** Turns finite scores into decisions; a missing score stays missing. */
export function decideScores(scores: Float64Array, threshold: number = SCORE_THRESHOLD): Float64Array {
  return scores.map((value) => (Number.isNaN(value) ? NaN : Number(value >= threshold)));
}

/**
 * Returns the true labels as 0 and 1, to compare with decisions made from scores; NaN if a label is missing.
 * @throws {DataValidationError} if a label is neither positive nor negative, or no row has the positive label
 */
export function binaryTruth(source: ColumnSource, labels: Parameters<typeof readTruth>[1]): Float64Array {
  return Float64Array.from(readTruth(source, labels), (value) => (value < 0 ? NaN : value));
}

/** The metrics of one attribute, by name. */
export type AttributeMetrics = Readonly<Record<string, MetricResult>>;

/** The verdict of one gate on one attribute. */
export interface GateVerdict extends Verdict {
  readonly attribute: string;
  readonly metric: string;
}

/** The result of validating a file or rows. */
export interface FileValidation {
  /** Whether all gates passed on all attributes; null without a threshold. */
  readonly passed: boolean | null;
  /** The threshold of all gates; null if there is none, or gates have different thresholds. */
  readonly threshold: number | null;
  /** The verdict of every gate on every attribute. All must pass. */
  readonly gates: readonly GateVerdict[];
  /** The metrics of each attribute, by its name: one column, or several joined by `||`. */
  readonly attributes: Readonly<Record<string, AttributeMetrics>>;
  /** The combined verdict of all gates on each attribute. */
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /** How the labels of predictions and truth were read. Present if a label was named or texts counted as missing. */
  readonly labels?: ReadLabels | undefined;
  /** With a control feature, the rates of each attribute within its levels. */
  readonly frames: Readonly<Record<string, MetricFrame>>;
  /** The requested measures of every group, by attribute; present only if measures were requested. */
  readonly measures?: Readonly<Record<string, MetricFrame>> | undefined;
  /** The number of rows that were read, including those without a group or a value. */
  readonly rows?: number | undefined;
}

/** The JSON keys of the label columns. */
const LABEL_COLUMNS = { predictions: 'y_pred', 'true labels': 'y_true' } as const;

/** How the labels of one column were read, with the number of rows of each. */
interface ColumnLabels {
  readonly positive: LabelCounts;
  readonly negative: LabelCounts;
  readonly missing: LabelCounts;
}

/** {@link ColumnLabels} of predictions and truth. A column that holds only 0 and 1 is omitted. */
type ReadLabels = Readonly<Partial<Record<(typeof LABEL_COLUMNS)[keyof typeof LABEL_COLUMNS], ColumnLabels>>>;

function readLabelsOf(byKind: readonly KindStatistics[]): ReadLabels {
  // Every attribute reads the same outcomes.
  const readings = byKind.flatMap(([, statistics]) => statistics[0]?.stats.readings ?? []);
  return Object.fromEntries(
    readings.flatMap(({ role, positive, negative, missing }) =>
      role === 'predictions' || role === 'true labels' ? [[LABEL_COLUMNS[role], { positive, negative, missing }]] : [],
    ),
  );
}

/** The metrics and options of a validation, independent of where the rows are. */
export interface MeasureRequest extends Omit<MeasureOptions, 'nanPolicy' | 'positiveLabel' | 'scoreThreshold'> {
  /** The names of the attributes, in the order of the report. */
  readonly names: readonly string[];
  readonly hasTruth: boolean;
  readonly hasPredictions: boolean;
  readonly hasScores: boolean;
}

/** Statistics of one kind, for every attribute. */
export type KindStatistics = readonly [kind: GroupStats['kind'], statistics: readonly AttributeStatistics[]];

/**
 * Returns each kind of statistics that a request needs. It is called before the rows are read, which may take long.
 * @throws {ValueError} if a metric is unknown, or its columns were not given
 */
export function neededStatistics(request: MeasureRequest): NeededStatistics[] {
  assertMetrics(request);
  const needed = [
    ...metricsOf(request).map((metric) => ({ kind: metricKind(metric), needsTruth: metricNeedsTruth(metric) })),
    ...requestedMeasures(request).map(measureDefinition),
  ];
  return [...new Set(needed.map(({ kind }) => kind))].map((kind) => ({
    kind,
    needsTruth: needed.some((one) => one.kind === kind && one.needsTruth),
  }));
}

/**
 * Computes metrics and verdicts from the statistics, one metric in each step.
 * @yields {void} before each metric
 * @throws {DataValidationError} if there are more replicates than `maxDraws` allows
 */
export function* measureAttributes(
  request: MeasureRequest,
  byKind: readonly KindStatistics[],
  { maxDraws }: ValidateBounds = {},
): Generator<void, FileValidation, void> {
  const { names, strictMissing } = request;
  const gates = gatesOf(request);
  const wanted = metricsOf(request);
  const options = optionsOf(request);
  if (maxDraws !== undefined) assertAllDraws(request, byKind, maxDraws);
  const measured: Measured[] = [];
  for (const index of names.keys()) measured.push(yield* measure(wanted, options, ofAttribute(byKind, index)));
  const verdicts = measured.map(({ metrics }, index) =>
    gates.map((gate): GateVerdict => {
      const { metric } = metricDefinition(gate.metric);
      const verdict = judge(metrics[metric] as MetricResult, gate.threshold, gate.comparator, { strictMissing });
      return { attribute: names[index] as string, metric, ...verdict };
    }),
  );
  const byName = <T>(values: readonly T[]): Record<string, T> =>
    Object.fromEntries(names.map((name, index) => [name, values[index] as T]));
  return Object.freeze({
    passed: gates.length === 0 ? null : verdicts.flat().every((verdict) => verdict.passed === true),
    threshold: commonThreshold(gates),
    gates: verdicts.flat(),
    attributes: byName(measured.map(({ metrics }) => metrics)),
    verdicts: byName(verdicts.map((own) => (own.length === 0 ? NO_VERDICT : joinVerdicts(own.map(verdictOf))))),
    labels: readLabelsOf(byKind),
    frames: Object.fromEntries(
      measured.flatMap(({ frame }, index) => (frame === undefined ? [] : [[names[index] as string, frame]])),
    ),
    ...(request.measures === undefined
      ? {}
      : { measures: byName(names.map((_, index) => measuresFrame(request, ofAttribute(byKind, index)))) }),
    rows: rowsRead(byKind),
  });
}

/** Returns the requested measures of every group of one attribute. */
function measuresFrame(request: MeasureRequest, own: OwnStatistics): MetricFrame {
  const measures = requestedMeasures(request);
  const kinds = new Set(measures.map((measure) => measureDefinition(measure).kind));
  const stats = own.flatMap(([kind, { stats: all }]) => (kinds.has(kind) ? [[kind, all]] : []));
  return new MetricFrame(withoutReadings(Object.fromEntries(stats) as StatsByKind), measures, optionsOf(request));
}

/** Returns the number of rows of the source. Every attribute and every kind of statistics reads the same rows. */
function rowsRead(byKind: readonly KindStatistics[]): number | undefined {
  const stats = byKind[0]?.[1][0]?.stats;
  return stats === undefined ? undefined : sum(rowsPerGroup(stats, false)) + stats.nDropped;
}

/** Returns the requested measures. */
function requestedMeasures({ measures = [] }: Pick<MeasureRequest, 'measures'>): MeasureName[] {
  return [...new Set(measures.map((name) => known(name, 'measure', parseMeasure)))];
}

/** A gate with its threshold. */
type CompleteGate = MetricGate & { readonly threshold: number };

const NO_VERDICT = judge({ metric: '', value: NaN, ci: null, undefinedReason: null }, undefined);

/** Returns the named metrics, each with its own gate if it has one. */
function namedMetrics({ metric = [] }: Pick<MeasureRequest, 'metric'>): MetricGate[] {
  return [metric].flat().map(parseMetricGate);
}

/** Returns the gates of a request. The shared threshold applies to metrics without a gate of their own. */
function gatesOf(request: MeasureRequest): CompleteGate[] {
  const { threshold, comparator } = request;
  return namedMetrics(request).flatMap((gate): CompleteGate[] => {
    if (gate.threshold !== undefined) return [{ ...gate, threshold: gate.threshold }];
    return threshold === undefined ? [] : [{ ...gate, threshold, comparator }];
  });
}

function commonThreshold(gates: readonly CompleteGate[]): number | null {
  const distinct = [...new Set(gates.map(({ threshold }) => threshold))];
  return distinct.length === 1 ? (distinct[0] ?? null) : null;
}

function verdictOf({ attribute: _, metric: __, ...verdict }: GateVerdict): Verdict {
  return verdict;
}

/** Statistics of one attribute, each with its kind. */
type OwnStatistics = readonly (readonly [kind: GroupStats['kind'], statistics: AttributeStatistics])[];

function ofAttribute(byKind: readonly KindStatistics[], index: number): OwnStatistics {
  return byKind.map(([kind, all]) => [kind, all[index] as AttributeStatistics] as const);
}

interface Measured {
  readonly metrics: AttributeMetrics;
  readonly frame: MetricFrame | undefined;
}

function* measure(
  wanted: readonly MetricDefinition[],
  options: MetricOptions,
  own: OwnStatistics,
): Generator<void, Measured, void> {
  const filled = fillMetricOptions(options);
  const stats = Object.fromEntries(own.map(([kind, { stats: all }]) => [kind, all])) as StatsByKind;
  const metrics: [string, MetricResult][] = [];
  for (const definition of wanted) {
    yield;
    const part = { stats: stats[metricKind(definition)] as GroupStats, className: undefined };
    metrics.push([definition.metric, compareGroups([part], definition, filled)]);
  }
  yield;
  return { metrics: Object.fromEntries(metrics), frame: frameOf(own, withoutReadings(stats), wanted, options) };
}

/** Removes the readings, since the metrics already carry the warnings about labels. */
function withoutReadings(stats: StatsByKind): StatsByKind {
  return Object.fromEntries(Object.entries(stats).map(([kind, own]) => [kind, { ...own, readings: [] }]));
}

/**
 * Checks the number of replicates. Intervals and p-values need replicates for every group, also within levels of the
 * control feature.
 */
function assertAllDraws(request: MeasureRequest, byKind: readonly KindStatistics[], maxDraws: number): void {
  if (!request.withCi && !request.withPValue) return;
  const samples = fillMetricOptions(optionsOf(request)).ciSamples;
  for (const [, all] of byKind) {
    all.forEach(({ stats, crossed }, index) => {
      const groups = stats.labels.length + (crossed?.stats.labels.length ?? 0);
      assertFewDraws({ attribute: request.names[index] as string, groups, samples }, maxDraws);
    });
  }
}

/** Lists the metrics to measure: the usual metrics of decisions and the named metrics. */
function metricsOf(request: MeasureRequest): MetricDefinition[] {
  const usual = ['demographic_parity_difference', ...(request.hasTruth ? ['equalized_odds_difference'] : [])];
  const named = namedMetrics(request).map(({ metric }) => metricDefinition(metric));
  // Predicted numbers are not decisions; scores become decisions by their threshold.
  const kinds = requestedMeasures(request).map((measure) => measureDefinition(measure).kind);
  const areNumbers =
    named.some((definition) => metricKind(definition) === 'regression') ||
    (kinds.includes('regression') && !kinds.includes('classification'));
  return [...new Set([...(areNumbers ? [] : usual.map(metricDefinition)), ...named])];
}

/** Returns the measures that the metrics compare, within the levels of the control feature. */
function frameOf(
  kinds: OwnStatistics,
  stats: StatsByKind,
  wanted: readonly MetricDefinition[],
  options: MetricOptions,
): MetricFrame | undefined {
  const cells = kinds[0]?.[1].crossed?.cells;
  if (cells === undefined) return undefined;
  const crossed = Object.fromEntries(kinds.map(([kind, { crossed: own }]) => [kind, own?.stats])) as StatsByKind;
  const measures = [...new Set(wanted.flatMap((definition) => definition.measures))];
  return new MetricFrame(stats, measures, options, levelsOf(crossed, cells));
}

function optionsOf({ withEffects: withEffectSize, ...options }: MeasureRequest): MetricOptions {
  return { ...options, withEffectSize };
}

function assertMetrics(request: MeasureRequest): void {
  const { threshold, comparator } = request;
  const named = namedMetrics(request);
  for (const { metric } of named) {
    const definition = knownMetric(metric);
    const needed = { kind: metricKind(definition), needsTruth: metricNeedsTruth(definition) };
    assertMeasurable('metric', metric, needed, request);
  }
  for (const measure of requestedMeasures(request)) {
    assertMeasurable('measure', measure, measureDefinition(measure), request);
  }
  if (threshold !== undefined && named.length > 0 && named.every((gate) => gate.threshold !== undefined)) {
    throw new ConfigValidationError(
      `The threshold ${String(threshold)} applies to no metric: every metric has its own gate.`,
      {
        context: { parameter: 'threshold', value: threshold },
        suggestion: 'Omit the threshold, or name a metric without its own gate.',
      },
    );
  }
  for (const gate of gatesOf(request)) {
    const definition = knownMetric(gate.metric);
    const used = gate.comparator ?? (isHigherBetter(definition.metric) ? '>=' : '<=');
    const range = metricRange(definition, { isSize: gate.comparator === undefined, compat: request.compat });
    const isShared = gate.threshold === threshold && gate.comparator === comparator;
    const judged = { metric: definition.metric, threshold: gate.threshold, comparator: used };
    assertThreshold(judged, range, isShared ? 'threshold' : 'metric');
  }
}

/** Checks that the columns which a metric or a measure needs were given. */
function assertMeasurable(
  what: 'metric' | 'measure',
  name: string,
  { kind, needsTruth }: NeededStatistics,
  { hasTruth, hasPredictions, hasScores }: MeasureRequest,
): void {
  const lacking =
    needsTruth && !hasTruth
      ? (['true labels', 'yTrue'] as const)
      : kind === 'scores' && !hasScores
        ? (['scores', 'score'] as const)
        : kind === 'regression' && !hasPredictions
          ? (['predicted numbers', 'yPred'] as const)
          : undefined;
  if (lacking === undefined) return;
  throw new ValueError(`${name} needs ${lacking[0]}.`, {
    code: 'missing-argument',
    context: { [what]: name, missing: lacking[1] },
    suggestion: `Name their column (${lacking[1]}).`,
  });
}

/**
 * Returns the metric with this name.
 * @throws {ValueError} if there is none
 */
export function knownMetric(name: string): MetricDefinition {
  return known(name, 'metric', metricDefinition);
}

function known<T>(name: string, what: 'metric' | 'measure', find: (name: string) => T): T {
  try {
    return find(name);
  } catch (cause) {
    if (!MetricComputationError.isInstance(cause)) throw cause;
    throw new ValueError(cause.message, {
      code: 'unknown-name',
      context: { [what]: name },
      ...(cause.suggestion === undefined ? {} : { suggestion: cause.suggestion }),
      cause,
    });
  }
}
