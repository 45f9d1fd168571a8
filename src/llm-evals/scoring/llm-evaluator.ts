import type { OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { Transcript } from '../client/transcript.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { LlmMetricFields } from './llm-metric-result.ts';

/** Options of scoring. */
export interface ScoreOptions {
  /**
   * The minimum number of items for a defined metric. A metric with fewer items is undefined.
   * @defaultValue 5
   */
  readonly minGroupSize?: number | undefined;
  /** @defaultValue true */
  readonly withCi?: boolean | undefined;
  /** @defaultValue 0.95 */
  readonly ciLevel?: number | undefined;
  /**
   * The number of replicates for intervals without a closed form.
   * @defaultValue 200
   */
  readonly ciSamples?: number | undefined;
  /**
   * Whether metrics with fewer items than `minGroupSize` are also computed. These metrics then have a warning.
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

/** The required fields of a custom evaluator's metric. The other fields of an `LlmMetricResult` have defaults. */
export type OwnMetric = Pick<LlmMetricFields, 'metric' | 'value'> & Partial<LlmMetricFields>;

/** An evaluator, which plans prompts and scores their answers. */
export interface LLMEvaluator {
  /** The name of the evaluator in results and prompts: a built-in name, or a custom name. */
  readonly name: string;
  /**
   * Returns the prompts whose answers the evaluator needs. The same configuration must always give the same prompts.
   */
  plan(config: LLMEvalConfig): readonly PlannedPrompt[];
  /** Loads what scoring needs, such as embeddings of the answers. A run calls this method before `score`. */
  prepare?(transcripts: readonly Transcript[]): Promise<void>;
  /** Computes metrics from the answers. Prompts without an answer are counted as exclusions. */
  score(
    transcripts: readonly Transcript[],
    options?: ScoreOptions,
  ): readonly OwnMetric[] | Promise<readonly OwnMetric[]>;
}
