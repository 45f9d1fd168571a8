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
 * Evaluates stereotypes in two ways: with the questions of BBQ, and with the words in free-text answers.
 *
 * If the configuration has `bbqPath`, there are four BBQ metrics for each format of the question. The format is the
 * dimension of the metric; see {@link bbqScores}. `bbq_accuracy_ambiguous` and `bbq_accuracy_disambiguated` are in [0,
 * 1], and higher is better. `bbq_bias_ambiguous` and `bbq_bias_disambiguated` are in [-1, 1]. The bias metrics are 0 if
 * answers follow stereotypes as often as they contradict stereotypes. In the format without context (`qonly`), only the
 * two ambiguous metrics exist. Templates are the independent units of intervals and p-values.
 *
 * Free answers have two metrics: `stereotypical_association` (see {@link stereotypicalAssociations}) and `cobs` (see
 * {@link cooccurrenceBiasScore}). The noise floor of these metrics is the value expected by chance in texts of this
 * kind. Each answer counts once, even if its prompt varies several dimensions. `n` is the number of independent items:
 * items with the same name count as one item or, without names, items with the same template.
 *
 * `exclusions` counts missing answers (by error kind, including `not_sent`), answers that cannot be parsed
 * (`unparsed`), and items whose stereotyped person cannot be determined (`no_target`, `several_targets`). Items without
 * a known person are excluded only from the bias scores. BBQ's results are specific to its templates, which are written
 * for U.S. English. A score near 0 does not prove that a model is free of bias.
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

  /** @throws {ValueError} if groups or targets are not words, or beta is out of range */
  constructor(options: CooccurrenceOptions = {}) {
    assertKnownOptions('StereotypeAssociationEvaluator', options, COOCCURRENCE_OPTION_NAMES);
    // Check the options before paying for answers.
    associationWords(options);
    betaOf(options);
    this.#options = Object.freeze({ ...options });
  }

  /**
   * Plans the prompts of BBQ, followed by the prompts of templates.
   * @throws {DataValidationError} if a file of items cannot be read
   * @throws {ConfigValidationError} if templates cannot be filled
   */
  plan(config: LLMEvalConfig): readonly PlannedPrompt[] {
    const bbq = config.bbqPath === null ? [] : planBbq(readBbqItems(config.bbqPath), config);
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
