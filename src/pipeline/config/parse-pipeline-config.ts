import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { readConfig } from './read-config.ts';

/**
 * A configuration from plain data: the keys of a configuration file, in
 * snake_case or camelCase, so that what {@link loadConfig} gave can be given
 * back. Defaults are filled in, parameters are in camelCase, the result is
 * frozen. Keys that are data (attributes and groups in `benchmarks`, groups in
 * `targets`) stay as they are. Of `profiles` the only one is taken.
 *
 * It checks what can be checked without data: names, ranges, and what keys
 * require of each other. Whether columns exist is found out when data come.
 * @param where what the configuration is called in messages
 * @throws {ConfigValidationError} with all that is wrong, a line each; `context.faults` lists them
 * @example
 * ```ts
 * import { parsePipelineConfig } from 'evenhand/pipeline';
 *
 * const config = parsePipelineConfig({
 *   sensitive: 'sex',
 *   steps: [{ kind: 'InstanceReweighting', params: { max_weight: 5 } }],
 * });
 * console.log(config.sensitive, config.alpha, config.pipeline[0]);
 * // [ 'sex' ] 0.05 {
 * //   name: 'InstanceReweighting',
 * //   transformer: 'InstanceReweighting',
 * //   params: { maxWeight: 5 }
 * // }
 * ```
 */
export function parsePipelineConfig(value: unknown, where?: string): PipelineConfig {
  const request = { name: undefined, by: '' };
  const noText = { places: new WeakMap(), start: null };
  return readConfig({ value, ...noText, file: where ?? null, allowsCamelCase: true, request }).config;
}
