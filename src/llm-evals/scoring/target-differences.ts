import { createRandom } from '../../internal/random.ts';
import { finiteOrNull, groupBy, meanOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { type PairedMean, pairedMean } from '../../stats/paired/paired-mean.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import { adjustForMany } from './adjust-for-many.ts';
import { pairsOf } from './dimension-answers.ts';
import { type ComparedPair, largestPair } from './largest-pair.ts';
import type { LlmMetricResult, PairComparison, UnitValue, UnitValues } from './llm-metric-result.ts';
import { LlmTargetDifference } from './llm-target-difference.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings } from './score-settings.ts';

/** The metrics of a target. */
export interface TargetMetrics {
  readonly name: string;
  readonly metrics: Readonly<Record<string, LlmMetricResult>>;
}

/** The ending of the name of the metric that compares the sizes of two gaps. */
const SIZE = '_size';

/** The number of resamples of an interval for the difference of two sizes. */
const RESAMPLES = 1999;

/** The measures that are compared over all prompts, although a run has no metric for them. */
const OVERALL_MEASURES = ['mean_sentiment', 'mean_words', 'yes_rate'];

const NO_VALUE = 'the answers of a target have no value of this measure';

/** Two targets that are compared, and how. */
interface Comparison {
  readonly targets: readonly [first: string, second: string];
  /** The settings, with the confidence level at which the intervals of all pairs of targets hold simultaneously. */
  readonly settings: ScoreSettings;
  /** The number of pairs of targets. */
  readonly pairs: number;
}

/**
 * Computes the differences between targets, for each metric and each pair of targets. The first target of a pair is
 * the earlier one.
 *
 * The targets are compared on the same items. For a gap, the difference of an item is the gap of the first target minus
 * the gap of the second. For a measure of all answers, it is the difference of the values of a prompt. The differences
 * are averaged over the items of each independent unit, and then over units. The interval is a paired interval over
 * units, and the test flips the signs of units at random. For a distance or another statistic without a value by item,
 * the same method uses jackknife pseudo-values.
 *
 * If there are several pairs of targets, the intervals hold simultaneously (Bonferroni). The p-values are adjusted for
 * the number of all differences (Benjamini and Hochberg).
 */
export function targetDifferences(
  targets: readonly TargetMetrics[],
  settings: ScoreSettings,
): Record<string, LlmTargetDifference> {
  const compared = pairsOf(targets.map(({ name }) => name));
  const byName = new Map(targets.map((target) => [target.name, target.metrics]));
  const level = 1 - (1 - settings.ciLevel) / Math.max(1, compared.length);
  const differences = compared.flatMap((pair) => {
    const comparison = { targets: pair, settings: { ...settings, ciLevel: level }, pairs: compared.length };
    return differencesOf(byName.get(pair[0]) ?? {}, byName.get(pair[1]) ?? {}, comparison);
  });
  const adjusted = adjustForMany(
    differences.map(({ difference }) => difference),
    settings.controlDimension,
  );
  const results = differences.map(({ targets: pair, targetValues }, index) => {
    const result = adjusted[index] as LlmMetricResult;
    const ciLevel = result.ci === null ? null : settings.ciLevel;
    return new LlmTargetDifference(Object.assign({}, result, { ciLevel, targets: pair, targetValues }));
  });
  return Object.fromEntries(results.map((result) => [result.key, result]));
}

/** A difference, before p-values are adjusted. */
type RawDifference = Pick<LlmTargetDifference, 'targets' | 'targetValues'> & { readonly difference: LlmMetricResult };

type Metrics = TargetMetrics['metrics'];

function differencesOf(first: Metrics, second: Metrics, comparison: Comparison): RawDifference[] {
  const both = Object.entries(first).flatMap(([key, one]) => {
    const other = Object.hasOwn(second, key) ? second[key] : undefined;
    return other === undefined ? [] : [[one, other] as const];
  });
  return [
    ...OVERALL_MEASURES.flatMap((measure) => measureDifference(measure, both, comparison)),
    ...both.flatMap(([one, other]) => {
      const plain = metricDifference(one, other, comparison);
      return isGap(one) || isGap(other) ? [plain, sizeDifference(one, other, comparison)] : [plain];
    }),
  ];
}

/** Returns whether a metric is a gap between values of a dimension, which can be above or below 0. */
function isGap({ pairs, units }: LlmMetricResult): boolean {
  return pairs.length > 0 && units?.kind === 'mean';
}

/**
 * Computes the difference of a measure over all prompts that a dimension varies. A prompt that several dimensions share
 * counts for the first of them.
 */
function measureDifference(
  measure: string,
  both: readonly (readonly [LlmMetricResult, LlmMetricResult])[],
  comparison: Comparison,
): RawDifference[] {
  const own = both.filter(([{ units }]) => units?.measure === measure);
  const [one] = own[0] ?? [];
  if (one === undefined) return [];
  const [first, second] = [pooled(own.map(([metric]) => metric)), pooled(own.map(([, metric]) => metric))];
  const given = { metric: measure, evaluator: one.evaluator, dimension: null };
  const reason = first === undefined || second === undefined ? NO_VALUE : null;
  return [unpairedDifference(given, [first, second], comparison, { reason, values: [NaN, NaN] })];
}

/** Joins the values of prompts of several dimensions. */
function pooled(metrics: readonly LlmMetricResult[]): UnitValues | undefined {
  const seen = new Set<string>();
  const values = metrics.flatMap(({ dimension, units }) => {
    const own = (units?.values ?? []).filter(({ prompt = '' }) => prompt === '' || !seen.has(prompt));
    for (const { prompt = '' } of own) seen.add(prompt);
    return own.map((each) => ({ ...each, item: `${dimension ?? ''}|${each.item}` }));
  });
  const step = metrics.find(({ units }) => units !== null)?.units?.step ?? null;
  return values.length === 0 ? undefined : { kind: 'mean', values, step };
}

/** Computes the difference of one metric of two targets. */
function metricDifference(one: LlmMetricResult, other: LlmMetricResult, comparison: Comparison): RawDifference {
  if (one.pairs.length === 0) {
    const reason = undefinedBy([one, other], comparison);
    return unpairedDifference(one, [one.units ?? undefined, other.units ?? undefined], comparison, {
      reason,
      values: [one.value, other.value],
    });
  }
  return pairedDifference(one.metric, one, other, comparison, comparePair);
}

/**
 * Computes the difference of the sizes of two gaps, for each pair of values. The metric has the value of the pair whose
 * gap is larger by the most. There is no test: the difference of the signed gaps has one.
 */
function sizeDifference(one: LlmMetricResult, other: LlmMetricResult, comparison: Comparison): RawDifference {
  return pairedDifference(`${one.metric}${SIZE}`, one, other, comparison, compareSizes);
}

type ComparePairs = (
  pair: readonly [PairComparison | undefined, PairComparison | undefined],
  level: number,
  comparison: Comparison,
) => ComparedPair & { readonly of?: readonly [number, number] };

function pairedDifference(
  metric: string,
  one: LlmMetricResult,
  other: LlmMetricResult,
  comparison: Comparison,
  compare: ComparePairs,
): RawDifference {
  const groups = [...new Set(one.pairs.flatMap(({ first, second }) => [first, second]))];
  const valuesOf = new Map<string, readonly [number, number]>();
  const isSize = compare === compareSizes;
  const { kind } = one.pairs.find(({ units }) => units !== undefined)?.units ?? {};
  const methods = methodsOf(kind, one.pairs.find(({ units }) => units !== undefined)?.units?.step ?? null);
  const difference = largestPair({
    metric,
    evaluator: one.evaluator,
    answers: { dimension: one.dimension ?? '', groups, items: [], exclusions: {} },
    compare: (first, second, level) => {
      const find = ({ pairs }: LlmMetricResult): PairComparison | undefined =>
        pairs.find((pair) => pair.first === first && pair.second === second);
      const { of, ...pair } = compare([find(one), find(other)], level, comparison);
      if (of !== undefined) valuesOf.set(JSON.stringify([first, second]), of);
      return pair;
    },
    ciMethod: withTargets(isSize ? 'bootstrap over units' : methods.ciMethod, comparison),
    pValueMethod: methods.pValueMethod,
    isSigned: isSize,
    settings: comparison.settings,
  });
  const targetValues = valuesOf.get(JSON.stringify([difference.first, difference.second])) ?? [NaN, NaN];
  return { targets: comparison.targets, targetValues, difference };
}

const comparePair: ComparePairs = ([one, other], level, comparison) => {
  const { settings } = comparison;
  const reason = undefinedBy([one, other], comparison);
  if (reason !== null) return { n: 0, undefinedReason: reason };
  const common = commonUnits(one?.units, other?.units);
  const undefinedReason = whyNot(common, comparison);
  if (common === null || undefinedReason !== null) return { n: common?.n ?? 0, undefinedReason };
  const values = [one?.value ?? NaN, other?.value ?? NaN] as const;
  return estimate(common, values, { level, bound: common.step === null ? null : 2, settings });
};

const compareSizes: ComparePairs = ([one, other], level, comparison) => {
  const reason = undefinedBy([one, other], comparison);
  if (reason !== null) return { n: 0, undefinedReason: reason };
  const common = commonUnits(one?.units, other?.units);
  const undefinedReason = whyNot(common, comparison);
  if (common === null || undefinedReason !== null) return { n: common?.n ?? 0, undefinedReason };
  const { firsts, seconds, n } = common;
  const of = [Math.abs(meanOf(firsts)), Math.abs(meanOf(seconds))] as const;
  const ci = comparison.settings.withCi ? sizeInterval(firsts, seconds, level, comparison.settings.seed) : null;
  return { value: of[0] - of[1], ci, n, of };
};

/** Computes a percentile interval for the difference of the sizes of two means, with a bootstrap over units. */
function sizeInterval(
  firsts: readonly number[],
  seconds: readonly number[],
  level: number,
  seed: number,
): readonly [number, number] | null {
  const n = firsts.length;
  const random = createRandom(seed);
  const drawn = Float64Array.from({ length: RESAMPLES }, () => {
    let [one, other] = [0, 0];
    for (let draw = 0; draw < n; draw++) {
      const index = random.integer(n);
      one += firsts[index] as number;
      other += seconds[index] as number;
    }
    return (Math.abs(one) - Math.abs(other)) / n;
  }).sort();
  const interval = [quantileSorted(drawn, (1 - level) / 2), quantileSorted(drawn, (1 + level) / 2)] as const;
  return interval[1] > interval[0] ? interval : null;
}

interface Undefined {
  readonly reason: string | null;
  readonly values: readonly [number, number];
}

/** Computes the difference of a metric that does not compare values of a dimension. */
function unpairedDifference(
  { metric, evaluator, dimension }: Pick<LlmMetricResult, 'metric' | 'evaluator' | 'dimension'>,
  [one, other]: readonly [UnitValues | undefined, UnitValues | undefined],
  comparison: Comparison,
  { reason, values }: Undefined = { reason: null, values: [NaN, NaN] },
): RawDifference {
  const { settings } = comparison;
  const common = reason === null ? commonUnits(one, other) : null;
  const undefinedReason = reason ?? whyNot(common, comparison);
  const compared: ReturnType<ComparePairs> =
    common === null || undefinedReason !== null
      ? { n: common?.n ?? 0, undefinedReason }
      : estimate(common, values, { level: settings.ciLevel, bound: common.step === null ? null : 1, settings });
  const { of = [NaN, NaN], ...pair } = compared;
  const methods = methodsOf(one?.kind, one?.step ?? null);
  // A metric without values of a dimension is built like the metric of a single pair, but has no pairs.
  const built = largestPair({
    metric,
    evaluator,
    answers: { dimension: dimension ?? '', groups: ['first', 'second'], items: [], exclusions: {} },
    compare: () => pair,
    ciMethod: withTargets(methods.ciMethod, comparison),
    pValueMethod: methods.pValueMethod,
    settings,
  });
  const difference = Object.assign({}, built, { dimension, pairs: [], first: null, second: null }) as LlmMetricResult;
  return { targets: comparison.targets, targetValues: of, difference };
}

/** Returns the reason why the value of a target is undefined; null if both values are defined. */
function undefinedBy(
  values: readonly (Pick<PairComparison, 'undefinedReason'> | undefined)[],
  { targets }: Comparison,
): string | null {
  const reasons = values.flatMap((value, index) => {
    const reason = value === undefined ? 'the values are not compared' : value.undefinedReason;
    return reason === null ? [] : [{ target: targets[index] ?? '', reason }];
  });
  const [one, other] = reasons;
  if (one === undefined) return null;
  if (other?.reason === one.reason) return `undefined for both targets: ${one.reason}`;
  return reasons.map(({ target, reason }) => `undefined for ${target}: ${reason}`).join('; ');
}

function whyNot(common: CommonUnits | null, { settings }: Comparison): string | null {
  if (common === null) return 'the metric has no values by item, so the same items cannot be compared';
  const { n } = common;
  if (n === 0) return 'no item has answers of both targets';
  if (n >= settings.minGroupSize || settings.allowSmallSamples) return null;
  return `${String(n)} independent ${n === 1 ? 'item was' : 'items were'} answered by both targets, fewer than ${String(settings.minGroupSize)} (min_group_size)`;
}

/** The values of the units that both targets have, at the same index. */
interface CommonUnits extends Pick<UnitValues, 'kind' | 'step'> {
  readonly firsts: readonly number[];
  readonly seconds: readonly number[];
  readonly n: number;
}

/** Matches the values of two targets by item, and averages them over the items of each unit. */
function commonUnits(one: UnitValues | undefined, other: UnitValues | undefined): CommonUnits | null {
  if (one === undefined || other === undefined || one.kind !== other.kind) return null;
  // Pseudo-values of a single unit are not known.
  if (one.kind === 'jackknife' && one.values.length * other.values.length === 0) return null;
  const byItem = new Map(other.values.map((value) => [nameOf(value), value.value]));
  const both = one.values.flatMap((value) => {
    const second = byItem.get(nameOf(value));
    return second === undefined ? [] : [{ unit: value.unit, first: value.value, second }];
  });
  const units = [...groupBy(both, ({ unit }) => unit).values()];
  const steps = [one.step, other.step].flatMap((step) => step ?? []);
  // The step of a mean of several items is smaller than the step of one item.
  const perUnit = Math.max(1, both.length / Math.max(1, units.length));
  const isOfPrompts = one.values.some(({ prompt }) => prompt !== undefined);
  return {
    kind: one.kind,
    step: steps.length === 0 ? null : Math.min(...steps) / (isOfPrompts ? perUnit : 1),
    firsts: units.map((those) => meanOf(those.map(({ first }) => first))),
    seconds: units.map((those) => meanOf(those.map(({ second }) => second))),
    n: units.length,
  };
}

function nameOf({ unit, item }: UnitValue): string {
  return JSON.stringify([unit, item]);
}

interface EstimateOptions {
  readonly level: number;
  /** The largest size of a difference of rates; null for other measures. */
  readonly bound: number | null;
  readonly settings: ScoreSettings;
}

function estimate(
  { kind, firsts, seconds, step, n }: CommonUnits,
  values: readonly [number, number],
  { level, bound, settings }: EstimateOptions,
): ReturnType<ComparePairs> {
  const differences = firsts.map((first, index) => first - (seconds[index] as number));
  const of = kind === 'mean' ? ([meanOf(firsts), meanOf(seconds)] as const) : values;
  const plain = pairedMean(differences, { level });
  const bounded = bound !== null && step !== null ? pairedMean(differences, { level, bound, step }) : plain;
  const { standardError, degrees } = Number.isNaN(plain.standardError) ? bounded : plain;
  const value = kind === 'mean' ? plain.value : of[0] - of[1];
  const isKnown = !Number.isNaN(standardError);
  const nullMean = standardError * Math.sqrt(2 / Math.PI);
  return {
    value,
    ci: settings.withCi ? around(value, bounded, kind, level) : null,
    pValue: signFlipTest(differences, { samples: PERMUTATIONS, seed: settings.seed }),
    leastPValue: minSignFlip(n),
    n,
    of,
    ...(isKnown
      ? {
          standardError,
          degrees: finiteOrNull(degrees),
          nullMean,
          nullQuantile: twoSidedCritical(0.95, degrees) * standardError,
        }
      : {}),
  };
}

/** Centres an interval at the value. The mean of pseudo-values differs from the value by the bias of the statistic. */
function around(
  value: number,
  { interval, standardError, degrees }: PairedMean,
  kind: UnitValues['kind'],
  level: number,
): readonly [number, number] | null {
  if (kind === 'mean' || interval === null) return interval;
  const margin = twoSidedCritical(level, degrees) * standardError;
  return [value - margin, value + margin];
}

function methodsOf(
  kind: UnitValues['kind'] | undefined,
  step: number | null,
): { readonly ciMethod: string; readonly pValueMethod: string } {
  if (kind === 'jackknife') {
    return { ciMethod: 'paired jackknife t over units', pValueMethod: 'sign-flip permutation of pseudo-values' };
  }
  return {
    ciMethod: step === null ? 'paired t over units' : 'paired adjusted Wald (Bonett-Price) over units',
    pValueMethod: 'sign-flip permutation over units',
  };
}

function withTargets(method: string, { pairs }: Comparison): string {
  return pairs > 1 ? `${method}, bonferroni over ${String(pairs)} pairs of targets` : method;
}
