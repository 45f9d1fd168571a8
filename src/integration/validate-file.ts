import { ValueError } from '../exceptions/index.ts';
import { metricKind, metricNeedsTruth, metricOf } from '../metrics/compute-metric.ts';
import { MetricFrame, splitByControl } from '../metrics/frame/index.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { MeasureName } from '../metrics/measures/index.ts';
import { metricDefinition } from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import type { MetricOptions } from '../metrics/options.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { judge, type Verdict } from './assertions.ts';
import { type AttributeStatistics, fileStatistics } from './file-statistics.ts';

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
  const named = request.metric === undefined ? [] : [request.metric];
  const namedKind = request.metric === undefined ? 'classification' : metricKind(metricDefinition(request.metric));
  // Numbers are no decisions; scores are, by their threshold.
  const usual =
    namedKind === 'regression'
      ? []
      : ['demographic_parity_difference', ...(request.yTrue === undefined ? [] : ['equalized_odds_difference'])];
  const options = optionsOf(request);
  const wanted = [...new Set([...usual, ...named].map((name) => metricDefinition(name).metric))];
  const kinds = new Set(wanted.map((name) => metricKind(metricDefinition(name))));
  const byKind = new Map<GroupStats['kind'], readonly AttributeStatistics[]>();
  for (const kind of kinds) byKind.set(kind, await fileStatistics(path, kind, request));
  return request.attributes.map((_, index): Measured => {
    const statisticsOf = (kind: GroupStats['kind']): AttributeStatistics =>
      (byKind.get(kind) as readonly AttributeStatistics[])[index] as AttributeStatistics;
    const metrics = wanted.map((name): [string, MetricResult] => {
      const { stats, cells } = statisticsOf(metricKind(metricDefinition(name)));
      return [name, metricOf(name, cells === undefined ? stats : splitByControl(stats, cells).all, options)];
    });
    const first = wanted[0] ?? 'demographic_parity_difference';
    return {
      metrics: Object.fromEntries(metrics),
      frame: frameOf(statisticsOf(metricKind(metricDefinition(first))), wanted, options),
    };
  });
}

/** Rates inside the levels of the control feature, for the measures that the metrics compare. */
function frameOf(
  { stats, cells }: AttributeStatistics,
  metrics: readonly string[],
  options: MetricOptions,
): MetricFrame | undefined {
  if (cells === undefined) return undefined;
  const definitions = metrics.map(metricDefinition).filter((definition) => metricKind(definition) === stats.kind);
  const measures = new Set<MeasureName>(definitions.flatMap((definition) => definition.measures));
  return new MetricFrame({ [stats.kind]: stats }, [...measures], options, cells);
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
  const definition = metricDefinition(metric);
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
