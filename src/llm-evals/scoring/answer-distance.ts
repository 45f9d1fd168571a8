import { meanOf } from '../../internal/values.ts';
import { bootstrapCi, type BootstrapOptions, type BootstrapStatistic } from '../../stats/bootstrap/bootstrap-ci.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import type { Answered } from './dimension-answers.ts';

/** A distance between two answers. */
export interface AnswerDistance {
  /** The metric, for example `rouge_l_excess`. */
  readonly metric: string;
  /** Returns the part of an answer that is compared. */
  readonly textOf: (answer: Answered) => string;
  /** Computes the distance between two texts. The distance is symmetric, and 0 for equal texts. */
  readonly between: (first: string, second: string) => number;
}

/**
 * The maximum number of answers to one prompt that are compared. Further answers are ignored: they add little
 * information, and the cost grows with the square of their number.
 */
const MAX_REPEATS = 10;

/** Returns the texts of the answers to a prompt that are compared. */
export function comparedTexts(answers: readonly Answered[], { textOf }: AnswerDistance): string[] {
  return answers.slice(0, MAX_REPEATS).map(textOf);
}

/**
 * Computes an approximate interval for a distance, whose lower end is at least 0. Resampling increases a distance, so
 * quantiles near 0 are too high, and quantiles reflected at the observed value are too low. The interval contains the
 * percentile interval and the interval of the reflected quantiles.
 * @param most the maximum possible distance
 * @returns [NaN, NaN] if the distance is undefined for one of the replicates
 */
export function distanceInterval(
  units: ArrayLike<number>,
  statistic: BootstrapStatistic,
  most: number,
  options: BootstrapOptions,
): Interval {
  const value = statistic(Float64Array.from(units));
  const [low, high] = bootstrapCi(units, statistic, options);
  return [Math.max(0, Math.min(low, 2 * value - high)), Math.min(most, Math.max(high, 2 * value - low))];
}

/** The tolerance for rounding errors when a replicate is compared with the observed distance. */
const ROUNDING = 1e-12;

/**
 * The result of a test of a distance. The mean and the 95th percentile of the replicates are null if no replicate is
 * defined.
 */
interface ExchangeTest {
  readonly pValue: number;
  readonly nullMean: number | null;
  readonly nullQuantile: number | null;
}

/**
 * Tests whether a distance is larger than by chance, with random exchanges of the groups. The p-value is the share of
 * exchanges whose distance is at least as large as the observed distance.
 * @param exchange a function that exchanges the groups at random and returns the distance
 */
export function exchangeTest(observed: number, exchanges: number, exchange: () => number): ExchangeTest {
  const replicates = Array.from({ length: exchanges }, exchange);
  // The condition is "not below" instead of "at least", so that it is also true for an undefined replicate.
  const hits = replicates.filter((replicate) => !(replicate < observed - ROUNDING)).length;
  const pValue = (1 + hits) / (1 + exchanges);
  const known = Float64Array.from(replicates.filter((replicate) => !Number.isNaN(replicate)));
  if (known.length === 0) return { pValue, nullMean: null, nullQuantile: null };
  return { pValue, nullMean: meanOf(known), nullQuantile: quantileSorted(known.sort(), 0.95) };
}
