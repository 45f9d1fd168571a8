import { createRandom } from '../../internal/random.ts';
import { groupBy } from '../../internal/values.ts';
import { distanceInterval, exchangeTest } from './answer-distance.ts';
import type { DimensionAnswers } from './dimension-answers.ts';
import { type ComparedPair, largestPair } from './largest-pair.ts';
import type { LlmMetricResult, UnitValue } from './llm-metric-result.ts';
import type { AnswerFeature } from './paired-gap.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings, tooFew } from './score-settings.ts';

/** An interval of at most this width is treated as a single number, because its width is only a rounding error. */
const ROUNDING = 1e-12;

/** The feature values of the answers in one unit, for two values of the dimension. */
interface TwoSamples {
  readonly unit: string;
  readonly first: readonly number[];
  readonly second: readonly number[];
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
    compare: (first, second, level) => compare(samplesOf(answers, first, second, feature), level, settings),
    ciMethod: 'bootstrap over items, percentile and reflected together',
    pValueMethod: 'permutation of the values of whole items',
    settings,
  });
}

function samplesOf({ items }: DimensionAnswers, first: string, second: string, feature: AnswerFeature): TwoSamples[] {
  const both = items.flatMap(({ unit, byGroup }) => {
    const [a = [], b = []] = [first, second].map((group) =>
      (byGroup.get(group) ?? []).flatMap((each) => feature.of(each) ?? []),
    );
    return a.length > 0 && b.length > 0 ? [{ unit, first: a, second: b }] : [];
  });
  return [...groupBy(both, ({ unit }) => unit)].map(([unit, those]) => ({
    unit,
    first: those.flatMap((item) => item.first),
    second: those.flatMap((item) => item.second),
  }));
}

function compare(samples: readonly TwoSamples[], level: number, settings: ScoreSettings): ComparedPair {
  const n = samples.length;
  const undefinedReason = tooFew(n, settings);
  if (undefinedReason !== null) return { n, undefinedReason };
  const distances = new ItemDistances(samples);
  const once = new Int32Array(n).fill(1);
  const value = distances.of(once, new Uint8Array(n));
  const random = createRandom(settings.seed);
  const test = exchangeTest(value, PERMUTATIONS, () =>
    distances.of(
      once,
      Uint8Array.from(once, () => (random.next() < 0.5 ? 1 : 0)),
    ),
  );
  return {
    ...test,
    value,
    ci: settings.withCi ? intervalOf(distances, n, level, settings) : null,
    leastPValue: minSignFlip(n),
    n,
    noiseFloor: test.nullMean,
    units: { kind: 'jackknife', values: pseudoValues(samples, distances, value), step: null },
  };
}

/** Computes the jackknife pseudo-value of each unit. Returns an empty list for a single unit. */
function pseudoValues(samples: readonly TwoSamples[], distances: ItemDistances, value: number): UnitValue[] {
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
class ItemDistances {
  readonly #values: Float64Array;
  readonly #items: Int32Array;
  readonly #sides: Uint8Array;

  constructor(samples: readonly TwoSamples[]) {
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

  /**
   * Computes the area between the two distribution functions.
   * @param copies the number of times that each item counts
   * @param exchanged 1 for each item whose two values are exchanged, 0 for other items
   */
  of(copies: Int32Array, exchanged: Uint8Array): number {
    const [values, items, sides] = [this.#values, this.#items, this.#sides];
    const sideOf = (index: number, item: number): number => (sides[index] as number) ^ (exchanged[item] as number);
    const totals = [0, 0];
    items.forEach((item, index) => {
      const side = sideOf(index, item);
      totals[side] = (totals[side] as number) + (copies[item] as number);
    });
    const shares = totals.map((total) => 1 / total);
    let area = 0;
    let difference = 0;
    items.forEach((item, index) => {
      if (index > 0) area += Math.abs(difference) * ((values[index] as number) - (values[index - 1] as number));
      const side = sideOf(index, item);
      difference += (side === 0 ? 1 : -1) * (copies[item] as number) * (shares[side] as number);
    });
    return area;
  }
}

function intervalOf(
  distances: ItemDistances,
  items: number,
  level: number,
  { ciSamples, seed }: ScoreSettings,
): readonly [number, number] | null {
  const indices = Float64Array.from({ length: items }, (_, index) => index);
  const asTheyAre = new Uint8Array(items);
  const copies = new Int32Array(items);
  const statistic = (drawn: Float64Array): number => {
    copies.fill(0);
    for (const index of drawn) copies[index] = (copies[index] as number) + 1;
    return distances.of(copies, asTheyAre);
  };
  const interval = distanceInterval(indices, statistic, Infinity, { samples: ciSamples, level, seed });
  return interval[1] - interval[0] > ROUNDING ? interval : null;
}
