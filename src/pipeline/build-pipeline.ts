import type { PipelineConfig } from '../schemas/pipeline/pipeline-config.ts';
import { parsePipelineConfig } from './config/parse-pipeline-config.ts';
import type { PipelineConfigInput } from './config/pipeline-config-input.ts';
import { FairnessPipeline } from './fairness-pipeline.ts';
import { createTransformer } from './transformers/registry.ts';
import type { StepDefaults } from './transformers/transformer.ts';

/**
 * The pipeline that a configuration describes, not yet fitted. What a step
 * leaves out of `sensitive`, `benchmarks`, `features` and `label` comes from the
 * configuration around it.
 * @throws {ConfigValidationError} for a configuration with faults
 * @example
 * ```ts
 * import { applyPipeline, buildPipeline } from 'evenhand/pipeline';
 * import { sampleData } from 'evenhand';
 *
 * const pipeline = buildPipeline({
 *   sensitive: ['gender'],
 *   pipeline: [{ name: 'balance', transformer: 'InstanceReweighting' }],
 * });
 * const { transformersApplied, sampleWeight } = await applyPipeline(pipeline, sampleData('cps-wages'));
 * console.log(transformersApplied, sampleWeight?.length);
 * // [ 'balance' ] 534
 * ```
 */
export function buildPipeline(config: PipelineConfigInput): FairnessPipeline {
  return assemblePipeline(parsePipelineConfig(config));
}

/** {@link buildPipeline} of a configuration that was parsed; its features may be names that data have and no file may. */
export function assemblePipeline(config: PipelineConfig): FairnessPipeline {
  const defaults = stepDefaults(config);
  return new FairnessPipeline(
    config.pipeline.map(({ name, transformer, params }) => ({
      name,
      transformer: createTransformer(transformer, params, defaults),
    })),
  );
}

function stepDefaults({ sensitive, benchmarks, features, training }: PipelineConfig): StepDefaults {
  return { sensitive, benchmarks, features, label: training?.targetColumn, positiveLabel: training?.positiveLabel };
}
