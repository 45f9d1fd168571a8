import type { TextPlace, YamlPlaces } from '../../io/yaml-document.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-config.ts';
import { buildConfig } from './build-config.ts';
import { canonicalDocument, isMapping } from './canonical-keys.ts';
import { checkAcross } from './check-across.ts';
import { chooseProfile, type ProfileRequest } from './choose-profile.ts';
import { type ConfigFault, faultsError } from './config-fault.ts';
import { describeValue, placeFault, wordingOf } from './fault-places.ts';
import type { PathFault } from './path-fault.ts';
import { readFields } from './read-fields.ts';

/** A configuration as data, and what is known of where it comes from. */
export interface ConfigSource {
  readonly value: unknown;
  /** Where its parts stand; empty where it is no text. */
  readonly places: YamlPlaces;
  /** Where it begins; null where it is no text. */
  readonly start: TextPlace | null;
  /** What it is called in messages. */
  readonly file: string | null;
  readonly allowsCamelCase: boolean;
  readonly request: ProfileRequest;
}

/** A configuration, and the profile that it was read with. */
export interface ReadConfig {
  readonly config: PipelineConfig;
  /** null for none. */
  readonly profile: string | null;
  /** Every profile there is. */
  readonly profiles: readonly string[];
}

/**
 * Reads a configuration from data: names keys, lays the profile over it, checks each field and then fields together.
 * @throws {ConfigValidationError} with all that is wrong
 */
export function readConfig({ value, places, start, file, allowsCamelCase, request }: ConfigSource): ReadConfig {
  const renamed: PathFault[] = [];
  const root = canonicalDocument(value, { places, faults: renamed, allowsCamelCase });
  if (!isMapping(root)) throw faultsError([notMapping(root, start, file)]);
  const chosen = chooseProfile(root, request, places, wordingOf(root, places));
  const faults = [...renamed, ...chosen.faults].map((fault) => placeFault(fault, root, places, file));
  if (chosen.isLost) throw faultsError(faults);
  const { fields, faults: wrong } = readFields(chosen.document, wordingOf(chosen.document, places));
  const across = checkAcross(fields);
  faults.push(...[...wrong, ...across].map((fault) => placeFault(fault, chosen.document, places, file)));
  if (faults.length > 0) throw faultsError(faults);
  return { config: buildConfig(fields), profile: chosen.profile, profiles: chosen.names };
}

function notMapping(root: unknown, start: TextPlace | null, file: string | null): ConfigFault {
  return {
    file,
    line: start?.line ?? null,
    column: start?.column ?? null,
    key: '',
    message: `a configuration must be a mapping of keys; got ${describeValue(root)}`,
    suggestion: 'Start with the sensitive attributes, as in sensitive: [sex].',
  };
}
