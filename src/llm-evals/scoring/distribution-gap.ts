import { createRandom } from '../../internal/random.ts';
import { countBy, groupBy } from '../../internal/values.ts';
import { distanceInterval, exchangeTest } from './answer-distance.ts';
import type { GroupRates } from '../../metrics/index.ts';
import type { Answered, DimensionAnswers } from './dimension-answers.ts';
import { type ComparedPair, largestPair } from './largest-pair.ts';
import type { LlmMetricResult, UnitValue } from './llm-metric-result.ts';
import type { AnswerFeature } from './paired-gap.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings, tooFew } from './score-settings.ts';

/** An interval of at most this width is treated as a single number, because its width is only a rounding error. */
const ROUNDING = 1e-12;

/** The feature values, or the labels, of the answers in one unit, for two values of the dimension. */
interface TwoSamples<Value extends number | string> {
  readonly unit: string;
  readonly first: readonly Value[];
  readonly second: readonly Value[];
}

/** Computes distances after items are resampled or their two values are exchanged. */
interface SampleDistances {
  /**
   * @param copies the number of times that each item counts
   * @param exchanged 1 for each item whose two values are exchanged, 0 for other items
   */
  of(copies: Int32Array, exchanged: Uint8Array): number;
}

/**
 * Computes the distance between the distributions of a feature for the values of a dimension. The distance is the
 * Wasserstein-1 distance between the feature values of all answers. Chance alone makes it larger than 0. The noise
 * floor is the mean distance after random exchanges of the two values within items. The same exchanges give the
 * p-value.
 */
export function distributionGap(
  evaluator: string,
  answers: DimensionAnswers,
  feature: AnswerFeature,
  settings: ScoreSettings,
): LlmMetricResult {
  return largestPair({
    metric: feature.metric,
    evaluator,
    answers,
    compare: (first, second, level) => {
      const samples = samplesOf(answers, first, second, (answer) => feature.of(answer));
      return compare(() => new ItemDistances(samples), { samples, level, max: Infinity, settings });
    },
    ...METHODS,
    settings,
  });
}

const METHODS = {
  ciMethod: 'bootstrap over items, percentile and reflected together',
  pValueMethod: 'permutation of the values of whole items',
};

/** A label of an answer. */
export interface AnswerLabel {
  /** The metric, for example `choice_distance`. */
  readonly metric: string;
  /** Returns the label of an answer, or null if it has none. */
  readonly of: (answer: Answered) => string | null;
  /** Returns the reason why an answer has no label. */
  readonly reasonOf: (answer: Answered) => string;
}

/**
 * Computes the distance between the distributions of labels for the values of a dimension. The distance is the total
 * variation distance: half the sum over labels of the absolute difference of their shares, from 0 to 1. It is the
 * largest difference in the share of any set of labels. Chance alone makes it larger than 0. The noise floor and the
 * p-value come from random exchanges of the two values within items, as in {@link distributionGap}.
 */
export function labelDistance(
  evaluator: string,
  answers: DimensionAnswers,
  label: AnswerLabel,
  settings: ScoreSettings,
): LlmMetricResult {
  const all = answers.items.flatMap(({ byGroup }) => [...byGroup.values()].flat());
  const unread = all.filter((answer) => label.of(answer) === null);
  const read = groupBy(
    all.filter((answer) => label.of(answer) !== null),
    ({ group }) => group ?? '',
  );
  return largestPair({
    metric: label.metric,
    evaluator,
    answers,
    compare: (first, second, level) => {
      const samples = samplesOf(answers, first, second, (answer) => label.of(answer));
      return compare(() => new LabelDistances(samples), { samples, level, max: 1, settings });
    },
    ...METHODS,
    perGroup: Object.fromEntries(
      answers.groups.map((group) => [group, sharesOf((read.get(group) ?? []).flatMap((each) => label.of(each) ?? []))]),
    ),
    nPerGroup: Object.fromEntries(answers.groups.map((group) => [group, read.get(group)?.length ?? 0])),
    exclusions: { ...answers.exclusions, ...countBy(unread, (answer) => label.reasonOf(answer)) },
    unread: countBy(unread, ({ group }) => group ?? ''),
    settings,
  });
}

/** The maximum number of labels whose shares a result lists. The most frequent labels are listed. */
const MAX_LABELS = 20;

function sharesOf(labels: readonly string[]): GroupRates {
  const listed = Object.entries(countBy(labels, (each) => each))
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_LABELS);
  return Object.fromEntries(listed.map(([each, count]) => [`share_of_${each}`, count / labels.length]));
}

function samplesOf<Value extends number | string>(
  { items }: DimensionAnswers,
  first: string,
  second: string,
  valueOf: (answer: Answered) => Value | null,
): TwoSamples<Value>[] {
  const both = items.flatMap(({ unit, byGroup }) => {
    const [a = [], b = []] = [first, second].map((group) =>
      (byGroup.get(group) ?? []).flatMap((each) => valueOf(each) ?? []),
    );
    return a.length > 0 && b.length > 0 ? [{ unit, first: a, second: b }] : [];
  });
  return [...groupBy(both, ({ unit }) => unit)].map(([unit, those]) => ({
    unit,
    first: those.flatMap((item) => item.first),
    second: those.flatMap((item) => item.second),
  }));
}

interface Comparing {
  readonly samples: readonly TwoSamples<number | string>[];
  readonly level: number;
  /** The maximum possible distance. */
  readonly max: number;
  readonly settings: ScoreSettings;
}

function compare(distancesOf: () => SampleDistances, { samples, level, max, settings }: Comparing): ComparedPair {
  const n = samples.length;
  const undefinedReason = tooFew(n, settings);
  if (undefinedReason !== null) return { n, undefinedReason };
  const distances = distancesOf();
  const once = new Int32Array(n).fill(1);
  const value = distances.of(once, new Uint8Array(n));
  const random = createRandom(settings.seed);
  const exchanged = new Uint8Array(n);
  const test = exchangeTest(value, PERMUTATIONS, () => {
    for (let item = 0; item < n; item++) exchanged[item] = random.next() < 0.5 ? 1 : 0;
    return distances.of(once, exchanged);
  });
  return {
    ...test,
    value,
    ci: settings.withCi ? intervalOf(distances, n, { level, max, settings }) : null,
    leastPValue: minSignFlip(n),
    n,
    noiseFloor: test.nullMean,
    units: { kind: 'jackknife', values: pseudoValues(samples, distances, value), step: null },
  };
}

/** Computes total variation distances of labels. */
class LabelDistances implements SampleDistances {
  readonly #labels: Int32Array;
  readonly #items: Int32Array;
  readonly #sides: Uint8Array;
  readonly #counts: readonly [Float64Array, Float64Array];

  constructor(samples: readonly TwoSamples<string>[]) {
    const codes = new Map<string, number>();
    const codeOf = (label: string): number => {
      const code = codes.get(label) ?? codes.size;
      codes.set(label, code);
      return code;
    };
    const entries = samples.flatMap(({ first, second }, item) => [
      ...first.map((label) => ({ code: codeOf(label), item, side: 0 })),
      ...second.map((label) => ({ code: codeOf(label), item, side: 1 })),
    ]);
    this.#labels = Int32Array.from(entries, ({ code }) => code);
    this.#items = Int32Array.from(entries, ({ item }) => item);
    this.#sides = Uint8Array.from(entries, ({ side }) => side);
    this.#counts = [new Float64Array(codes.size), new Float64Array(codes.size)];
  }

  of(copies: Int32Array, exchanged: Uint8Array): number {
    const [labels, items, sides, counts] = [this.#labels, this.#items, this.#sides, this.#counts];
    const totals: [number, number] = [0, 0];
    for (const count of counts) count.fill(0);
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as number;
      const side = ((sides[index] as number) ^ (exchanged[item] as number)) as 0 | 1;
      const copy = copies[item] as number;
      const code = labels[index] as number;
      counts[side][code] = (counts[side][code] as number) + copy;
      totals[side] += copy;
    }
    return counts[0].reduce(
      (sum, count, code) => sum + Math.abs(count / totals[0] - (counts[1][code] as number) / totals[1]) / 2,
      0,
    );
  }
}

/** Computes the jackknife pseudo-value of each unit. Returns an empty list for a single unit. */
function pseudoValues(
  samples: readonly TwoSamples<number | string>[],
  distances: SampleDistances,
  value: number,
): UnitValue[] {
  const n = samples.length;
  if (n < 2) return [];
  const asTheyAre = new Uint8Array(n);
  return samples.map(({ unit }, left) => {
    const copies = Int32Array.from({ length: n }, (_, index) => Number(index !== left));
    return { unit, item: unit, value: n * value - (n - 1) * distances.of(copies, asTheyAre) };
  });
}

/**
 * Computes Wasserstein-1 distances after items are resampled or their two values are exchanged. Sorts all feature
 * values only once.
 */
class ItemDistances implements SampleDistances {
  readonly #values: Float64Array;
  readonly #items: Int32Array;
  readonly #sides: Uint8Array;

  constructor(samples: readonly TwoSamples<number>[]) {
    const numbers = samples
      .flatMap(({ first, second }, item) => [
        ...first.map((value) => ({ value, item, side: 0 })),
        ...second.map((value) => ({ value, item, side: 1 })),
      ])
      .sort((a, b) => a.value - b.value);
    this.#values = Float64Array.from(numbers, ({ value }) => value);
    this.#items = Int32Array.from(numbers, ({ item }) => item);
    this.#sides = Uint8Array.from(numbers, ({ side }) => side);
  }

  /** Computes the area between the two distribution functions. It takes most of the time of an evaluation. */
  of(copies: Int32Array, exchanged: Uint8Array): number {
    const [values, items, sides] = [this.#values, this.#items, this.#sides];
    let all = 0;
    let ofSecond = 0;
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as number;
      const copy = copies[item] as number;
      all += copy;
      if (sides[index] !== exchanged[item]) ofSecond += copy;
    }
    const [stepUp, stepDown] = [1 / (all - ofSecond), 1 / ofSecond];
    let area = 0;
    let difference = 0;
    let before = values[0] as number;
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as number;
      const value = values[index] as number;
      area += Math.abs(difference) * (value - before);
      before = value;
      const copy = copies[item] as number;
      difference += sides[index] === exchanged[item] ? copy * stepUp : -(copy * stepDown);
    }
    return area;
  }
}

function intervalOf(
  distances: SampleDistances,
  items: number,
  { level, max, settings: { ciSamples, seed } }: Omit<Comparing, 'samples'>,
): readonly [number, number] | null {
  const indices = Float64Array.from({ length: items }, (_, index) => index);
  const asTheyAre = new Uint8Array(items);
  const copies = new Int32Array(items);
  const statistic = (drawn: Float64Array): number => {
    copies.fill(0);
    for (const index of drawn) copies[index] = (copies[index] as number) + 1;
    return distances.of(copies, asTheyAre);
  };
  const interval = distanceInterval(indices, statistic, max, { samples: ciSamples, level, seed });
  return interval[1] - interval[0] > ROUNDING ? interval : null;
}
