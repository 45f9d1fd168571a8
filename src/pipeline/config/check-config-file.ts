import { ConfigValidationError } from '../../exceptions/index.ts';
import { type ConfigFault, describeFault, inTextOrder } from '../../io/config-text/config-fault.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import type { ConfigText } from '../../io/config-text/open-config-text.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { openConfigFile } from './config-text.ts';
import { type LoadConfigOptions, profileRequest } from './load-config.ts';
import { readConfig } from './read-config.ts';

/** What a configuration file comes to. */
export interface ConfigCheck {
  /** null where no file was found. */
  readonly file: string | null;
  /** What is wrong, in the order of the text; nothing where it can be used. */
  readonly faults: readonly ConfigFault[];
  /** The profile that was taken; null for none. */
  readonly profile: string | null;
  /** Every profile there is; they were all checked where none was chosen. */
  readonly profiles: readonly string[];
  /** What each profile comes to, where none was chosen of several. */
  readonly outlines: readonly ProfileOutline[];
  /** null where there are faults, or where the top level needs one of several profiles. */
  readonly config: PipelineConfig | null;
}

/** One of several profiles. */
interface ProfileOutline {
  readonly name: string;
  /** The keys that it replaces, as they are written. */
  readonly changes: readonly string[];
  /** null where there are faults. */
  readonly config: PipelineConfig | null;
}

/**
 * Checks a configuration file: as `loadConfig` reads it, and where it has
 * several profiles and none is chosen, with each of them.
 * @param path the file; one is looked for where it is left out
 */
export async function checkConfigFile(path: string | undefined, options: LoadConfigOptions): Promise<ConfigCheck> {
  try {
    const text = await openConfigFile(path);
    const alone = readWith(text, profileRequest(options));
    const names = Object.keys(profilesIn(text));
    const isChosen = profileRequest(options).name !== undefined || names.length < 2;
    const others = isChosen ? [] : names.map((name) => readWith(text, { name, by: 'the check' }));
    // Of several profiles each may bring what the top level lacks.
    const counted = isChosen ? [alone] : others;
    const faults = distinct(counted.flatMap((each) => each.faults));
    return {
      file: text.file,
      faults,
      profile: alone.profile,
      profiles: names,
      outlines: others.map(({ config }, index) => outline(text, names[index] ?? '', config)),
      config: faults.length > 0 ? null : alone.config,
    };
  } catch (error) {
    return { file: path ?? null, faults: faultsOf(error), profile: null, profiles: [], outlines: [], config: null };
  }
}

type Outcome = Pick<ConfigCheck, 'faults' | 'profile' | 'config'>;

function readWith(text: ConfigText, request: ReturnType<typeof profileRequest>): Outcome {
  try {
    const { config, profile } = readConfig({ ...text, allowsCamelCase: false, request });
    return { faults: [], profile, config };
  } catch (error) {
    return { faults: faultsOf(error), profile: null, config: null };
  }
}

/** @throws what is no fault of a configuration */
function faultsOf(error: unknown): readonly ConfigFault[] {
  const faults = error instanceof ConfigValidationError ? error.context['faults'] : undefined;
  if (!Array.isArray(faults)) throw error;
  return faults as ConfigFault[];
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
 * Each fault once, though every profile's reading tells it. That of a profile
 * not taken names the profile, which is the better of two that are alike.
 */
function distinct(faults: readonly ConfigFault[]): ConfigFault[] {
  const byLength = [...faults].sort((a, b) => a.message.length - b.message.length);
  const alike = ({ message, ...fault }: ConfigFault): string =>
    describeFault({ ...fault, message: message.replace(/^profiles[^:]*: /, ''), suggestion: '' });
  return inTextOrder([...new Map(byLength.map((fault) => [alike(fault), fault])).values()]);
}
