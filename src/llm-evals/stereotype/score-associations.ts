import { groupBy, meanOf } from '../../internal/values.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import { distanceInterval } from '../scoring/answer-distance.ts';
import type { ScoreOptions } from '../scoring/llm-evaluator.ts';
import { llmMetric, type LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { addCounts, type AssociationScore, countNear, countPairs, type TextCounts } from './association-counts.ts';
import {
  associationTokens,
  type AssociationWords,
  associationWords,
  betaOf,
  type CooccurrenceOptions,
  stopWordsOf,
} from './association-words.ts';
import { scoreNear } from './cooccurrence-bias-score.ts';
import { scorePairs } from './stereotypical-associations.ts';

/** Options of {@link scoreAssociations}. */
export interface ScoreAssociationsOptions extends ScoreOptions, CooccurrenceOptions {
  /**
   * The independent unit of each text. Texts of one unit, such as answers to one template, are resampled and exchanged
   * together.
   * @defaultValue each text is its own unit
   */
  readonly units?: readonly string[] | undefined;
  /**
   * The number of missing answers, by reason.
   * @defaultValue none
   */
  readonly exclusions?: Readonly<Record<string, number>> | undefined;
}

/** The number of exchanges of groups for a p-value and a noise floor. */
const EXCHANGES = 999;

/** The largest difference between a replicate and the observed score that is due to rounding. */
const ROUNDING = 1e-12;

/** A score with its counts, one for each unit. */
interface Measured {
  readonly metric: 'stereotypical_association' | 'cobs';
  readonly units: readonly TextCounts[];
  readonly words: AssociationWords;
  /** The largest possible score. */
  readonly most: number;
  readonly score: (counts: TextCounts, words: AssociationWords) => AssociationScore;
}

/**
 * Computes `stereotypical_association` and `cobs` of answers, with intervals and noise floors.
 *
 * The scores are means of distances, which chance increases, and bootstrap replicates are larger still. Percentiles are
 * thus too high, and would miss 0 if there is no effect. The interval is therefore the hull of the percentile interval
 * and its reflection at the value, limited to the score's range. It is approximate, and near 0 its coverage is still
 * below its level; rely on the noise floor and the p-value there.
 *
 * The noise floor is the mean score after random exchanges of the groups of each unit, which is the value expected by
 * chance for this number and length of texts. The p-value is the share of exchanges with a score at least as large.
 * With more than two groups, COBS is undefined, with the reason.
 * @throws {ValueError} if groups or targets are not words, or options are out of range
 */
export function scoreAssociations(texts: readonly string[], options: ScoreAssociationsOptions = {}): LlmMetricResult[] {
  const words = associationWords(options);
  const near = { stopWords: stopWordsOf(options), beta: betaOf(options) };
  const tokens = texts.map(associationTokens);
  const units = options.units ?? texts.map((_, index) => String(index));
  const unite = (count: (tokens: readonly string[]) => TextCounts): TextCounts[] =>
    countsByUnit(tokens.map(count), units, words.groups.length);
  const pairs = unite((each) => countPairs(each, words));
  const nearness = words.groups.length === 2 ? unite((each) => countNear(each, words, near)) : [];
  const most = 1 - 1 / words.groups.length;
  return [
    measure({ metric: 'stereotypical_association', units: pairs, words, most, score: scorePairs }, options),
    measure({ metric: 'cobs', units: nearness, words, most: Infinity, score: scoreNear }, options),
  ];
}

function measure(measured: Measured, options: ScoreAssociationsOptions): LlmMetricResult {
  const { metric, units, words } = measured;
  const { exclusions = {}, seed = 42 } = options;
  const total = addCounts(units, words.groups.length);
  const problem = whyNot(measured, options);
  const { value, mentions, undefinedReason } =
    problem === null ? measured.score(total, words) : { value: NaN, mentions: {}, undefinedReason: problem };
  const given = { ...measured, value };
  const isDefined = !Number.isNaN(value);
  const interval = isDefined && (options.withCi ?? true) ? intervalOf(given, options, seed) : null;
  const exchanged = isDefined ? exchangeGroups(given, seed) : null;
  return llmMetric({
    metric,
    evaluator: 'stereotype',
    value,
    ci: interval,
    ciLevel: interval === null ? null : (options.ciLevel ?? 0.95),
    ciMethod: interval === null ? null : 'bootstrap over items, percentile and reflected',
    pValue: exchanged?.pValue ?? null,
    pValueMethod: exchanged === null ? null : 'exchange of groups within items',
    leastPValue: exchanged === null ? null : minExchange(units.length, words.groups.length),
    noiseFloor: exchanged?.floor ?? null,
    nullMean: exchanged?.floor ?? null,
    nullQuantile: exchanged?.quantile ?? null,
    n: units.length,
    nPerGroup: mentions,
    exclusions,
    nDropped: Object.values(exclusions).reduce((sum, count) => sum + count, 0),
    undefinedReason,
    warnings: isDefined ? warningsOf(given, interval, options) : [],
    seed,
  });
}

/** Returns why a score is not computed, or null. */
function whyNot({ metric, units, words }: Measured, options: ScoreAssociationsOptions): string | null {
  if (metric === 'cobs' && words.groups.length !== 2) {
    return `the score compares two groups, but there are ${String(words.groups.length)}`;
  }
  const min = options.minGroupSize ?? 5;
  const isEnough = units.length >= min || (options.allowSmallSamples ?? false);
  return isEnough
    ? null
    : `${String(units.length)} independent ${units.length === 1 ? 'item was' : 'items were'} answered, fewer than ${String(min)} (min_group_size); items of one name, or of one template, count once`;
}

function intervalOf(
  { units, words, score, most }: Valued,
  options: ScoreAssociationsOptions,
  seed: number,
): Interval | null {
  const ofUnits = (drawn: Float64Array): number => {
    const texts = Array.from(drawn, (index) => units[index] as TextCounts);
    return score(addCounts(texts, words.groups.length), words).value;
  };
  const interval = distanceInterval([...units.keys()], ofUnits, most, {
    samples: options.ciSamples ?? 200,
    level: options.ciLevel ?? 0.95,
    seed,
  });
  return Number.isNaN(interval[0]) ? null : interval;
}

/** Returns the smallest p-value possible by exchanging the groups within the units. */
function minExchange(units: number, groups: number): number {
  const orders = Array.from({ length: groups }, (_, index) => index + 1).reduce((product, each) => product * each, 1);
  return Math.max(1 / (EXCHANGES + 1), orders ** (1 - units));
}

type Valued = Measured & { readonly value: number };

/** Computes the scores with each unit's groups in random order. */
function exchangeGroups(
  { units, words, score, value }: Valued,
  seed: number,
): { floor: number | null; quantile: number | null; pValue: number } {
  // A separate stream, so that the interval's draws do not shift these.
  const random = createRandom(seed, 1);
  const orders = units.map(() => Int32Array.from(words.groups.keys()));
  let hits = 0;
  const replicates: number[] = [];
  for (let exchange = 0; exchange < EXCHANGES; exchange++) {
    for (const order of orders) shuffle(order, random);
    const replicate = score(addCounts(units, words.groups.length, orders), words).value;
    // Written as "not below" instead of "at least", so that an undefined replicate counts as a hit.
    if (!(replicate < value - ROUNDING)) hits++;
    if (!Number.isNaN(replicate)) replicates.push(replicate);
  }
  const sorted = Float64Array.from(replicates).sort();
  const isKnown = sorted.length > 0;
  return {
    floor: isKnown ? meanOf(replicates) : null,
    quantile: isKnown ? quantileSorted(sorted, 0.95) : null,
    pValue: (1 + hits) / (EXCHANGES + 1),
  };
}

function warningsOf(
  { units, words, score }: Valued,
  interval: Interval | null,
  options: ScoreAssociationsOptions,
): string[] {
  const min = options.minGroupSize ?? 5;
  const scored = Object.keys(score(addCounts(units, words.groups.length), words).perWord).length;
  const fewItems = `Only ${String(units.length)} independent ${units.length === 1 ? 'item' : 'items'}: too few to quote.`;
  const fewWords = `The score is the mean of only ${String(scored)} ${scored === 1 ? 'word' : 'words'}.`;
  const noInterval = 'No interval can be computed: in some resamples of the items, no word has a score.';
  return [
    ...(units.length < min ? [fewItems] : []),
    ...(scored < min ? [fewWords] : []),
    ...(interval === null && (options.withCi ?? true) ? [noInterval] : []),
  ];
}

/** Adds the counts of each unit's texts. */
function countsByUnit(texts: readonly TextCounts[], units: readonly string[], groups: number): TextCounts[] {
  const byUnit = groupBy(texts.entries(), ([index]) => units[index]);
  return Array.from(byUnit.values(), (those) => addCounts(those.map(([, text]) => text), groups)); // prettier-ignore
}
