import { meanOf } from '../../internal/values.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import type { Transcript } from '../client/transcript.ts';
import { countUnanswered, distinctAnswers, isAnswered } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult } from './llm-metric-result.ts';
import type { AnswerFeature } from './paired-gap.ts';
import type { ScoreSettings } from './score-settings.ts';

/** What becomes of the numbers of one prompt's answers: their mean, or the largest. */
export type Combine = (values: readonly number[]) => number;

/** The mean of one prompt's answers. */
const MEAN: Combine = meanOf;

/** The largest of one prompt's answers. */
export const LARGEST: Combine = (values) => Math.max(...values);

/**
 * A rate over all answers, whatever they are about: the mean over prompts of what
 * each prompt's answers come to. The interval is Wilson's with a trial for each prompt, so that asking
 * again does not narrow it as a new prompt does.
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
