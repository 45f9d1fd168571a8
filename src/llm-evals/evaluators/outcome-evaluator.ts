import { assertKnownOptions } from '../../internal/arguments.ts';
import { countBy, meanOf, sumOf } from '../../internal/values.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { OutcomeKind, Transcript } from '../client/transcript.ts';
import { preferenceName } from '../outcome/read-outcome.ts';
import type { ValueRange } from '../../metrics/threshold-range.ts';
import { planCounterfactual } from '../plan/counterfactual/plan-counterfactual.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import { adjustForMany } from '../scoring/adjust-for-many.ts';
import {
  type Answered,
  countUnanswered,
  type DimensionAnswers,
  dimensionAnswers,
  distinctAnswers,
  isAnswered,
} from '../scoring/dimension-answers.ts';
import { labelDistance } from '../scoring/distribution-gap.ts';
import { largestPair } from '../scoring/largest-pair.ts';
import { type LLMEvaluator, SCORE_OPTION_NAMES, type ScoreOptions } from '../scoring/llm-evaluator.ts';
import { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { overallMean, overallRate } from '../scoring/overall-rate.ts';
import { gapOfUnits, pairedGap } from '../scoring/paired-gap.ts';
import { scoreSettings, type ScoreSettings, tooFew } from '../scoring/score-settings.ts';

/** The name of the evaluator of declared outcomes and custom metrics. */
export const OUTCOME_EVALUATOR = 'outcome';

/** The declared outcomes and custom metrics of a run, by name. The kind of a custom metric is null: it is not known. */
export type DeclaredOutcomes = ReadonlyMap<string, OutcomeKind | null>;

/**
 * Evaluates declared outcomes and custom metrics. The run reads the values before it scores answers
 * (`Transcript.readings`).
 *
 * For each dimension, there is `NAME_gap` (the mean difference of decisions, or of numbers, paired by item) or, for
 * labels, `NAME_distance` (the total variation distance of their distributions, from 0 to 1). They have the same tests,
 * noise floors and intervals as `decision_gap` and `sentiment_distance` of the counterfactual evaluator. Over all
 * answers, there is `NAME_rate` for decisions (the share of yes) and `NAME_mean` for numbers, each averaged over
 * prompts. If a judge compares answers pairwise, `preference_gap` is the mean over pairs of 1 (the first value's answer
 * is preferred in both orders), -1 (the second value's answer is) or a value between, from -1 to 1.
 *
 * Answers that cannot be read are excluded and counted by reason.
 */
export class OutcomeEvaluator implements LLMEvaluator {
  readonly name = OUTCOME_EVALUATOR;
  readonly #declared: DeclaredOutcomes;
  readonly #comparesPairs: boolean;
  readonly #scoreRanges: readonly ValueRange[];

  /** @param scoreRanges the range of each declaration of the score */
  constructor(declared: DeclaredOutcomes, comparesPairs: boolean = false, scoreRanges: readonly ValueRange[] = []) {
    this.#declared = declared;
    this.#comparesPairs = comparesPairs;
    this.#scoreRanges = scoreRanges;
  }

  /** The names of the metrics that are computed for each dimension. A custom metric has one of two names. */
  get gaps(): readonly string[] {
    return [
      ...[...this.#declared].flatMap(([name, kind]) => kindsOf(name, kind, []).map((each) => gapName(name, each))),
      ...(this.#comparesPairs ? ['preference_gap'] : []),
    ];
  }

  /** Plans the prompts of all templates, with and without dimensions. */
  plan(config: LLMEvalConfig): readonly PlannedPrompt[] {
    return planCounterfactual(config, this.name);
  }

  score(transcripts: readonly Transcript[], options: ScoreOptions = {}): readonly LlmMetricResult[] {
    assertKnownOptions('OutcomeEvaluator.score', options, SCORE_OPTION_NAMES);
    const settings = scoreSettings(options);
    const results = [...this.#declared].flatMap(([name, declared]) => {
      // An answer whose template has no declaration of this outcome does not count.
      const own = transcripts.filter((each) => !isAnswered(each) || each.readings?.[name] !== undefined);
      return kindsOf(name, declared, own).flatMap((kind) => [
        ...overall(name, kind, own, settings),
        ...dimensionAnswers(own).map((answers) => compared(name, kind, answers, settings)),
      ]);
    });
    const pairs = this.#comparesPairs
      ? dimensionAnswers(transcripts).map((answers) => preferenceGap(answers, settings))
      : [];
    const scored = results.map((result) => withRange(result, this.#scoreRanges));
    return adjustForMany([...scored, ...pairs], settings.controlDimension);
  }
}

/** Adds the range of the mean score, or of the gap of scores. Only answers to the same template are compared. */
function withRange(result: LlmMetricResult, ranges: readonly ValueRange[]): LlmMetricResult {
  if (ranges.length === 0 || !['score_gap', 'score_mean'].includes(result.metric)) return result;
  const width = Math.max(...ranges.map(({ low, high }) => high - low));
  const range =
    result.dimension === null
      ? { low: Math.min(...ranges.map(({ low }) => low)), high: Math.max(...ranges.map(({ high }) => high)) }
      : { low: -width, high: width };
  return new LlmMetricResult(Object.assign({}, result, { range }));
}

/**
 * Returns the kinds of metrics to compute. The kind of a custom metric is known from its values. Without values, for
 * example in a list of planned metrics, it can be a number or a label.
 */
function kindsOf(name: string, declared: OutcomeKind | null, transcripts: readonly Transcript[]): OutcomeKind[] {
  if (declared !== null) return [declared];
  const known = transcripts.find(({ readings }) => readings?.[name] !== undefined)?.readings?.[name]?.kind;
  return known === undefined ? ['score', 'choice'] : [known];
}

function gapName(name: string, kind: OutcomeKind): string {
  return `${name}_${kind === 'choice' ? 'distance' : 'gap'}`;
}

function valueOf({ readings }: Transcript, name: string): number | string | null {
  const reading = readings?.[name];
  return reading !== undefined && 'value' in reading ? reading.value : null;
}

function reasonOf({ readings }: Transcript, name: string): string {
  const reading = readings?.[name];
  return reading !== undefined && 'unread' in reading ? reading.unread : 'not read';
}

function numberOf(answer: Transcript, name: string): number | null {
  const value = valueOf(answer, name);
  return typeof value === 'number' ? value : null;
}

function labelOf(answer: Transcript, name: string): string | null {
  const value = valueOf(answer, name);
  return typeof value === 'string' ? value : null;
}

function compared(
  name: string,
  kind: OutcomeKind,
  answers: DimensionAnswers,
  settings: ScoreSettings,
): LlmMetricResult {
  const why = (answer: Answered): string => reasonOf(answer, name);
  if (kind === 'choice') {
    const label = { metric: gapName(name, kind), of: (answer: Answered) => labelOf(answer, name), reasonOf: why };
    return labelDistance(OUTCOME_EVALUATOR, answers, label, settings);
  }
  const isRate = kind === 'decision';
  const feature = {
    metric: gapName(name, kind),
    measure: isRate ? 'yes_rate' : `mean_${name}`,
    isRate,
    of: (answer: Answered) => numberOf(answer, name),
    reasonOf: why,
  };
  return pairedGap(OUTCOME_EVALUATOR, answers, feature, settings);
}

/** Computes the rate or the mean over all answers. Labels have neither. */
function overall(
  name: string,
  kind: OutcomeKind,
  transcripts: readonly Transcript[],
  settings: ScoreSettings,
): LlmMetricResult[] {
  if (kind === 'choice') return [];
  const answered = transcripts.filter(isAnswered);
  const read = answered.filter((each) => valueOf(each, name) !== null);
  const unread = distinctAnswers(answered.filter((each) => valueOf(each, name) === null));
  const exclusions = { ...countUnanswered(transcripts), ...countBy(unread, (each) => reasonOf(each, name)) };
  const value = { of: (answer: Answered) => numberOf(answer, name) ?? 0, exclusions };
  return kind === 'decision'
    ? [overallRate(OUTCOME_EVALUATOR, read, { metric: `${name}_rate`, ...value }, settings)]
    : [overallMean(OUTCOME_EVALUATOR, read, { metric: `${name}_mean`, ...value }, settings)];
}

/** Computes the mean preference of the judge for the answers of the first value of each pair. */
function preferenceGap(answers: DimensionAnswers, settings: ScoreSettings): LlmMetricResult {
  return largestPair({
    metric: 'preference_gap',
    evaluator: OUTCOME_EVALUATOR,
    answers,
    compare: (first, second, level) => {
      const both = answers.items.flatMap(({ item, unit, byGroup }) => {
        const values = (byGroup.get(first) ?? []).flatMap((answer) =>
          (byGroup.get(second) ?? []).flatMap(({ key }) => numberOf(answer, preferenceName(key)) ?? []),
        );
        return values.length === 0 ? [] : [{ item, unit, value: meanOf(values), count: values.length }];
      });
      const n = new Set(both.map(({ unit }) => unit)).size;
      const undefinedReason = n === 0 ? 'the judge compared no answers' : tooFew(n, settings);
      if (undefinedReason !== null) return { n, undefinedReason };
      const perUnit = sumOf(both.map(({ count }) => count)) / n;
      return gapOfUnits(both, perUnit, { isRate: true, level, settings });
    },
    ciMethod: 'paired adjusted Wald (Bonett-Price) over items',
    pValueMethod: 'sign-flip permutation over items',
    settings,
  });
}
