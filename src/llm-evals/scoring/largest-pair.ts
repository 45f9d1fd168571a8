import type { GroupRates } from '../../metrics/index.ts';
import type { DimensionAnswers } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult, type PairComparison } from './llm-metric-result.ts';
import type { ScoreSettings } from './score-settings.ts';

/** A comparison of two values of a dimension, and what only the metric needs of it. */
export interface ComparedPair extends PairComparison {
  readonly standardError: number | null;
  readonly degrees: number | null;
  readonly noiseFloor: number | null;
  readonly nullMean: number | null;
  readonly nullQuantile: number | null;
  /** The least p value that data of this size can have. */
  readonly leastPValue: number | null;
}

/** What makes a metric of the comparisons of a dimension's values. */
export interface PairMetric {
  readonly metric: string;
  readonly evaluator: string;
  readonly answers: DimensionAnswers;
  readonly pairs: readonly ComparedPair[];
  readonly ciMethod: string;
  readonly pValueMethod: string;
  readonly perGroup: Readonly<Record<string, GroupRates>>;
  /** Answers that took part, by value. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  readonly exclusions: Readonly<Record<string, number>>;
  /** Whether the pair of the largest value is meant, not of the largest size: for divergences, of which less than 0 is nothing. */
  readonly isSigned?: boolean | undefined;
  readonly settings: ScoreSettings;
}

/** What a pair has that cannot be compared. */
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

/** The level of each pair's interval, so that those of all pairs hold together. */
export function pairLevel(pairs: number, { ciLevel }: ScoreSettings): number {
  return 1 - (1 - ciLevel) / Math.max(1, pairs);
}

/**
 * The metric of a dimension: its largest comparison. Its p value is that
 * of any of the pairs (Bonferroni), and its interval holds for all pairs together.
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
    leastPValue: leastOf(defined, pairs.length),
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
        ? ['This dimension is the control: it should make no difference, and is not counted as a finding.']
        : []),
      ...pairWarnings(largest, clearest, settings),
    ],
    seed: settings.seed,
  });
}

function leastOf(pairs: readonly ComparedPair[], count: number): number | null {
  const least = pairs.flatMap(({ leastPValue }) => leastPValue ?? []);
  return least.length === 0 ? null : Math.min(1, count * Math.min(...least));
}

function reasonOf(pairs: readonly ComparedPair[]): string {
  if (pairs.length === 0) return 'answers of one value only: there is nothing to compare';
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
          `The value is that of ${largest.first} and ${largest.second}, which differ most; the p value is that of ${clearest.first} and ${clearest.second} (${clearest.value.toPrecision(3)}), whose difference is surest.`,
        ]
      : []),
  ];
}
