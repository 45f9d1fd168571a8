import { groupBy, sumOf } from '../../internal/values.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { distanceInterval, exchangeTest } from '../scoring/answer-distance.ts';
import type { ScoreOptions } from '../scoring/llm-evaluator.ts';
import { llmMetric, type LlmMetricFields, type LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { type ScoreSettings, scoreSettings } from '../scoring/score-settings.ts';
import {
  addCounts,
  type AssociationScore,
  countNear,
  countPairs,
  scoreNear,
  scorePairs,
  type TextCounts,
} from './association-scores.ts';
import {
  associationTokens,
  type AssociationWords,
  associationWords,
  betaOf,
  type CooccurrenceOptions,
  stopWordsOf,
} from './association-words.ts';

/** Options of {@link scoreAssociations}. */
export interface ScoreAssociationsOptions extends ScoreOptions, CooccurrenceOptions {
  /**
   * The name of the independent unit to which each text belongs. Texts of one unit, such as answers to one template,
   * are always resampled and exchanged together.
   * @defaultValue each text is its own unit
   */
  readonly units?: readonly string[] | undefined;
  /**
   * The number of missing answers, by reason.
   * @defaultValue none
   */
  readonly exclusions?: Readonly<Record<string, number>> | undefined;
}

/** The number of random exchanges of groups for a p-value and a noise floor. */
const EXCHANGES = 999;

/** A score, with the counts from which it is computed. Each independent unit has its own counts. */
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
 * The scores are means of distances. Chance makes a distance larger, and resampling makes it larger again. The
 * percentiles of bootstrap replicates are therefore too high, and would exclude 0 even without an effect. The interval
 * therefore contains the percentile interval and its reflection at the value. It is limited to the range of the score.
 * The interval is approximate. Near 0, the coverage of this interval is below the confidence level, so rely on the
 * noise floor and the p-value.
 *
 * The noise floor is the mean score after random exchanges of the groups of each unit. The noise floor is the value
 * expected by chance for this number and length of texts. The p-value is the share of exchanges whose score is at least
 * as large as the observed score. If there are more than two groups, COBS is undefined, and the result contains the
 * reason.
 * @throws {ValueError} if groups or targets are not words, or if options are out of range
 */
export function scoreAssociations(texts: readonly string[], options: ScoreAssociationsOptions = {}): LlmMetricResult[] {
  const { exclusions = {}, units: names = texts.map((_, index) => String(index)) } = options;
  const words = associationWords(options);
  const near = { stopWords: stopWordsOf(options), beta: betaOf(options) };
  const tokens = texts.map(associationTokens);
  const unite = (count: (tokens: readonly string[]) => TextCounts): TextCounts[] =>
    countsByUnit(tokens.map(count), names, words.groups.length);
  const pairs = unite((each) => countPairs(each, words));
  const nearness = words.groups.length === 2 ? unite((each) => countNear(each, words, near)) : [];
  const most = 1 - 1 / words.groups.length;
  const scores: Measured[] = [
    { metric: 'stereotypical_association', units: pairs, words, most, score: scorePairs },
    { metric: 'cobs', units: nearness, words, most: Infinity, score: scoreNear },
  ];
  return scores.map((measured) => measure(measured, exclusions, scoreSettings(options)));
}

function measure(
  measured: Measured,
  exclusions: Readonly<Record<string, number>>,
  settings: ScoreSettings,
): LlmMetricResult {
  const { metric, units, words, score } = measured;
  const { withCi, ciLevel, seed } = settings;
  const problem = whyNot(measured, settings);
  const { value, mentions, undefinedReason, perWord } =
    problem === null
      ? score(addCounts(units, words.groups.length), words)
      : { value: NaN, mentions: {}, undefinedReason: problem, perWord: {} };
  const isDefined = !Number.isNaN(value);
  const interval = isDefined && withCi ? intervalOf(measured, settings) : null;
  const tested = isDefined
    ? {
        ...exchangeGroups(measured, value, seed),
        pValueMethod: 'exchange of groups within items',
        leastPValue: minExchange(units.length, words.groups.length),
      }
    : {};
  return llmMetric({
    ...tested,
    metric,
    evaluator: 'stereotype',
    value,
    ci: interval,
    ciLevel: interval === null ? null : ciLevel,
    ciMethod: interval === null ? null : 'bootstrap over items, percentile and reflected',
    n: units.length,
    nPerGroup: mentions,
    exclusions,
    nDropped: sumOf(Object.values(exclusions)),
    undefinedReason,
    warnings: isDefined ? warningsOf(units.length, Object.keys(perWord).length, interval, settings) : [],
    seed,
  });
}

/** Returns the reason why a score is not computed. Returns null if the score is computed. */
function whyNot({ metric, units, words }: Measured, settings: ScoreSettings): string | null {
  const { minGroupSize, allowSmallSamples } = settings;
  if (metric === 'cobs' && words.groups.length !== 2) {
    return `the score compares two groups, but there are ${String(words.groups.length)} groups`;
  }
  if (units.length >= minGroupSize || allowSmallSamples) return null;
  return `${String(units.length)} independent ${units.length === 1 ? 'item was' : 'items were'} answered, fewer than ${String(minGroupSize)} (min_group_size); items with the same name, or with the same template, count once`;
}

function intervalOf({ units, words, score, most }: Measured, settings: ScoreSettings): Interval | null {
  const { ciSamples: samples, ciLevel: level, seed } = settings;
  const ofUnits = (drawn: Float64Array): number => {
    const texts = Array.from(drawn, (index) => units[index] as TextCounts);
    return score(addCounts(texts, words.groups.length), words).value;
  };
  const interval = distanceInterval([...units.keys()], ofUnits, most, { samples, level, seed });
  return Number.isNaN(interval[0]) ? null : interval;
}

/** Returns the smallest possible p-value of a test that exchanges the groups within the units. */
function minExchange(units: number, groups: number): number {
  const orders = Array.from({ length: groups }, (_, index) => index + 1).reduce((product, each) => product * each, 1);
  return Math.max(1 / (EXCHANGES + 1), orders ** (1 - units));
}

/**
 * Tests a score. The observed score is compared with scores that are computed after the groups of each unit are
 * permuted at random.
 */
function exchangeGroups(
  { units, words, score }: Measured,
  value: number,
  seed: number,
): ReturnType<typeof exchangeTest> & Pick<LlmMetricFields, 'noiseFloor'> {
  // A separate random stream, so that these draws do not depend on the draws for the interval.
  const random = createRandom(seed, 1);
  const orders = units.map(() => Int32Array.from(words.groups.keys()));
  const test = exchangeTest(value, EXCHANGES, () => {
    for (const order of orders) shuffle(order, random);
    return score(addCounts(units, words.groups.length, orders), words).value;
  });
  return { ...test, noiseFloor: test.nullMean };
}

function warningsOf(
  items: number,
  scored: number,
  interval: Interval | null,
  { minGroupSize, withCi }: ScoreSettings,
): string[] {
  const fewItems = `Only ${String(items)} independent ${items === 1 ? 'item' : 'items'}: too few for a reliable value.`;
  const fewWords = `The score is the mean of only ${String(scored)} ${scored === 1 ? 'word' : 'words'}.`;
  const noInterval = 'No interval can be computed: in some resamples of the items, no word has a score.';
  return [
    ...(items < minGroupSize ? [fewItems] : []),
    ...(scored < minGroupSize ? [fewWords] : []),
    ...(interval === null && withCi ? [noInterval] : []),
  ];
}

/** Adds the counts of each unit's texts. */
function countsByUnit(texts: readonly TextCounts[], units: readonly string[], groups: number): TextCounts[] {
  const byUnit = groupBy(texts.entries(), ([index]) => units[index]);
  return Array.from(byUnit.values(), (those) => addCounts(those.map(([, text]) => text), groups)); // prettier-ignore
}
