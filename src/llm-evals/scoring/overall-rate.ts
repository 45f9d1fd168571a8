import { groupBy, meanOf, sumOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { criticalValue } from '../../stats/normal.ts';
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
 *
 * If the answers have clusters, the clusters are the units: `n` is their number, and the number of trials of the
 * interval is the effective sample size, as in Korn and Graubard's interval for surveys.
 * @see E. Korn, B. Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts
 *   Estimated from Survey Data, Survey Methodology 24 (1998)
 */
export function overallRate(
  evaluator: string,
  transcripts: readonly Transcript[],
  { metric, of, combine = meanOf }: OverallRate,
  settings: ScoreSettings,
): LlmMetricResult {
  const exclusions = countUnanswered(transcripts);
  const answered = distinctAnswers(transcripts).filter(isAnswered);
  const byPrompt = groupBy(answered, ({ prompt, details, unit = '' }) =>
    details['cluster'] === undefined ? prompt : JSON.stringify([unit, prompt]),
  );
  const prompts = Array.from(byPrompt.values(), (answers) => {
    const { item, unit = item, group, dimension, prompt, details } = answers[0] as Answered;
    const name = [item, dimension, group].filter((part) => part !== null).join('|');
    const isClustered = details['cluster'] !== undefined;
    return { unit, item: name, value: combine(answers.map(of)), prompt, answers: answers.length, isClustered };
  });
  const isClustered = prompts.some((each) => each.isClustered);
  const n = isClustered ? new Set(prompts.map(({ unit }) => unit)).size : prompts.length;
  const total = sumOf(prompts.map(({ value }) => value));
  const mean = total / prompts.length;
  const what = isClustered ? ['cluster', 'clusters'] : ['prompt', 'prompts'];
  const isSmall = n < settings.minGroupSize && !settings.allowSmallSamples;
  const undefinedReason =
    n === 0
      ? 'no prompt was answered'
      : isSmall
        ? `${String(n)} ${n === 1 ? `${String(what[0])} was` : `${String(what[1])} were`} answered, fewer than ${String(settings.minGroupSize)} (min_group_size)`
        : null;
  const isDefined = undefinedReason === null;
  const trials = isClustered ? effectiveTrials(prompts, settings.ciLevel) : n;
  const hasCi = isDefined && settings.withCi && trials > 0;
  return llmMetric({
    metric,
    evaluator,
    value: isDefined ? mean : NaN,
    undefinedReason,
    ci: hasCi
      ? wilsonInterval(isClustered ? trials * Math.min(1, mean) : Math.min(n, total), trials, settings.ciLevel)
      : null,
    ciLevel: hasCi ? settings.ciLevel : null,
    ciMethod: hasCi ? (isClustered ? CLUSTER_METHOD : 'wilson over prompts, of these prompts alone') : null,
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

const CLUSTER_METHOD = 'wilson over prompts, effective sample size of the clusters';

/**
 * Returns the effective number of trials of prompts in clusters: the number of independent trials that have the
 * variance of the mean over prompts, by Taylor linearization over clusters, corrected for the number of clusters. If no
 * two prompts differ, it is the number of clusters. With one cluster, the variance is unknown and the result is 0.
 */
function effectiveTrials(prompts: readonly { readonly value: number; readonly unit: string }[], level: number): number {
  const mean = meanOf(prompts.map(({ value }) => value));
  const sums = [...groupBy(prompts, ({ unit }) => unit).values()].map((those) =>
    sumOf(those.map(({ value }) => value - mean)),
  );
  const clusters = sums.length;
  if (clusters < 2) return 0;
  const squares = sumOf(sums.map((sum) => sum ** 2));
  const variance = (clusters / (clusters - 1)) * (squares / prompts.length ** 2);
  const binomial = mean * (1 - mean);
  if (!(variance > 0) || !(binomial > 0)) return clusters;
  const correction = (criticalValue(level) / twoSidedCritical(level, clusters - 1)) ** 2;
  return Math.min(prompts.length, binomial / variance) * correction;
}
