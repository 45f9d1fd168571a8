import { bootstrapCi, type BootstrapOptions, type BootstrapStatistic } from '../../stats/bootstrap/bootstrap-ci.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import type { Answered } from './dimension-answers.ts';
import type { ScoreSettings } from './score-settings.ts';

/** How far two answers are apart. */
export interface AnswerDistance {
  /** The metric: `rouge_l_excess`. */
  readonly metric: string;
  /** What of an answer is compared. */
  readonly textOf: (answer: Answered) => string;
  /** From 0, alike; symmetric. */
  readonly between: (first: string, second: string) => number;
}

/** Two values of a dimension to compare, and how. */
export interface DivergenceTask {
  readonly first: string;
  readonly second: string;
  readonly distance: AnswerDistance;
  readonly level: number;
  readonly settings: ScoreSettings;
}

/**
 * Answers to one prompt that are compared with others at most, the first: what is
 * compared grows with their square, and more hardly add to what is known.
 */
const MAX_REPEATS = 10;

/** The texts of the first answers to a prompt. */
export function comparedTexts(answers: readonly Answered[], { textOf }: AnswerDistance): string[] {
  return answers.slice(0, MAX_REPEATS).map(textOf);
}

/**
 * A rough interval for a distance, which is never below 0: the hull of the percentile interval and of its reflection at the value.
 * Drawing again adds noise to a distance, so that the quantiles lie too high near 0; their reflection lies too low.
 * @param most the largest distance that there can be
 * @returns [NaN, NaN] where the distance is undefined for a replicate
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
