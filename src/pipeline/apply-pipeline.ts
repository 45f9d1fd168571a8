import { assertKnownOptions } from '../internal/known-options.ts';
import type { TableSource } from '../table/index.ts';
import type { DataLike, FairnessPipeline } from './fairness-pipeline.ts';
import type { PipelineResult } from './pipeline-result.ts';
import { TRANSFORMER_FIT_OPTION_NAMES, type TransformerFitOptions } from './transformers/transformer.ts';

/**
 * Applies a pipeline to rows. One that has not been fitted is fitted on these
 * rows first; one that has been applies what it learned.
 * @param data rows; what comes back in `data` is of the same kind
 * @throws {PipelineExecutionError} with the name and index of the step that failed, and its cause
 * @example
 * ```ts
 * import { applyPipeline, buildPipeline } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['f', 'f', 'f', 'm'], hired: [0, 1, 0, 1] };
 * const pipeline = buildPipeline({ sensitive: ['sex'], pipeline: [{ transformer: 'InstanceReweighting' }] });
 * const result = await applyPipeline(pipeline, rows);
 * console.log(Array.from(result.sampleWeight ?? [], (weight) => weight.toFixed(2)));
 * // [ '0.67', '0.67', '0.67', '2.00' ]
 * ```
 */
export async function applyPipeline<Source extends TableSource>(
  pipeline: FairnessPipeline,
  data: Source,
  options: TransformerFitOptions = {},
): Promise<PipelineResult<DataLike<Source>>> {
  assertKnownOptions('applyPipeline', options, TRANSFORMER_FIT_OPTION_NAMES);
  return pipeline.isFitted ? pipeline.transform(data) : pipeline.fitTransform(data, options);
}
