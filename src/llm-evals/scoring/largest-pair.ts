import { sumOf } from '../../internal/values.ts';
import { type DimensionAnswers, isInCluster, pairsOf } from './dimension-answers.ts';
import { llmMetric, type LlmMetricFields, type LlmMetricResult, type PairComparison } from './llm-metric-result.ts';
import { type AnswerCounts, missingAnswers } from './missing-answers.ts';
import type { ScoreSettings } from './score-settings.ts';

/** The statistics that a metric copies from the pair of values with the largest difference. */
type PairStatistics = Pick<
  LlmMetricFields,
  'standardError' | 'degrees' | 'noiseFloor' | 'nullMean' | 'nullQuantile' | 'leastPValue'
>;

/** A comparison of two values of a dimension. Missing statistics are null. */
export type ComparedPair = Pick<PairComparison, 'n'> & Partial<PairComparison & PairStatistics>;

/** The inputs for a metric that compares the values of a dimension. */
export interface PairMetric extends Pick<LlmMetricFields, 'metric' | 'evaluator'> {
  readonly answers: DimensionAnswers;
  /**
   * The pairs of values that are compared.
   * @defaultValue every pair of values
   */
  readonly comparisons?: readonly (readonly [first: string, second: string])[] | undefined;
  /** Compares two values. `level` is the confidence level of the interval for the pair. */
  readonly compare: (first: string, second: string, level: number) => ComparedPair;
  readonly ciMethod: string;
  readonly pValueMethod: string;
  readonly perGroup?: LlmMetricFields['perGroup'];
  /** The number of included answers for each value of the dimension. */
  readonly nPerGroup?: LlmMetricFields['nPerGroup'];
  /** @defaultValue null, not known */
  readonly units?: LlmMetricFields['units'];
  /**
   * The number of answers without a value, by value of the dimension.
   * @defaultValue none
   */
  readonly unread?: AnswerCounts | undefined;
  /** @defaultValue the exclusions of the answers */
  readonly exclusions?: LlmMetricFields['exclusions'];
  /**
   * Whether the largest signed value, instead of the largest absolute value, determines the pair. True for divergences,
   * because a divergence below 0 means no effect.
   */
  readonly isSigned?: boolean | undefined;
  readonly settings: ScoreSettings;
}

const UNKNOWN: Omit<PairComparison & PairStatistics, 'first' | 'second' | 'n'> = {
  ...{ value: NaN, ci: null, pValue: null, undefinedReason: null, standardError: null, degrees: null },
  ...{ noiseFloor: null, nullMean: null, nullQuantile: null, leastPValue: null },
};

/**
 * Returns the confidence level that the interval of each pair needs so that the intervals of all pairs hold
 * simultaneously (Bonferroni).
 */
function pairLevel(pairs: number, { ciLevel }: ScoreSettings): number {
  return 1 - (1 - ciLevel) / Math.max(1, pairs);
}

/**
 * Builds the metric of a dimension from the pair of values with the largest difference. The p-value is the smallest
 * p-value of the pairs, adjusted for the number of pairs (Bonferroni). The confidence level of the interval is chosen
 * so that the intervals of all pairs hold simultaneously.
 */
export function largestPair(given: PairMetric): LlmMetricResult {
  const { metric, evaluator, answers, settings, perGroup = {}, nPerGroup = {}, isSigned = false } = given;
  const { exclusions = answers.exclusions } = given;
  const compared = given.comparisons ?? pairsOf(answers.groups);
  const level = pairLevel(compared.length, settings);
  const pairs = compared.map(([first, second]) => ({
    ...{ ...UNKNOWN, first, second },
    ...given.compare(first, second, level),
  }));
  const defined = pairs.filter(({ undefinedReason }) => undefinedReason === null);
  const size = ({ value }: FullPair): number => (isSigned ? value : Math.abs(value));
  const largest = [...defined].sort((a, b) => size(b) - size(a))[0];
  const clearest = [...defined].sort((a, b) => (a.pValue ?? 2) - (b.pValue ?? 2) || size(b) - size(a))[0];
  const pValue = clearest?.pValue ?? null;
  const ci = largest?.ci ?? null;
  const { missing, warnings } = missingAnswers(answers, given.unread ?? {}, settings.seed);
  const isControl = answers.dimension === settings.controlDimension;
  return llmMetric({
    metric,
    evaluator,
    dimension: answers.dimension,
    value: largest?.value ?? NaN,
    undefinedReason: largest === undefined ? reasonOf(pairs) : null,
    ci,
    ciLevel: ci === null ? null : settings.ciLevel,
    ciMethod: ci === null ? null : withPairs(methodName(given.ciMethod, answers), pairs.length),
    pValue: pValue === null ? null : Math.min(1, pairs.length * pValue),
    pValueMethod: pValue === null ? null : withPairs(methodName(given.pValueMethod, answers), pairs.length),
    ...statisticsOf(largest ?? UNKNOWN),
    leastPValue: minOf(defined, pairs.length),
    n: largest?.n ?? Math.max(0, ...pairs.map(({ n }) => n)),
    nPerGroup,
    perGroup,
    excluded: largest === undefined ? {} : uncompared(pairs, nPerGroup),
    exclusions,
    first: largest?.first ?? null,
    second: largest?.second ?? null,
    nDropped: sumOf(Object.values(exclusions)),
    pairs: pairs.map(comparisonOf),
    units: given.units ?? null,
    missing,
    warnings: [...(isControl ? [CONTROL_WARNING] : []), ...warnings, ...pairWarnings(largest, clearest, settings)],
    seed: settings.seed,
  });
}

/** Returns the name of a method. With clusters, it works over clusters instead of items. */
function methodName(method: string, { items }: DimensionAnswers): string {
  return items.some(isInCluster) ? method.replace(/(?<=over |whole )items/, 'clusters') : method;
}

const CONTROL_WARNING = 'This dimension is the control. It should make no difference and does not count as a finding.';

type FullPair = PairComparison & PairStatistics;
type Statistics = Omit<PairStatistics, 'leastPValue'>;

function statisticsOf({ noiseFloor, nullMean, nullQuantile, standardError, degrees }: Statistics): Statistics {
  return { noiseFloor, nullMean, nullQuantile, standardError, degrees };
}

function comparisonOf({ first, second, value, ci, pValue, n, undefinedReason, units }: PairComparison): PairComparison {
  return { first, second, value, ci, pValue, n, undefinedReason, ...(units === undefined ? {} : { units }) };
}

/** Returns the values that could be compared with no other one, with the reason. */
function uncompared(pairs: readonly FullPair[], nPerGroup: LlmMetricFields['nPerGroup']): LlmMetricFields['excluded'] {
  const ends = (those: readonly FullPair[]): string[] => those.flatMap(({ first, second }) => [first, second]);
  const compared = new Set(ends(pairs.filter(({ undefinedReason }) => undefinedReason === null)));
  return Object.fromEntries(
    [...new Set(ends(pairs))]
      .filter((value) => !compared.has(value))
      .map((value) => {
        const own = pairs.filter(({ first, second }) => first === value || second === value);
        return [value, { n: nPerGroup[value] ?? 0, reason: reasonOf(own), numerator: null, denominator: null }];
      }),
  );
}

function minOf(pairs: readonly FullPair[], count: number): number | null {
  const min = pairs.flatMap(({ leastPValue }) => leastPValue ?? []);
  return min.length === 0 ? null : Math.min(1, count * Math.min(...min));
}

function reasonOf(pairs: readonly FullPair[]): string {
  if (pairs.length === 0) return 'only one value has answers, so there is nothing to compare';
  return [...new Set(pairs.map(({ undefinedReason }) => undefinedReason ?? ''))].join('; ');
}

function withPairs(method: string, pairs: number): string {
  return pairs > 1 ? `${method}, bonferroni over ${String(pairs)} pairs` : method;
}

function pairWarnings(
  largest: FullPair | undefined,
  clearest: FullPair | undefined,
  { minGroupSize }: ScoreSettings,
): string[] {
  if (largest === undefined || clearest === undefined) return [];
  const isOther = largest !== clearest && (largest.pValue ?? 1) > (clearest.pValue ?? 1);
  const few = `Only ${String(largest.n)} independent ${largest.n === 1 ? 'item' : 'items'}: too few for a reliable value.`;
  const other = `The value is from ${largest.first} and ${largest.second}, which differ most. The p-value is from ${clearest.first} and ${clearest.second} (${clearest.value.toPrecision(3)}), which have the smallest p-value.`;
  return [...(largest.n < minGroupSize ? [few] : []), ...(isOther ? [other] : [])];
}
