import { bootstrapCi, type BootstrapOptions, type BootstrapStatistic } from '../../stats/bootstrap/bootstrap-ci.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import type { Answered } from './dimension-answers.ts';
import type { ScoreSettings } from './score-settings.ts';

/** A distance between two answers. */
export interface AnswerDistance {
  /** The metric, for example `rouge_l_excess`. */
  readonly metric: string;
  /** Returns the part of an answer that is compared. */
  readonly textOf: (answer: Answered) => string;
  /** Computes the distance of two texts: 0 for equal ones; symmetric. */
  readonly between: (first: string, second: string) => number;
}

/** Two values of a dimension to compare, with the distance and the settings. */
export interface DivergenceTask {
  readonly first: string;
  readonly second: string;
  readonly distance: AnswerDistance;
  readonly level: number;
  readonly settings: ScoreSettings;
}

/**
 * The maximum number of answers to one prompt that are compared with others (the first ones). The cost grows with their
 * square, and more answers add little information.
 */
const MAX_REPEATS = 10;

/** Returns the texts of the first answers to a prompt. */
export function comparedTexts(answers: readonly Answered[], { textOf }: AnswerDistance): string[] {
  return answers.slice(0, MAX_REPEATS).map(textOf);
}

/**
 * Computes a rough interval for a distance, which is never below 0: the hull of the percentile interval and its
 * reflection at the value. Resampling adds noise to a distance, so that the quantiles are too high near 0; their
 * reflections are too low.
 * @param most the largest possible distance
 * @returns [NaN, NaN] if the distance is undefined for a replicate
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
