import { withoutUndefined } from '../../internal/values.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import { paramsToSnakeCase } from './params-case.ts';

/**
 * Converts a configuration to plain data with the keys of a configuration file, always in the same order.
 * `parsePipelineConfig` can read the result.
 * @example
 * ```ts
 * import { parsePipelineConfig, pipelineConfigToJson } from 'evenhand/pipeline';
 *
 * const config = parsePipelineConfig({ sensitive: 'sex', validation_threshold: 0.1 });
 * console.log(JSON.stringify(pipelineConfigToJson(config)));
 * // {"sensitive":["sex"],"intersections":[],"benchmarks":{},"alpha":0.05,"proxy_threshold":0.3,"pipeline":[],"validation_threshold":0.1}
 * ```
 */
export function pipelineConfigToJson(config: PipelineConfig): Record<string, unknown> {
  const { training } = config;
  return withoutUndefined({
    sensitive: config.sensitive,
    intersections: config.intersections,
    benchmarks: config.benchmarks,
    alpha: config.alpha,
    proxy_threshold: config.proxyThreshold,
    report_out: config.reportOut,
    pipeline: config.pipeline.map(({ name, transformer, params }) => ({
      name,
      transformer,
      params: paramsToSnakeCase(params, TRANSFORMER_PARAMS[transformer]),
    })),
    features: config.features,
    na_values: config.naValues,
    decimal: config.decimal,
    training:
      training &&
      withoutUndefined({
        method: training.method,
        target_column: training.targetColumn,
        positive_label: training.positiveLabel,
        params: paramsToSnakeCase(training.params, TRAINING_PARAMS[training.method]),
      }),
    fairness_metric: config.fairnessMetric,
    validation_threshold: config.validationThreshold,
    strict_missing: config.strictMissing,
    cluster: config.cluster,
    strata: config.strata,
  });
}
