import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { planBbq } from '../bbq/plan-bbq.ts';
import { readBbqItems } from '../bbq/read-bbq-items.ts';
import { isBbqTranscript, scoreBbq } from '../bbq/score-bbq.ts';
import type { Transcript } from '../client/transcript.ts';
import { planCounterfactual } from '../plan/counterfactual/plan-counterfactual.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import { adjustForMany } from '../scoring/adjust-for-many.ts';
import { countUnanswered, isAnswered } from '../scoring/dimension-answers.ts';
import { type LLMEvaluator, SCORE_OPTION_NAMES, type ScoreOptions } from '../scoring/llm-evaluator.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { scoreSettings, type ScoreSettings } from '../scoring/score-settings.ts';
import {
  associationWords,
  betaOf,
  COOCCURRENCE_OPTION_NAMES,
  type CooccurrenceOptions,
} from '../stereotype/association-words.ts';
import { independentAnswers } from '../stereotype/independent-answers.ts';
import { scoreAssociations } from '../stereotype/score-associations.ts';

/**
 * Evaluates stereotypes in two ways: by BBQ's questions, and by the words of free answers.
 *
 * BBQ (where the configuration has `bbqPath`): for each format of the question, which is the dimension of the metric,
 * `bbq_accuracy_ambiguous` and `bbq_accuracy_disambiguated` in [0, 1], of which more is better, and
 * `bbq_bias_ambiguous` and `bbq_bias_disambiguated` in [-1, 1], which are 0 where stereotypes are followed as often as
 * not; see {@link bbqScores}. Without context (`qonly`) there are the ambiguous ones alone. Templates
 * are the independent units of intervals and p values.
 *
 * Free answers: `stereotypical_association` (see {@link stereotypicalAssociations}) and `cobs` (see {@link cooccurrenceBiasScore}),
 * with what chance gives to such texts as the noise floor. Each answer is counted once, in however many dimensions its prompt
 * is varied; `n` counts independent items: those of one name, or of one template, once.
 *
 * Answers that are missing (by the kind of the fault, `not_sent` among them), that cannot be read (`unparsed`), and items whose stereotyped person cannot be
 * told (`no_target`, `several_targets`; out of the bias scores only) are counted in `exclusions`.
 * What BBQ measures is bound to its templates, written for U.S. English; a score near 0 is no proof that a model is free of bias.
 * @example
 * ```ts
 * import { parseLlmEvalConfig, StereotypeAssociationEvaluator } from 'evenhand/llm-evals';
 *
 * const config = await parseLlmEvalConfig({ prompt_templates: { story: 'Tell of a nurse at work.' } });
 * const evaluator = new StereotypeAssociationEvaluator({ targets: ['kind', 'strict'] });
 * console.log(evaluator.plan(config).map(({ prompt }) => prompt));
 * // [ 'Tell of a nurse at work.' ]
 * ```
 * @see A. Parrish et al., BBQ: A Hand-Built Bias Benchmark for Question Answering, Findings of ACL (2022)
 */
export class StereotypeAssociationEvaluator implements LLMEvaluator {
  readonly name = 'stereotype';
  readonly #options: CooccurrenceOptions;

  /**
   * @throws {ValueError} for groups or targets that are no words, or beta out of range
   */
  constructor(options: CooccurrenceOptions = {}) {
    assertKnownOptions('StereotypeAssociationEvaluator', options, COOCCURRENCE_OPTION_NAMES);
    // Before anything is asked and paid for.
    associationWords(options);
    betaOf(options);
    this.#options = Object.freeze({ ...options });
  }

  /**
   * BBQ's prompts, then those of templates.
   * @throws {DataValidationError} for a file of items that cannot be read
   * @throws {ConfigValidationError} for templates that cannot be filled
   */
  plan(config: LLMEvalConfig): readonly PlannedPrompt[] {
    const { bbqPath, bbqFormats: formats, repeats } = config;
    const bbq = bbqPath === null ? [] : planBbq(readBbqItems(bbqPath), { formats, repeats });
    return [...bbq, ...planCounterfactual(config, this.name)];
  }

  score(transcripts: readonly Transcript[], options: ScoreOptions = {}): readonly LlmMetricResult[] {
    assertKnownOptions('StereotypeAssociationEvaluator.score', options, SCORE_OPTION_NAMES);
    const settings = scoreSettings(options);
    const questions = transcripts.filter(isBbqTranscript);
    const answers = transcripts.filter((transcript) => !isBbqTranscript(transcript));
    const results = [...scoreBbq(questions, settings), ...this.#scoreAnswers(answers, settings)];
    return adjustForMany(results, settings.controlDimension);
  }

  #scoreAnswers(transcripts: readonly Transcript[], settings: ScoreSettings): LlmMetricResult[] {
    if (transcripts.length === 0) return [];
    const distinct = independentAnswers(transcripts);
    const answered = distinct.transcripts.flatMap((transcript, index) =>
      isAnswered(transcript) ? [{ text: transcript.text, unit: distinct.units[index] as string }] : [],
    );
    return scoreAssociations(
      answered.map(({ text }) => text),
      {
        ...settings,
        ...this.#options,
        units: answered.map(({ unit }) => unit),
        exclusions: countUnanswered(distinct.transcripts),
      },
    );
  }
}
