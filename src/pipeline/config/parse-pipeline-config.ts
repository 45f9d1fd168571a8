import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { readConfig } from './read-config.ts';

/**
 * Parses a configuration from plain data. It has the keys of a configuration file, in snake_case or camelCase, so the
 * output of {@link loadConfig} is valid input too. Defaults are filled in, parameters are in camelCase, and the
 * result is frozen. Keys that are data (attributes and groups in `benchmarks`, groups in `targets`) stay as they are.
 * If `profiles` has only one profile, it is applied.
 *
 * Everything that does not need data is checked: names, ranges, and the requirements between keys. Whether columns
 * exist is checked when data are available.
 * @param where the name of the configuration in messages
 * @throws {ConfigValidationError} with all problems, one per line; `context.faults` lists them
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
  const noText = { indices: new WeakMap(), start: null };
  return readConfig({ value, ...noText, file: where ?? null, allowsCamelCase: true, request }).config;
}
