import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requireRate } from '../../stats/parameters.ts';
import { BENCHMARKS } from '../benchmarks/benchmark-metrics.ts';
import { type CrowsPairsRow, planCrowsPairs, scoreCrowsPairs } from '../benchmarks/crows-pairs.ts';
import { type DecisionRow, planDiscrimEval, scoreDiscrimEval } from '../benchmarks/discrim-eval.ts';
import { planRealToxicity, PUBLISHED_THRESHOLD, scoreRealToxicity } from '../benchmarks/real-toxicity.ts';
import { planWinobias, scoreWinobias } from '../benchmarks/winobias.ts';
import { planWinogender, scoreWinogender } from '../benchmarks/winogender.ts';
import type { Transcript } from '../client/transcript.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import { adjustForMany } from '../scoring/adjust-for-many.ts';
import { type LLMEvaluator, SCORE_OPTION_NAMES, type ScoreOptions } from '../scoring/llm-evaluator.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { scoreSettings } from '../scoring/score-settings.ts';
import type { ToxicityScorer } from '../toxicity/lexicon-toxicity.ts';

/** Options of {@link BenchmarkEvaluator}. */
export interface BenchmarkEvaluatorOptions {
  /**
   * The scorer of RealToxicityPrompts, which rates the toxicity of each text from 0 to 1.
   * @defaultValue a list of offensive words, which is not a classifier
   */
  readonly scorer?: ToxicityScorer | undefined;
  /**
   * The score from which a continuation of RealToxicityPrompts is toxic.
   * @defaultValue 0.5, as in the publication
   */
  readonly threshold?: number | undefined;
}

const BENCHMARK_EVALUATOR_OPTION_NAMES: OptionNames<BenchmarkEvaluatorOptions> = { scorer: true, threshold: true };

/** The scores that files contain, so that no prompts are needed. */
interface RecordedScores {
  readonly pairs: readonly CrowsPairsRow[];
  readonly decisions: readonly DecisionRow[];
}

/**
 * Evaluates a model with published benchmarks, whose files you download yourself (`benchmarks` in the configuration).
 *
 * - CrowS-Pairs: `crows_pairs_score` (also by bias type), `crows_pairs_stereotype_score` and
 *   `crows_pairs_antistereotype_score`, from 0 to 1. Each is the share of pairs in which the more stereotypical sentence
 *   is preferred; 0.5 is parity.
 * - WinoBias, for each type of sentence: `winobias_accuracy_pro`, `winobias_accuracy_anti`, and `winobias_gap`, their
 *   difference.
 * - Winogender: `winogender_accuracy` (also by gender of the pronoun), `winogender_gap`, `winogender_accuracy_gotcha`,
 *   `winogender_accuracy_not_gotcha` and `winogender_gotcha_gap`, their difference.
 * - discrim-eval: `discrim_eval_score` for age, gender and race, the difference of the log-odds of yes to the baseline.
 *   A value above 0 favours the group.
 * - RealToxicityPrompts: `real_toxicity_expected_maximum` and `real_toxicity_probability`, from 0 to 1.
 *
 * A chat model answers questions with fixed answers, while most publications use probabilities or systems for
 * coreference resolution. docs/llm-metrics.md lists these differences. If a file has a score of each sentence
 * (CrowS-Pairs) or a probability of yes (discrim-eval), the scores of the publication are computed from the file and no
 * prompts are sent. `plan` reads these files, so call it before `score`.
 *
 * Answers that cannot be read are counted in `exclusions`: `refused`, `unparsed`, or the kind of the failure. A
 * favourable score does not prove that a model is free of bias.
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { BenchmarkEvaluator, parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const header = 'sent_more,sent_less,stereo_antistereo,bias_type';
 * writeFileSync('pairs.csv', `${header}\nOld people forget keys.,Young people forget keys.,stereo,age\n`);
 * const config = parseLlmEvalConfig({ benchmarks: { crows_pairs: 'pairs.csv' } });
 * const [prompt] = new BenchmarkEvaluator().plan(config);
 * console.log(prompt.prompt.split('\n')[1]);
 * // (a) Old people forget keys.
 * ```
 */
export class BenchmarkEvaluator implements LLMEvaluator {
  readonly name = BENCHMARKS;
  readonly #scorer: ToxicityScorer | undefined;
  readonly #threshold: number;
  #recorded: RecordedScores = { pairs: [], decisions: [] };

  /** @throws {ValueError} if the threshold is outside 0 to 1 */
  constructor(options: BenchmarkEvaluatorOptions = {}) {
    assertKnownOptions('BenchmarkEvaluator', options, BENCHMARK_EVALUATOR_OPTION_NAMES);
    const { scorer, threshold = PUBLISHED_THRESHOLD } = options;
    this.#scorer = scorer;
    this.#threshold = requireRate('threshold', threshold);
  }

  /**
   * Plans the prompts of all benchmarks in the configuration.
   * @throws {DataValidationError} if a file cannot be read; the message names the file, the line and the expected format
   */
  plan({ benchmarks, repeats }: LLMEvalConfig): readonly PlannedPrompt[] {
    const { crows_pairs: crowsPairs, winobias, winogender, discrim_eval: discrimEval } = benchmarks ?? {};
    const { real_toxicity_prompts: realToxicity } = benchmarks ?? {};
    const pairs = crowsPairs === undefined ? NOTHING : planCrowsPairs(crowsPairs, repeats);
    const decisions = discrimEval === undefined ? NOTHING : planDiscrimEval(discrimEval, repeats);
    this.#recorded = { pairs: pairs.rows, decisions: decisions.rows };
    return [
      ...pairs.prompts,
      ...(winobias === undefined ? [] : planWinobias(winobias, repeats)),
      ...(winogender === undefined ? [] : planWinogender(winogender, repeats)),
      ...decisions.prompts,
      ...(realToxicity === undefined ? [] : planRealToxicity(realToxicity, repeats)),
    ];
  }

  /** @throws {DataValidationError} if the scorer does not return a number from 0 to 1 for each text */
  async score(transcripts: readonly Transcript[], options: ScoreOptions = {}): Promise<readonly LlmMetricResult[]> {
    assertKnownOptions('BenchmarkEvaluator.score', options, SCORE_OPTION_NAMES);
    const settings = scoreSettings(options);
    const of = (name: string): Transcript[] => transcripts.filter(({ details }) => details['benchmark'] === name);
    const measure = { scorer: this.#scorer, threshold: this.#threshold };
    const results = [
      ...scoreCrowsPairs(of('crows_pairs'), this.#recorded.pairs, settings),
      ...scoreWinobias(of('winobias'), settings),
      ...scoreWinogender(of('winogender'), settings),
      ...scoreDiscrimEval(of('discrim_eval'), this.#recorded.decisions, settings),
      ...(await scoreRealToxicity(of('real_toxicity_prompts'), measure, settings)),
    ];
    return adjustForMany(results, settings.controlDimension);
  }
}

const NOTHING = { prompts: [], rows: [] } as const;
