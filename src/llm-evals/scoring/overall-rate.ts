import { groupBy, meanOf, sumOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { criticalValue } from '../../stats/normal.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import type { Transcript } from '../client/transcript.ts';
import { type Answered, countUnanswered, distinctAnswers, isAnswered } from './dimension-answers.ts';
import { llmMetric, type LlmMetricResult, type UnitValue } from './llm-metric-result.ts';
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
  /**
   * The number of answers without a value, by reason.
   * @defaultValue the prompts without an answer
   */
  readonly exclusions?: Readonly<Record<string, number>>;
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
  { metric, of, combine = meanOf, exclusions = countUnanswered(transcripts) }: OverallRate,
  settings: ScoreSettings,
): LlmMetricResult {
  const { prompts, isClustered } = promptValues(transcripts, of, combine);
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

/** The value of each prompt, and whether prompts are in clusters. */
interface PromptValues {
  readonly prompts: readonly (UnitValue & { readonly answers: number })[];
  readonly isClustered: boolean;
}

/** Computes one value for each prompt from its answers. The same prompt in two clusters counts for each cluster. */
function promptValues(
  transcripts: readonly Transcript[],
  of: (answer: Answered) => number,
  combine: (values: readonly number[]) => number,
): PromptValues {
  const answered = distinctAnswers(transcripts).filter(isAnswered);
  const byPrompt = groupBy(answered, ({ prompt, details, unit = '' }) =>
    details['cluster'] === undefined ? prompt : JSON.stringify([unit, prompt]),
  );
  const prompts = Array.from(byPrompt.values(), (answers) => {
    const { item, unit = item, group, dimension, prompt } = answers[0] as Answered;
    const name = [item, dimension, group].filter((part) => part !== null).join('|');
    return { unit, item: name, value: combine(answers.map(of)), prompt, answers: answers.length };
  });
  return { prompts, isClustered: answered.some(({ details }) => details['cluster'] !== undefined) };
}

/**
 * Computes a mean over all answers: the mean over prompts of each prompt's mean. The interval is Student's t interval,
 * and each prompt counts as one observation. If the answers have clusters, its standard error is the linearised one over
 * clusters, and `n` is their number.
 */
export function overallMean(
  evaluator: string,
  transcripts: readonly Transcript[],
  { metric, of, exclusions = countUnanswered(transcripts) }: Omit<OverallRate, 'combine'>,
  settings: ScoreSettings,
): LlmMetricResult {
  const { prompts, isClustered } = promptValues(transcripts, of, meanOf);
  const own = isClustered ? prompts : prompts.map((each, index) => ({ ...each, unit: String(index) }));
  const n = new Set(own.map(({ unit }) => unit)).size;
  const what = isClustered ? 'clusters' : 'prompts';
  const isSmall = n < settings.minGroupSize && !settings.allowSmallSamples;
  const undefinedReason =
    n === 0
      ? 'no answer has a value'
      : isSmall
        ? `answers to ${String(n)} ${what} have a value, fewer than ${String(settings.minGroupSize)} (min_group_size)`
        : null;
  const value = undefinedReason === null ? meanOf(prompts.map((each) => each.value)) : NaN;
  const margin = twoSidedCritical(settings.ciLevel, n - 1) * Math.sqrt(clusterVariance(own));
  const ci: Interval | null = settings.withCi && margin > 0 && n > 1 ? [value - margin, value + margin] : null;
  const hasCi = ci !== null && undefinedReason === null;
  return llmMetric({
    metric,
    evaluator,
    value,
    undefinedReason,
    ci: hasCi ? ci : null,
    ciLevel: hasCi ? settings.ciLevel : null,
    ciMethod: hasCi ? `t over ${what}, of these prompts alone` : null,
    n,
    exclusions,
    nDropped: sumOf(Object.values(exclusions)),
    units: {
      ...{ measure: metric, kind: 'mean', step: null },
      values: prompts.map(({ unit, item, value: each, prompt }) => ({ unit, item, value: each, prompt })),
    },
    seed: settings.seed,
  });
}

/**
 * Computes the variance of a mean over prompts by Taylor linearization over clusters, corrected for their number. NaN for
 * a single cluster.
 */
function clusterVariance(prompts: readonly Pick<UnitValue, 'unit' | 'value'>[]): number {
  const mean = meanOf(prompts.map(({ value }) => value));
  const sums = [...groupBy(prompts, ({ unit }) => unit).values()].map((those) =>
    sumOf(those.map(({ value }) => value - mean)),
  );
  return (sums.length / (sums.length - 1)) * (sumOf(sums.map((sum) => sum ** 2)) / prompts.length ** 2);
}

const CLUSTER_METHOD = 'wilson over prompts, effective sample size of the clusters';

/**
 * Returns the effective number of trials of prompts in clusters: the number of independent trials that have the
 * variance of the mean over prompts, by Taylor linearization over clusters, corrected for the number of clusters. If no
 * two prompts differ, it is the number of clusters. With one cluster, the variance is unknown and the result is 0.
 */
function effectiveTrials(prompts: readonly Pick<UnitValue, 'unit' | 'value'>[], level: number): number {
  const mean = meanOf(prompts.map(({ value }) => value));
  const clusters = new Set(prompts.map(({ unit }) => unit)).size;
  if (clusters < 2) return 0;
  const variance = clusterVariance(prompts);
  const binomial = mean * (1 - mean);
  if (!(variance > 0) || !(binomial > 0)) return clusters;
  const correction = (criticalValue(level) / twoSidedCritical(level, clusters - 1)) ** 2;
  return Math.min(prompts.length, binomial / variance) * correction;
}
