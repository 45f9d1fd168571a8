import type { GroupRates } from '../../metrics/index.ts';
import type { DimensionAnswers } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult, type PairComparison } from './llm-metric-result.ts';
import type { ScoreSettings } from './score-settings.ts';

/** A comparison of two values of a dimension, with the statistics that the metric needs. */
export interface ComparedPair extends PairComparison {
  readonly standardError: number | null;
  readonly degrees: number | null;
  readonly noiseFloor: number | null;
  readonly nullMean: number | null;
  readonly nullQuantile: number | null;
  /** The smallest p-value possible with data of this size. */
  readonly leastPValue: number | null;
}

/** The inputs of a metric from the comparisons of a dimension's values. */
export interface PairMetric {
  readonly metric: string;
  readonly evaluator: string;
  readonly answers: DimensionAnswers;
  readonly pairs: readonly ComparedPair[];
  readonly ciMethod: string;
  readonly pValueMethod: string;
  readonly perGroup: Readonly<Record<string, GroupRates>>;
  /** The number of included answers, by value. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  readonly exclusions: Readonly<Record<string, number>>;
  /**
   * Whether the metric takes the pair with the largest value instead of the largest size. True for divergences, which
   * mean no effect below 0.
   */
  readonly isSigned?: boolean | undefined;
  readonly settings: ScoreSettings;
}

/** The fields of a pair that cannot be compared. */
export const UNDEFINED: Omit<ComparedPair, 'first' | 'second' | 'n' | 'undefinedReason'> = {
  value: NaN,
  ci: null,
  pValue: null,
  standardError: null,
  degrees: null,
  noiseFloor: null,
  nullMean: null,
  nullQuantile: null,
  leastPValue: null,
};

/** Returns the level of each pair's interval that makes the intervals of all pairs hold simultaneously. */
export function pairLevel(pairs: number, { ciLevel }: ScoreSettings): number {
  return 1 - (1 - ciLevel) / Math.max(1, pairs);
}

/**
 * Builds the metric of a dimension from its largest comparison. The p-value is that of any of the pairs (Bonferroni),
 * and the interval holds for all pairs simultaneously.
 */
export function largestPair(given: PairMetric): LlmMetricResult {
  const { metric, evaluator, answers, pairs, settings, exclusions, perGroup, nPerGroup, isSigned = false } = given;
  const defined = pairs.filter(({ undefinedReason }) => undefinedReason === null);
  const size = ({ value }: ComparedPair): number => (isSigned ? value : Math.abs(value));
  const largest = [...defined].sort((a, b) => size(b) - size(a))[0];
  const clearest = [...defined].sort((a, b) => (a.pValue ?? 2) - (b.pValue ?? 2) || size(b) - size(a))[0];
  const pValue = clearest?.pValue ?? null;
  const ci = largest?.ci ?? null;
  const isControl = answers.dimension === settings.controlDimension;
  return llmMetric({
    metric,
    evaluator,
    dimension: answers.dimension,
    value: largest?.value ?? NaN,
    undefinedReason: largest === undefined ? reasonOf(pairs) : null,
    ci,
    ciLevel: ci === null ? null : settings.ciLevel,
    ciMethod: ci === null ? null : withPairs(given.ciMethod, pairs.length),
    pValue: pValue === null ? null : Math.min(1, pairs.length * pValue),
    pValueMethod: pValue === null ? null : withPairs(given.pValueMethod, pairs.length),
    leastPValue: minOf(defined, pairs.length),
    noiseFloor: largest?.noiseFloor ?? null,
    nullMean: largest?.nullMean ?? null,
    nullQuantile: largest?.nullQuantile ?? null,
    standardError: largest?.standardError ?? null,
    degrees: largest?.degrees ?? null,
    n: largest?.n ?? Math.max(0, ...pairs.map(({ n }) => n)),
    nPerGroup,
    perGroup,
    exclusions,
    first: largest?.first ?? null,
    second: largest?.second ?? null,
    nDropped: Object.values(exclusions).reduce((sum, count) => sum + count, 0),
    pairs: pairs.map(({ first, second, value, ci: own, pValue: ownP, n, undefinedReason }) => ({
      first,
      second,
      value,
      ci: own,
      pValue: ownP,
      n,
      undefinedReason,
    })),
    warnings: [
      ...(isControl
        ? ['This dimension is the control. It should make no difference and does not count as a finding.']
        : []),
      ...pairWarnings(largest, clearest, settings),
    ],
    seed: settings.seed,
  });
}

function minOf(pairs: readonly ComparedPair[], count: number): number | null {
  const min = pairs.flatMap(({ leastPValue: minPValue }) => minPValue ?? []);
  return min.length === 0 ? null : Math.min(1, count * Math.min(...min));
}

function reasonOf(pairs: readonly ComparedPair[]): string {
  if (pairs.length === 0) return 'only one value has answers, so there is nothing to compare';
  return [...new Set(pairs.map(({ undefinedReason }) => undefinedReason ?? ''))].join('; ');
}

function withPairs(method: string, pairs: number): string {
  return pairs > 1 ? `${method}, bonferroni over ${String(pairs)} pairs` : method;
}

function pairWarnings(
  largest: ComparedPair | undefined,
  clearest: ComparedPair | undefined,
  { minGroupSize }: ScoreSettings,
): string[] {
  if (largest === undefined || clearest === undefined) return [];
  const isOther = largest !== clearest && (largest.pValue ?? 1) > (clearest.pValue ?? 1);
  const few = `Only ${String(largest.n)} independent ${largest.n === 1 ? 'item' : 'items'}: too few to quote.`;
  return [
    ...(largest.n < minGroupSize ? [few] : []),
    ...(isOther
      ? [
          `The value is that of ${largest.first} and ${largest.second}, which differ most; the p-value is that of ${clearest.first} and ${clearest.second} (${clearest.value.toPrecision(3)}), whose p-value is smallest.`,
        ]
      : []),
  ];
}
