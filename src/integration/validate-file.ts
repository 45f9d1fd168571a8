import { ValueError } from '../exceptions/index.ts';
import { metricOf } from '../metrics/compute-metric.ts';
import { levelsOf, MetricFrame, type StatsByKind } from '../metrics/frame/index.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { MeasureName } from '../metrics/measures/index.ts';
import { metricDefinition, metricKind, metricNeedsTruth } from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import type { MetricOptions } from '../metrics/options.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { judge, type Verdict } from './assertions.ts';
import { type AttributeStatistics, fileStatistics } from './file-statistics.ts';
import { knownMetric } from './known-metric.ts';

/** The metrics of one attribute, by name. */
export type AttributeMetrics = Readonly<Record<string, MetricResult>>;

/** What validating a file gives. */
export interface FileValidation {
  /** true or false; null without a threshold. With several attributes, whether all pass. */
  readonly passed: boolean | null;
  readonly threshold: number | null;
  /** The metrics of each attribute, by its label: one column, or several joined by `||`. */
  readonly attributes: Readonly<Record<string, AttributeMetrics>>;
  /** The gate's verdict on each attribute. */
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /** With a control feature, the rates of each attribute inside its levels. */
  readonly frames: Readonly<Record<string, MetricFrame>>;
}

/**
 * Measures the decisions (or predictions, or scores) in a file for every
 * attribute asked for, without loading the rows, and puts the result before
 * the gate.
 *
 * Demographic parity is always measured of decisions, and equalized odds too
 * where there are true labels; `metric` adds any other. A metric of numbers
 * (`mae_parity_difference`, say) takes the predictions as numbers and stands
 * alone. With `control` groups are also compared inside the levels of a
 * feature, and a gap that changes its sign there is a warning.
 * @throws {DataValidationError} for an unreadable file or unusable values
 * @throws {ValueError} for an unknown metric, or one whose columns were not named
 */
export async function validateFile(path: string, input: ValidateInput): Promise<FileValidation> {
  const request = parseBy(validateSchema, input, 'validateFile');
  const { attributes, metric, threshold, comparator } = request;
  assertMetric(request);
  const names = attributes.map((attribute) => attribute.join(INTERSECTION_SEPARATOR));
  const measured = await measure(path, request);
  const verdicts = measured.map(({ metrics }) => {
    const [first] = Object.values(metrics);
    const judged = metric === undefined ? first : metrics[metricDefinition(metric).metric];
    return judge(judged as MetricResult, threshold, comparator);
  });
  const byName = <T>(values: readonly T[]): Record<string, T> =>
    Object.fromEntries(names.map((name, index) => [name, values[index] as T]));
  return Object.freeze({
    passed: threshold === undefined ? null : verdicts.every((verdict) => verdict.passed === true),
    threshold: threshold ?? null,
    attributes: byName(measured.map(({ metrics }) => metrics)),
    verdicts: byName(verdicts),
    frames: Object.fromEntries(
      measured.flatMap(({ frame }, index) => (frame === undefined ? [] : [[names[index] as string, frame]])),
    ),
  });
}

interface Measured {
  readonly metrics: AttributeMetrics;
  readonly frame: MetricFrame | undefined;
}

async function measure(path: string, request: ValidateRequest): Promise<Measured[]> {
  const wanted = metricsOf(request).map(metricDefinition);
  const options = optionsOf(request);
  const kinds = [...new Set(wanted.map(metricKind))];
  const byKind = new Map<GroupStats['kind'], readonly AttributeStatistics[]>();
  for (const kind of kinds) {
    const needsTruth = wanted.some((definition) => metricKind(definition) === kind && metricNeedsTruth(definition));
    byKind.set(kind, await fileStatistics(path, { kind, needsTruth }, request));
  }
  return request.attributes.map((_, index): Measured => {
    const own = kinds.map((kind) => [kind, byKind.get(kind)?.[index] as AttributeStatistics] as const);
    const stats = Object.fromEntries(own.map(([kind, { stats: all }]) => [kind, all])) as StatsByKind;
    const metrics = wanted.map((definition): [string, MetricResult] => [
      definition.metric,
      metricOf(definition.metric, stats[metricKind(definition)] as GroupStats, options),
    ]);
    const measures = [...new Set(wanted.flatMap((definition) => definition.measures))];
    return { metrics: Object.fromEntries(metrics), frame: frameOf(own, stats, measures, options) };
  });
}

/** What is measured: the usual metrics of decisions, and the one that was named. */
function metricsOf({ metric, yTrue }: ValidateRequest): string[] {
  const usual = ['demographic_parity_difference', ...(yTrue === undefined ? [] : ['equalized_odds_difference'])];
  if (metric === undefined) return usual;
  const definition = metricDefinition(metric);
  // Numbers are no decisions; scores are, by their threshold.
  return metricKind(definition) === 'regression' ? [definition.metric] : [...new Set([...usual, definition.metric])];
}

/** The measures that the metrics compare, inside the levels of the control feature. */
function frameOf(
  kinds: readonly (readonly [kind: string, statistics: AttributeStatistics])[],
  stats: StatsByKind,
  measures: readonly MeasureName[],
  options: MetricOptions,
): MetricFrame | undefined {
  const cells = kinds[0]?.[1].crossed?.cells;
  if (cells === undefined) return undefined;
  const crossed = Object.fromEntries(kinds.map(([kind, { crossed: own }]) => [kind, own?.stats])) as StatsByKind;
  return new MetricFrame(stats, measures, options, levelsOf(crossed, cells));
}

function optionsOf(request: ValidateRequest): MetricOptions {
  const { minGroupSize, withCi, ciLevel, ciMethod, ciSamples, withEffects, withPValue, seed } = request;
  const { method, referenceGroup, agg, compat } = request;
  return {
    minGroupSize,
    withCi,
    ciLevel,
    ciMethod,
    ciSamples,
    withEffectSize: withEffects,
    withPValue,
    seed,
    method,
    referenceGroup,
    agg,
    compat,
  };
}

/** Said before the file is read, since reading it may take long. */
function assertMetric({ metric, yTrue, yPred, score }: ValidateRequest): void {
  if (metric === undefined) return;
  const definition = knownMetric(metric);
  const lacking =
    metricNeedsTruth(definition) && yTrue === undefined
      ? (['true labels', 'yTrue, --y-true'] as const)
      : metricKind(definition) === 'scores' && score === undefined
        ? (['scores', 'score, --score'] as const)
        : metricKind(definition) === 'regression' && yPred === undefined
          ? (['predicted numbers', 'yPred, --y-pred'] as const)
          : undefined;
  if (lacking === undefined) return;
  throw new ValueError(`${metric} needs ${lacking[0]}.`, {
    context: { metric },
    suggestion: `Name their column (${lacking[1]}).`,
  });
}
