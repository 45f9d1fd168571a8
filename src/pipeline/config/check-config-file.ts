import { ConfigValidationError } from '../../exceptions/index.ts';
import { type ConfigProblem, describeConfigProblem, inTextOrder } from '../../io/config-text/config-problem.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import type { ConfigText } from '../../io/config-text/open-config-text.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { openConfigFile } from './config-text.ts';
import { type LoadConfigOptions, profileRequest } from './load-config.ts';
import { readConfig } from './read-config.ts';

/** The result of checking a configuration file. */
export interface ConfigCheck {
  /** The path of the file; null if no file was found. */
  readonly file: string | null;
  /** The problems, in the order in which they occur in the text; empty if the configuration is valid. */
  readonly faults: readonly ConfigProblem[];
  /** The name of the applied profile; null if no profile was applied. */
  readonly profile: string | null;
  /**
   * The names of all profiles. If there are several profiles and none was chosen, the configuration was checked with
   * each of them.
   */
  readonly profiles: readonly string[];
  /** The result for each profile, if there are several profiles and none was chosen. */
  readonly outlines: readonly ProfileOutline[];
  /**
   * The configuration; null if there are problems, or if the top level is valid only together with a profile and none
   * was chosen.
   */
  readonly config: PipelineConfig | null;
}

/** The result of checking a configuration with one of several profiles. */
interface ProfileOutline {
  readonly name: string;
  /** The keys that the profile replaces, as written in the file. */
  readonly changes: readonly string[];
  /** The configuration after this profile was merged; null if there are problems. */
  readonly config: PipelineConfig | null;
}

/**
 * Checks a configuration file in the same way as `loadConfig`. If the file has several profiles and none is chosen, the
 * file is checked with each profile.
 * @param path the file; the default search is used if omitted
 */
export async function checkConfigFile(path: string | undefined, options: LoadConfigOptions): Promise<ConfigCheck> {
  try {
    const text = await openConfigFile(path);
    const alone = readWith(text, profileRequest(options));
    const names = Object.keys(profilesIn(text));
    const isChosen = profileRequest(options).name !== undefined || names.length < 2;
    const others = isChosen ? [] : names.map((name) => readWith(text, { name, by: 'the check' }));
    // If there are several profiles, each profile may supply keys that are missing at the top level.
    const counted = isChosen ? [alone] : others;
    const problems = distinct(counted.flatMap((each) => each.faults));
    return {
      file: text.file,
      faults: problems,
      profile: alone.profile,
      profiles: names,
      outlines: others.map(({ config }, index) => outline(text, names[index] ?? '', config)),
      config: problems.length > 0 ? null : alone.config,
    };
  } catch (error) {
    return { file: path ?? null, faults: problemsOf(error), profile: null, profiles: [], outlines: [], config: null };
  }
}

type Outcome = Pick<ConfigCheck, 'faults' | 'profile' | 'config'>;

function readWith(text: ConfigText, request: ReturnType<typeof profileRequest>): Outcome {
  try {
    const { config, profile } = readConfig({ ...text, allowsCamelCase: false, request });
    return { faults: [], profile, config };
  } catch (error) {
    return { faults: problemsOf(error), profile: null, config: null };
  }
}

/** Returns the problems that an error about a configuration lists. Throws any other error again. */
function problemsOf(error: unknown): readonly ConfigProblem[] {
  const problems = error instanceof ConfigValidationError ? error.context['faults'] : undefined;
  if (!Array.isArray(problems)) throw error;
  return problems as ConfigProblem[];
}

function profilesIn({ value }: ConfigText): Mapping {
  const profiles = isMapping(value) ? value['profiles'] : undefined;
  return isMapping(profiles) ? profiles : {};
}

function outline(text: ConfigText, name: string, config: PipelineConfig | null): ProfileOutline {
  const profile = profilesIn(text)[name];
  return { name, changes: isMapping(profile) ? Object.keys(profile) : [], config };
}

/**
 * Removes repeated problems. They occur because every profile is checked together with the same top level. If the same
 * problem is reported with and without the name of a profile, the report with the name is kept, because it is more
 * specific.
 */
function distinct(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const byLength = [...problems].sort((a, b) => a.message.length - b.message.length);
  const alike = ({ message, ...problem }: ConfigProblem): string =>
    describeConfigProblem({ ...problem, message: message.replace(/^profiles[^:]*: /, ''), suggestion: '' });
  return inTextOrder([...new Map(byLength.map((problem) => [alike(problem), problem])).values()]);
}
