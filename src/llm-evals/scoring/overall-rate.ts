import { groupBy, meanOf, sumOf } from '../../internal/values.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import type { Transcript } from '../client/transcript.ts';
import { type Answered, countUnanswered, distinctAnswers, isAnswered } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult } from './llm-metric-result.ts';
import type { ScoreSettings } from './score-settings.ts';

/** A rate over all answers. */
interface OverallRate {
  readonly metric: string;
  /** Returns the value of an answer. */
  readonly of: (answer: Answered) => number;
  /**
   * Combines the values of all answers to one prompt into one value.
   * @defaultValue the mean
   */
  readonly combine?: (values: readonly number[]) => number;
}

/**
 * Computes a rate over all answers: the mean over prompts of each prompt's combined value. The interval is Wilson's
 * interval, and each prompt counts as one trial. Additional prompts therefore narrow the interval, but additional
 * answers to a prompt do not.
 */
export function overallRate(
  evaluator: string,
  transcripts: readonly Transcript[],
  { metric, of, combine = meanOf }: OverallRate,
  settings: ScoreSettings,
): LlmMetricResult {
  const exclusions = countUnanswered(transcripts);
  const byPrompt = groupBy(distinctAnswers(transcripts).filter(isAnswered), ({ prompt }) => prompt);
  const prompts = Array.from(byPrompt.values(), (answers) => {
    const { item, unit = item, group, dimension, prompt } = answers[0] as Answered;
    const name = [item, dimension, group].filter((part) => part !== null).join('|');
    return { unit, item: name, value: combine(answers.map(of)), prompt, answers: answers.length };
  });
  const shares = prompts.map(({ value }) => value);
  const n = shares.length;
  const total = sumOf(shares);
  const isSmall = n < settings.minGroupSize && !settings.allowSmallSamples;
  const undefinedReason =
    n === 0
      ? 'no prompt was answered'
      : isSmall
        ? `${String(n)} ${n === 1 ? 'prompt was' : 'prompts were'} answered, fewer than ${String(settings.minGroupSize)} (min_group_size)`
        : null;
  const isDefined = undefinedReason === null;
  const hasCi = isDefined && settings.withCi;
  return llmMetric({
    metric,
    evaluator,
    value: isDefined ? total / n : NaN,
    undefinedReason,
    ci: hasCi ? wilsonInterval(Math.min(n, total), n, settings.ciLevel) : null,
    ciLevel: hasCi ? settings.ciLevel : null,
    ciMethod: hasCi ? 'wilson over prompts, of these prompts alone' : null,
    n,
    exclusions,
    nDropped: sumOf(Object.values(exclusions)),
    units: {
      measure: metric,
      kind: 'mean',
      values: prompts.map(({ unit, item, value, prompt }) => ({ unit, item, value, prompt })),
      // A prompt that was answered m times has a rate that is a multiple of 1/m.
      step: n === 0 ? null : 1 / meanOf(prompts.map(({ answers }) => answers)),
    },
    seed: settings.seed,
  });
}
