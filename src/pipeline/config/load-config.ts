import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { type ConfigText, openConfigText } from '../../io/config-text/open-config-text.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import type { ProfileRequest } from './choose-profile.ts';
import { openConfigFile, PIPELINE_DIALECT } from './config-text.ts';
import { readConfig } from './read-config.ts';

/** Options of {@link loadConfig} and {@link parseConfigText}. */
export interface LoadConfigOptions {
  /**
   * The name of the profile that is merged into the top level of the file. If this option is null, the environment
   * variable is ignored.
   * @defaultValue EVENHAND_PROFILE, else the only profile. If there are several profiles, none is applied, and a
   *   warning is logged.
   */
  readonly profile?: string | null | undefined;
  /**
   * The columns of the data. A column that the configuration names and the data do not have is then an error at its
   * position in the file.
   * @defaultValue none: columns are checked when the data are read
   */
  readonly columns?: readonly string[] | undefined;
}

const LOAD_CONFIG_OPTION_NAMES: OptionNames<LoadConfigOptions> = { profile: true, columns: true };

/**
 * Reads a configuration file: YAML (or JSON), described in docs/configuration.md.
 * @param path the file; {@link findConfigFile} searches for one if omitted
 * @throws {ConfigValidationError} if there is no file, or if the file has problems. The message lists all problems, one
 *   per line. `context.faults` lists them with line, column and key
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { loadConfig } from 'evenhand/pipeline';
 *
 * writeFileSync('audit.yml', 'sensitive: [sex]\nprofiles: { strict: { alpha: 0.01 } }\n');
 * const config = await loadConfig('audit.yml', { profile: 'strict' });
 * console.log(config.sensitive, config.alpha);
 * // [ 'sex' ] 0.01
 * ```
 */
export async function loadConfig(path?: string, options: LoadConfigOptions = {}): Promise<PipelineConfig> {
  assertKnownOptions('loadConfig', options, LOAD_CONFIG_OPTION_NAMES);
  return withProfile(await openConfigFile(path), options);
}

/**
 * Parses a configuration from the text of a file.
 * @param file the name by which messages refer to the text
 * @throws {ConfigValidationError} with all problems, one per line: `file:line:column: key: requirement; value found.`
 * @example
 * ```ts
 * import { parseConfigText } from 'evenhand/pipeline';
 *
 * const problem = await parseConfigText('sensitve: [sex]', 'audit.yml').catch(String);
 * console.log(problem);
 * // ConfigValidationError: audit.yml:1:1: unknown key 'sensitve'. Did you mean 'sensitive'?
 * ```
 */
export async function parseConfigText(
  text: string,
  file = 'config',
  options: LoadConfigOptions = {},
): Promise<PipelineConfig> {
  assertKnownOptions('parseConfigText', options, LOAD_CONFIG_OPTION_NAMES);
  return withProfile(await openConfigText(text, file, PIPELINE_DIALECT), options);
}

/**
 * Parses a configuration from plain data. The data have the same keys as a configuration file, in snake_case or
 * camelCase. The output of {@link loadConfig} is therefore also valid. Defaults are filled in, parameters are renamed
 * to camelCase, and the result is frozen. The names of attributes and groups in `benchmarks` and `targets` are not
 * renamed. If `profiles` has only one profile, this profile is applied.
 *
 * Names, ranges, and the requirements between keys are checked. Whether columns exist is checked later, when data are
 * available.
 * @param where the name by which messages refer to the configuration
 * @throws {ConfigValidationError} with all problems, one per line. `context.faults` lists the problems as objects
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

/** Returns the profile that the caller or the environment requests. */
export function profileRequest({ profile }: LoadConfigOptions): ProfileRequest {
  if (profile === null) return { name: undefined, by: 'nobody' };
  if (profile !== undefined) return { name: profile, by: 'the profile option' };
  const variable = process.env['EVENHAND_PROFILE'];
  return { name: variable === '' ? undefined : variable, by: 'EVENHAND_PROFILE' };
}

function withProfile(text: ConfigText, options: LoadConfigOptions): PipelineConfig {
  const read = readConfig({
    ...{ ...text, allowsCamelCase: false },
    ...{ request: profileRequest(options), columns: options.columns },
  });
  // A configuration whose columns are checked was read before.
  if (read.profile === null && read.profiles.length > 0 && options.columns === undefined) {
    getLogger().warn(
      `${text.file} has the profiles ${read.profiles.join(', ')}, but none was chosen, so only its top level is used. Choose one with --profile or EVENHAND_PROFILE.`,
    );
  }
  return read.config;
}
