import { ValueError } from '../exceptions/index.ts';
import { oncePerObject } from '../internal/values.ts';
import { compareGroups } from '../metrics/compare/compare-groups.ts';
import { assertMacroKind, macroWithPositiveLabel } from '../metrics/metric-rows.ts';
import { type ControlCell, levelsOf, MetricFrame, type StatsByKind } from '../metrics/frame/index.ts';
import {
  type MetricDefinition,
  metricDefinition,
  metricKind,
  metricNeedsTruth,
} from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { measureDefinition, type MeasureName, parseMeasure } from '../metrics/measures/index.ts';
import { type FilledMetricOptions, fillMetricOptions, type MetricOptions } from '../metrics/options.ts';
import { readTruth } from '../metrics/reduce/reduce-scores.ts';
import { type ClassStats, type GroupStats, sum } from '../metrics/statistics/group-stats.ts';
import { rowsPerGroup } from '../metrics/statistics/rows-per-group.ts';
import { withoutSmallCells } from '../metrics/statistics/small-cells.ts';
import type { Gate } from '../schemas/gates.ts';
import { type MeasureOptions, SCORE_THRESHOLD, type ValidateRequest } from '../schemas/validate-values.ts';
import type { ColumnSource } from '../table/index.ts';
import { joinVerdicts, judge, type Verdict } from './assertions.ts';
import {
  assertGates,
  assertMeasurable,
  gatesOf,
  type GateRequest,
  type GateVerdict,
  judgeAttribute,
  known,
  metricNamesOf,
} from './gates.ts';
import { levelNotes, readingNotes, type ReadLabels, readLabelsOf, type SeenScores } from './reading-notes.ts';
import { assertFewDraws, type ValidateBounds, whyNoInterval } from './validate-bounds.ts';

/** Statistics of one attribute. */
export interface AttributeStatistics {
  /** With `average: 'macro'`, the statistics of the first class. */
  readonly stats: GroupStats;
  /** With `average: 'macro'`, the statistics of each class against all other classes. */
  readonly classes?: readonly MacroClass[] | undefined;
  /**
   * The statistics of the same rows, crossed with the levels of a control feature. Rows without a level are excluded.
   */
  readonly crossed: { readonly stats: GroupStats; readonly cells: readonly ControlCell[] } | undefined;
}

/** The statistics of one class, and whether the class occurs among the decisions. */
interface MacroClass extends ClassStats {
  readonly isPredicted: boolean;
}

/** The classes of an outcome. */
export interface OutcomeClasses {
  /** The classes of the decisions and, if true labels are used, the classes of the true labels. */
  readonly all: readonly string[];
  /** The classes of the decisions. Metrics that need no true labels average over these classes. */
  readonly predicted: readonly string[];
}

/** Combines the statistics of each class, in the order of the classes. */
export function ofClasses(
  { all, predicted }: OutcomeClasses,
  counted: readonly GroupStats[],
  readings: GroupStats['readings'],
): AttributeStatistics {
  const classes = all.map((className, index): MacroClass => ({
    className,
    stats: { ...(counted[index] as GroupStats), readings },
    isPredicted: predicted.includes(className),
  }));
  return { stats: (classes[0] as MacroClass).stats, classes, crossed: undefined };
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

/** What a validation was computed from: the request, and the statistics of each attribute. */
interface CountedValidation {
  readonly request: ValidateRequest;
  readonly statistics: readonly KindStatistics[];
}

/** The metrics of one attribute, by name. */
export type AttributeMetrics = Readonly<Record<string, MetricResult>>;

/** The result of validating a file or rows. */
export interface FileValidation {
  /** Whether all gates passed on all attributes; null without a threshold. */
  readonly passed: boolean | null;
  /** The threshold of all gates; null if there is none, or gates have different thresholds. */
  readonly threshold: number | null;
  /** The verdict of every gate on every attribute. All must pass. */
  readonly gates: readonly GateVerdict[];
  /**
   * The metrics of each attribute, by the attribute's name. The name is a column, or several columns joined by `||`.
   */
  readonly attributes: Readonly<Record<string, AttributeMetrics>>;
  /** The combined verdict of all gates on each attribute. */
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /**
   * How the labels of predictions and true labels were interpreted. Present only if a positive label was given, or if
   * some texts counted as missing values.
   */
  readonly labels?: ReadLabels | undefined;
  /** If there is a control feature: the rates of each attribute within the levels of the control feature. */
  readonly frames: Readonly<Record<string, MetricFrame>>;
  /** The requested measures of every group, by attribute; present only if measures were requested. */
  readonly measures?: Readonly<Record<string, MetricFrame>> | undefined;
  /** The number of rows that were read, including those without a group or a value. */
  readonly rows?: number | undefined;
  /** What to consider about the data before the numbers are quoted, such as rows that may depend on each other. */
  readonly notes?: readonly string[] | undefined;
  /** What the validation was computed from; a hidden property, present only for tables, files, counts and databases. */
  readonly counted?: CountedValidation | undefined;
}

/**
 * Returns a validation with what it was computed from. The property is hidden, because it is not a result: two validations
 * with the same results are equal.
 */
export function withCounted(validation: FileValidation, counted: CountedValidation): FileValidation {
  return Object.freeze(Object.defineProperty({ ...validation }, 'counted', { value: counted }));
}

/** Returns a validation with further notes. */
export function withNotes(validation: FileValidation, further: readonly string[]): FileValidation {
  if (further.length === 0) return validation;
  return { ...validation, notes: Object.freeze([...(validation.notes ?? []), ...further]) };
}

/** The metrics and options of a validation. The fields are the same for rows in memory and rows in files. */
export interface MeasureRequest extends GateRequest, Omit<MeasureOptions, keyof GateRequest> {
  readonly hasControl: boolean;
}

/** Statistics of one kind, for every attribute. */
export type KindStatistics = readonly [kind: GroupStats['kind'], statistics: readonly AttributeStatistics[]];

/**
 * Returns the kinds of statistics that a request needs. Call this function before the rows are read, since reading may
 * take long.
 * @throws {ValueError} if a metric is unknown, or its columns were not given
 */
export const neededStatistics = oncePerObject((request: MeasureRequest): readonly NeededStatistics[] => {
  assertGates(request);
  const measures = requestedMeasures(request);
  for (const measure of measures) assertMeasurable('measure', measure, measureDefinition(measure), request);
  const wanted = metricsOf(request);
  if (request.average !== undefined) assertAverage(request, wanted);
  if (request.minCell !== undefined) assertSuppressible(request, wanted);
  const needed = [
    ...wanted.map((metric) => ({ kind: metricKind(metric), needsTruth: metricNeedsTruth(metric) })),
    ...measures.map(measureDefinition),
  ];
  return [...new Set(needed.map(({ kind }) => kind))].map((kind) => ({
    kind,
    needsTruth: needed.some((one) => one.kind === kind && one.needsTruth),
  }));
});

/** @throws {ValueError} if a part of the request cannot be measured without small counts */
function assertSuppressible(
  { minCell, hasControl, measures, average, sampleWeight }: MeasureRequest & { readonly sampleWeight?: unknown },
  wanted: readonly MetricDefinition[],
): void {
  const odd = wanted.find((definition) => metricKind(definition) !== 'classification');
  const given = { control: hasControl, measures: measures !== undefined, average: average !== undefined };
  const name = Object.entries({ ...given, sampleWeight: sampleWeight !== undefined }).find(([, is]) => is)?.[0];
  if (odd === undefined && name === undefined) return;
  throw new ValueError(`minCell cannot be combined with ${name ?? odd?.metric ?? ''}.`, {
    context: { parameter: 'minCell', value: minCell },
    suggestion: 'Small counts can be left out only for metrics of decisions, without weights and control features.',
  });
}

function assertAverage(
  { hasPredictions, hasControl, positiveLabel, yTruePositiveLabel }: MeasureRequest,
  wanted: readonly MetricDefinition[],
): void {
  if (positiveLabel !== undefined || yTruePositiveLabel !== undefined) throw macroWithPositiveLabel();
  for (const definition of wanted) assertMacroKind(metricKind(definition), definition.metric);
  if (hasPredictions && !hasControl) return;
  const problem = hasControl ? 'cannot be combined with control' : 'needs decisions, because scores have two classes';
  throw new ValueError(`average: 'macro' ${problem}.`, {
    context: { parameter: 'average', value: 'macro' },
    suggestion: hasControl
      ? 'Remove the control feature, or do not average over classes.'
      : 'Give decisions (yPred), or do not average over classes.',
  });
}

/**
 * Computes metrics and verdicts from the statistics. Each step computes one metric.
 * @yields {void} before each metric
 * @throws {DataValidationError} if there are more replicates than `maxDraws` allows
 */
export function* measureAttributes(
  request: MeasureRequest,
  byKind: readonly KindStatistics[],
  { maxDraws, scores }: ValidateBounds & SeenScores = {},
): Generator<void, FileValidation, void> {
  const { names } = request;
  byKind = withoutSmall(byKind, request.minCell);
  const gates = gatesOf(request);
  const wanted = metricsOf(request);
  const options = names.map((_, index) => boundedOptions(request, ofAttribute(byKind, index), index, maxDraws));
  const measured: Measured[] = [];
  for (const index of names.keys()) {
    measured.push(yield* measure(request, wanted, options[index] as FilledMetricOptions, ofAttribute(byKind, index)));
  }
  // Every attribute reads the same outcomes.
  const stats = byKind.flatMap(([, statistics]) => statistics[0]?.stats ?? []);
  const labels = readLabelsOf(stats);
  const decided = byKind.flatMap(([, statistics]) => statistics.flatMap(({ stats: own }) => (own.kind === 'classification' ? own : []))); // prettier-ignore
  const crossed = byKind.find(([kind]) => kind === 'classification')?.[1][0]?.crossed;
  const groups = names.map((_, index) => rowsByLabel(byKind[0]?.[1][index]?.stats));
  const notes = readingNotes(
    request,
    { decided, crossed, groups, labels, metrics: measured.map(({ metrics }) => metrics) },
    scores,
  );
  const verdicts = measured.map(({ metrics }, index) => judgeAttribute(request, names[index] as string, metrics));
  const ofLevels = measured.flatMap(({ frame }, index) =>
    frame === undefined ? [] : levelNotes(request, verdicts[index] as GateVerdict[], frame),
  );
  const byName = <T>(values: readonly T[]): Record<string, T> =>
    Object.fromEntries(names.map((name, index) => [name, values[index] as T]));
  return Object.freeze({
    passed: gates.length === 0 ? null : verdicts.flat().every((verdict) => verdict.passed === true),
    threshold: commonThreshold(gates),
    gates: verdicts.flat(),
    attributes: byName(measured.map(({ metrics }) => metrics)),
    verdicts: byName(verdicts.map((own) => (own.length === 0 ? NO_VERDICT : joinVerdicts(own.map(verdictOf))))),
    labels,
    frames: Object.fromEntries(
      measured.flatMap(({ frame }, index) => (frame === undefined ? [] : [[names[index] as string, frame]])),
    ),
    ...(request.measures === undefined
      ? {}
      : { measures: byName(names.map((_, index) => measuresFrame(request, ofAttribute(byKind, index)))) }),
    rows: rowsRead(byKind),
    ...(notes.length + ofLevels.length === 0 ? {} : { notes: Object.freeze([...notes, ...ofLevels]) }),
  });
}

function rowsByLabel(stats: GroupStats | undefined): ReadonlyMap<string, number> {
  if (stats === undefined) return new Map();
  const rows = rowsPerGroup(stats, false);
  return new Map(stats.labels.map((label, group) => [label, rows[group] as number]));
}

/** Leaves out small counts that are not left out already. */
export function withoutSmall(
  byKind: readonly KindStatistics[],
  minCell: number | undefined,
): readonly KindStatistics[] {
  if (minCell === undefined) return byKind;
  return byKind.map(([kind, statistics]): KindStatistics => [
    kind,
    statistics.map((one) =>
      one.stats.kind === 'classification' && one.stats.minCell === undefined
        ? { ...one, stats: withoutSmallCells(one.stats, minCell) }
        : one,
    ),
  ]);
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

const NO_VERDICT = judge({ metric: '', value: NaN, ci: null, undefinedReason: null }, undefined);

function commonThreshold(gates: readonly Gate[]): number | null {
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
  request: MeasureRequest,
  wanted: readonly MetricDefinition[],
  options: FilledMetricOptions,
  own: OwnStatistics,
): Generator<void, Measured, void> {
  const metrics: [string, MetricResult][] = [];
  for (const definition of wanted) {
    yield;
    metrics.push([definition.metric, compareGroups(partsOf(own, definition), definition, options)]);
  }
  yield;
  return {
    metrics: Object.fromEntries(metrics),
    frame: frameOf(own, wanted, request),
  };
}

/** Returns the statistics for a metric: those of the binary outcome, or those of each class in the average. */
function partsOf(own: OwnStatistics, definition: MetricDefinition): readonly ClassStats[] {
  const [, statistics] = own.find(([kind]) => kind === metricKind(definition)) as OwnStatistics[number];
  const { stats, classes } = statistics;
  if (classes === undefined) return [{ stats, className: undefined }];
  return metricNeedsTruth(definition) ? classes : classes.filter(({ isPredicted }) => isPredicted);
}

/**
 * Removes the descriptions of how labels were interpreted, because the metrics already contain warnings about labels.
 */
function withoutReadings(stats: StatsByKind): StatsByKind {
  return Object.fromEntries(Object.entries(stats).map(([kind, own]) => [kind, { ...own, readings: [] }]));
}

/**
 * Returns the options of the metrics for one attribute, and enforces the limit on replicates. Intervals and p-values
 * need replicates for every group, also within levels of the control feature, and for every class. Above the limit,
 * requested intervals and p-values are rejected, and intervals that were not requested are omitted.
 * @throws {DataValidationError} if requested intervals or p-values exceed the limit
 */
function boundedOptions(
  request: MeasureRequest,
  own: OwnStatistics,
  index: number,
  maxDraws = Infinity,
): FilledMetricOptions {
  const options = filledOptionsOf(request);
  if (!options.withCi && !options.withPValue) return options;
  const groups = Math.max(
    ...own.map(
      ([, { stats, classes, crossed }]) =>
        stats.labels.length * (classes?.length ?? 1) + (crossed?.stats.labels.length ?? 0),
    ),
  );
  const draws = { attribute: request.names[index] as string, groups, samples: options.ciSamples };
  if (request.withCi === true || options.withPValue) assertFewDraws(draws, maxDraws);
  const whyNoCi = whyNoInterval(draws, maxDraws);
  return whyNoCi === undefined ? options : { ...options, withCi: false, whyNoCi };
}

/** Lists the metrics to measure: the default metrics for decisions and the requested metrics. */
const metricsOf = oncePerObject((request: MeasureRequest): readonly MetricDefinition[] => {
  const usual = ['demographic_parity_difference', ...(request.hasTruth ? ['equalized_odds_difference'] : [])];
  const named = metricNamesOf(request).map(metricDefinition);
  // Predicted numbers are not decisions; scores become decisions by their threshold.
  const kinds = requestedMeasures(request).map((measure) => measureDefinition(measure).kind);
  const areNumbers =
    named.some((definition) => metricKind(definition) === 'regression') ||
    (kinds.includes('regression') && !kinds.includes('classification'));
  return [...new Set([...(areNumbers ? [] : usual.map(metricDefinition)), ...named])];
});

/** Returns the measures that the metrics compare, within the levels of the control feature. */
function frameOf(
  kinds: OwnStatistics,
  wanted: readonly MetricDefinition[],
  request: MeasureRequest,
): MetricFrame | undefined {
  const cells = kinds[0]?.[1].crossed?.cells;
  if (cells === undefined) return undefined;
  const stats = withoutReadings(Object.fromEntries(kinds.map(([kind, { stats: all }]) => [kind, all])));
  const crossed = Object.fromEntries(kinds.map(([kind, { crossed: own }]) => [kind, own?.stats])) as StatsByKind;
  const measures = [...new Set(wanted.flatMap((definition) => definition.measures))];
  return new MetricFrame(stats, measures, optionsOf(request), levelsOf(crossed, cells));
}

function optionsOf({ withEffects: withEffectSize, ...options }: MeasureRequest): MetricOptions {
  return { ...options, withEffectSize };
}

const filledOptionsOf = oncePerObject((request: MeasureRequest): FilledMetricOptions =>
  Object.freeze(fillMetricOptions(optionsOf(request))),
);
