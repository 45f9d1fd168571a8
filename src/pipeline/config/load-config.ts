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
   * Which of the file's profiles is laid over its top level.
   * With null the environment is not asked.
   * @defaultValue EVENHAND_PROFILE, else the only one; of several none, with a warning
   */
  readonly profile?: string | null | undefined;
}

const LOAD_CONFIG_OPTION_NAMES: OptionNames<LoadConfigOptions> = { profile: true };

/**
 * Reads a configuration file: YAML (or JSON), described in docs/configuration.md.
 * @param path the file; {@link findConfigFile} looks for one where it is left out
 * @throws {ConfigValidationError} where there is no file, or with all that is wrong in it, a line each; `context.faults` lists them with line, column and key
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
 * A configuration from the text of a file.
 * @param file what the text is called in messages
 * @throws {ConfigValidationError} with all that is wrong, a line each: `file:line:column: key: what was required; what came.`
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

/** Which profile the caller or the environment asks for. */
export function profileRequest({ profile }: LoadConfigOptions): ProfileRequest {
  if (profile === null) return { name: undefined, by: 'nobody' };
  if (profile !== undefined) return { name: profile, by: 'profile' };
  const variable = process.env['EVENHAND_PROFILE'];
  return { name: variable === '' ? undefined : variable, by: 'EVENHAND_PROFILE' };
}

function withProfile(text: ConfigText, options: LoadConfigOptions): PipelineConfig {
  const read = readConfig({ ...text, allowsCamelCase: false, request: profileRequest(options) });
  if (read.profile === null && read.profiles.length > 0) {
    getLogger().warn(
      `${text.file} has the profiles ${read.profiles.join(', ')}, and none was chosen: its top level is used alone. Choose one with --profile or EVENHAND_PROFILE.`,
    );
  }
  return read.config;
}
