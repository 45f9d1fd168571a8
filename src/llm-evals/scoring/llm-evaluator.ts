import type { OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { Transcript } from '../client/transcript.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { LlmMetricFields } from './llm-metric-result.ts';

/** Options of scoring. */
export interface ScoreOptions {
  /**
   * Items at least; with fewer a metric is undefined.
   * @defaultValue 5
   */
  readonly minGroupSize?: number | undefined;
  /** @defaultValue true */
  readonly withCi?: boolean | undefined;
  /** @defaultValue 0.95 */
  readonly ciLevel?: number | undefined;
  /**
   * Replicates of intervals that have no closed form.
   * @defaultValue 200
   */
  readonly ciSamples?: number | undefined;
  /**
   * Whether fewer items are measured all the same, with a warning.
   * @defaultValue false
   */
  readonly allowSmallSamples?: boolean | undefined;
  /**
   * The dimension that should make no difference.
   * @defaultValue none
   */
  readonly controlDimension?: string | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link ScoreOptions}. */
export const SCORE_OPTION_NAMES: OptionNames<ScoreOptions> = {
  minGroupSize: true,
  withCi: true,
  ciLevel: true,
  ciSamples: true,
  allowSmallSamples: true,
  controlDimension: true,
  seed: true,
};

/** What a metric of an evaluator of your own says at least; the rest of an `LlmMetricResult` has defaults. */
export type OwnMetric = Pick<LlmMetricFields, 'metric' | 'value'> & Partial<LlmMetricFields>;

/** What plans prompts and scores the answers to them. */
export interface LLMEvaluator {
  /** What results and prompts are kept under: one of the built-in names, or a name of your own. */
  readonly name: string;
  /** The prompts that it needs answers to; the same for the same configuration. */
  plan(config: LLMEvalConfig): readonly PlannedPrompt[];
  /** Metrics of the answers; unanswered ones are counted, never dropped in silence. */
  score(
    transcripts: readonly Transcript[],
    options?: ScoreOptions,
  ): readonly OwnMetric[] | Promise<readonly OwnMetric[]>;
}
