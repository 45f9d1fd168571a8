import {
  ConfigValidationError,
  FairnessToolkitError,
  MetricComputationError,
  ValueError,
} from '../exceptions/index.ts';
import { splitNames, suggestNames } from '../internal/arguments.ts';
import { oncePerObject } from '../internal/values.ts';
import {
  findMetricDefinition,
  type MetricDefinition,
  metricDefinition,
  metricKind,
  metricNeedsTruth,
} from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import { assertThreshold, findThresholdProblem, metricRange } from '../metrics/threshold-range.ts';
import { type Gate, type MetricGate, parseMetricGate } from '../schemas/gates.ts';
import type { MeasureOptions } from '../schemas/validate-values.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { isHigherBetter, judge, type Verdict } from './assertions.ts';

/** The parts of a validation request that determine its gates. */
export interface GateRequest
  extends
    Pick<MeasureOptions, 'strictMissing'>,
    Partial<Pick<MeasureOptions, 'metric' | 'threshold' | 'comparator' | 'gates' | 'compat'>> {
  /** The names of the attributes, in the order of the report. */
  readonly names: readonly string[];
  readonly hasTruth: boolean;
  readonly hasPredictions: boolean;
  readonly hasScores: boolean;
}

/** The verdict of one gate on one attribute. */
export interface GateVerdict extends Verdict {
  readonly attribute: string;
  readonly metric: string;
}

/**
 * Returns all gates of a request: first the gates from `metric`, which use the shared threshold, then the list `gates`.
 */
export const gatesOf = oncePerObject((request: GateRequest): readonly Gate[] => {
  const { threshold, comparator, gates = [] } = request;
  const ofMetrics = namedMetrics(request).flatMap((gate): Gate[] => {
    if (gate.threshold !== undefined) return [{ ...gate, threshold: gate.threshold }];
    return threshold === undefined ? [] : [{ ...gate, threshold, comparator }];
  });
  return Object.freeze([...ofMetrics, ...gates]);
});

/** Returns the names of all metrics in a request, with or without a gate. */
export function metricNamesOf(request: Pick<GateRequest, 'metric' | 'gates'>): string[] {
  return [...namedMetrics(request), ...(request.gates ?? [])].map(({ metric }) => metric);
}

function namedMetrics({ metric = [] }: Pick<GateRequest, 'metric'>): MetricGate[] {
  return [metric].flat().map(parseMetricGate);
}

/**
 * Applies the gates of a request to the metrics of one attribute.
 * @param metrics the metrics of the attribute, by name
 */
export function judgeAttribute(
  request: GateRequest,
  attribute: string,
  metrics: Readonly<Record<string, MetricResult>>,
): GateVerdict[] {
  const { names, strictMissing } = request;
  return gatesOf(request)
    .filter(({ attributes }) => attributes?.some((given) => nameOfAttribute(given, names) === attribute) ?? true)
    .map((gate) => {
      const { metric } = metricDefinition(gate.metric);
      const verdict = judge(metrics[metric] as MetricResult, gate.threshold, gate.comparator, { strictMissing });
      return { attribute, metric, ...verdict };
    });
}

/**
 * Checks the metrics and gates of a request, before any row is read.
 * @throws {ValueError} if a metric or an attribute is unknown, a metric lacks its columns, or a gate can never fail or
 * never pass
 */
export function assertGates(request: GateRequest): void {
  const { threshold, comparator, gates = [] } = request;
  const named = namedMetrics(request);
  for (const { metric } of named) assertMetric(metric, request);
  if (threshold !== undefined && named.length > 0 && named.every((gate) => gate.threshold !== undefined)) {
    throw new ConfigValidationError(
      `The threshold ${String(threshold)} applies to no metric: every metric has its own gate.`,
      {
        context: { parameter: 'threshold', value: threshold },
        suggestion: 'Omit the threshold, or name a metric without its own gate.',
      },
    );
  }
  for (const gate of gatesOf({ ...request, gates: undefined })) {
    const definition = knownMetric(gate.metric);
    const isShared = gate.threshold === threshold && gate.comparator === comparator;
    const parameter = isShared ? 'threshold' : 'metric';
    assertThreshold(complete(gate, definition), rangeOf(gate, definition, request), parameter);
  }
  const [first] = gateProblems(gates, request);
  if (first === undefined) return;
  const { index, key, error } = first;
  throw new ValueError(`gates[${String(index)}].${key}: ${error.message}`, {
    code: error.code,
    context: { ...error.context, parameter: 'gates', path: ['gates', index, key] },
    ...(error.suggestion === undefined ? {} : { suggestion: error.suggestion }),
    cause: error,
  });
}

/** The keys of a gate that are checked against a request. */
type GateKey = 'metric' | 'threshold' | 'attributes';

/** A problem of one gate in a list. */
interface GateProblem {
  readonly index: number;
  readonly key: GateKey;
  readonly error: FairnessToolkitError;
}

const CHECKS: readonly (readonly [key: GateKey, check: (gate: Gate, request: GateRequest) => void])[] = [
  ['metric', ({ metric }, request) => { assertMetric(metric, request); }],
  ['threshold', assertPossible],
  ['attributes', assertAttributes],
]; // prettier-ignore

/** Returns all problems of a list of gates: unknown metrics and attributes, and impossible thresholds. */
export function gateProblems(gates: readonly Gate[], request: GateRequest): GateProblem[] {
  return gates.flatMap((gate, index) =>
    CHECKS.flatMap(([key, check]): GateProblem[] => {
      try {
        check(gate, request);
        return [];
      } catch (error) {
        if (!FairnessToolkitError.isInstance(error)) throw error;
        return [{ index, key, error }];
      }
    }),
  );
}

function assertPossible(gate: Gate, request: GateRequest): void {
  const definition = findMetricDefinition(gate.metric);
  // An unknown metric is already a problem.
  if (definition === undefined) return;
  const problem = findThresholdProblem(complete(gate, definition), rangeOf(gate, definition, request));
  if (problem === undefined) return;
  throw new ValueError(`${problem.message}.`, {
    context: { metric: definition.metric, value: gate.threshold },
    suggestion: problem.suggestion,
  });
}

function complete(
  { threshold, comparator }: Gate,
  { metric }: MetricDefinition,
): Parameters<typeof assertThreshold>[0] {
  return { metric, threshold, comparator: comparator ?? (isHigherBetter(metric) ? '>=' : '<=') };
}

function rangeOf(
  { comparator }: Gate,
  definition: MetricDefinition,
  { compat }: GateRequest,
): ReturnType<typeof metricRange> {
  return metricRange(definition, { isSize: comparator === undefined, compat });
}

function assertAttributes({ attributes = [] }: Gate, { names }: GateRequest): void {
  for (const given of attributes) {
    if (nameOfAttribute(given, names) !== undefined) continue;
    const name = [given].flat().join(INTERSECTION_SEPARATOR);
    throw new ValueError(`There is no attribute '${name}'.`, {
      code: 'unknown-name',
      context: { attribute: name },
      suggestion: suggestNames(name, names, 'attributes'),
    });
  }
}

/**
 * Returns the name of an attribute in the report: `sex||race` for `sex||race`, [sex, race] or `sex,race`; undefined if
 * there is no such attribute.
 */
export function nameOfAttribute(given: string | readonly string[], names: readonly string[]): string | undefined {
  const forms = typeof given === 'string' ? [[given], splitNames(given)] : [given];
  return forms.map((parts) => parts.join(INTERSECTION_SEPARATOR)).find((name) => names.includes(name));
}

function assertMetric(name: string, request: GateRequest): void {
  const definition = knownMetric(name);
  const needed = { kind: metricKind(definition), needsTruth: metricNeedsTruth(definition) };
  assertMeasurable('metric', name, needed, request);
}

/**
 * Checks that the columns that a metric or a measure needs were given.
 * @throws {ValueError} if a column is missing
 */
export function assertMeasurable(
  what: 'metric' | 'measure',
  name: string,
  { kind, needsTruth }: { readonly kind: GroupStats['kind']; readonly needsTruth: boolean },
  { hasTruth, hasPredictions, hasScores }: Pick<GateRequest, 'hasTruth' | 'hasPredictions' | 'hasScores'>,
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

/**
 * Returns the metric or measure with this name.
 * @throws {ValueError} if there is no such metric or measure
 */
export function known<T>(name: string, what: 'metric' | 'measure', find: (name: string) => T): T {
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
