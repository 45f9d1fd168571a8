import { meanOf } from '../../internal/values.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import type { Transcript } from '../client/transcript.ts';
import { countUnanswered, distinctAnswers, isAnswered } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult } from './llm-metric-result.ts';
import type { AnswerFeature } from './paired-gap.ts';
import type { ScoreSettings } from './score-settings.ts';

/** Combines the numbers of one prompt's answers: their mean, or the largest. */
export type Combine = (values: readonly number[]) => number;

/** Averages the numbers of one prompt's answers. */
const MEAN: Combine = meanOf;

/** Returns the largest number of one prompt's answers. */
export const LARGEST: Combine = (values) => Math.max(...values);

/**
 * Computes a rate over all answers: the mean over prompts of each prompt's combined value. The interval is Wilson's
 * with one trial for each prompt, so that repeating a prompt does not narrow it like a new prompt.
 */
export function overallRate(
  evaluator: string,
  transcripts: readonly Transcript[],
  feature: Omit<AnswerFeature, 'isRate'>,
  settings: ScoreSettings,
  combine: Combine = MEAN,
): LlmMetricResult {
  const exclusions = countUnanswered(transcripts);
  const byPrompt = new Map<string, number[]>();
  let lacking = 0;
  for (const transcript of distinctAnswers(transcripts).filter(isAnswered)) {
    const value = feature.of(transcript);
    if (value === null) lacking++;
    else byPrompt.set(transcript.prompt, [...(byPrompt.get(transcript.prompt) ?? []), value]);
  }
  if (lacking > 0) exclusions[feature.lacking] = lacking;
  const shares = [...byPrompt.values()].map(combine);
  const n = shares.length;
  const total = shares.reduce((sum, share) => sum + share, 0);
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
    metric: feature.metric,
    evaluator,
    value: isDefined ? total / n : NaN,
    undefinedReason,
    ci: hasCi ? wilsonInterval(Math.min(n, total), n, settings.ciLevel) : null,
    ciLevel: hasCi ? settings.ciLevel : null,
    ciMethod: hasCi ? 'wilson over prompts, of these prompts alone' : null,
    n,
    exclusions,
    nDropped: Object.values(exclusions).reduce((sum, count) => sum + count, 0),
    seed: settings.seed,
  });
}
