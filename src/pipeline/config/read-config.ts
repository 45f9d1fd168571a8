import { faultsError } from '../../io/config-text/config-fault.ts';
import { placeFault, wordingOf } from '../../io/config-text/fault-places.ts';
import { isMapping } from '../../internal/values.ts';
import { notMapping } from '../../io/config-text/open-config-text.ts';
import type { KeyPath, PathFault } from '../../io/config-text/path-fault.ts';
import { readFields } from '../../io/config-text/read-fields.ts';
import { copyPlaces, type Rename, renameEach, renameKeys, type Renaming } from '../../io/config-text/rename-keys.ts';
import type { TextPlace, YamlPlaces } from '../../io/read-yaml.ts';
import {
  PIPELINE_FIELDS,
  type PipelineConfig,
  STEP_KEYS,
  TRAINING_KEYS,
} from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import { buildConfig } from './build-config.ts';
import { checkAcross } from './check-across.ts';
import { chooseProfile, type ProfileRequest } from './choose-profile.ts';
import { PIPELINE_DIALECT } from './config-text.ts';

const NOTHING: ReadonlyMap<string, Rename> = new Map();
const COST_KEYS = ['false_positive', 'false_negative'];

/**
 * A configuration with its declared keys under their one name each: aliases and
 * camelCase are gone, keys that are data and unknown ones are as they were.
 */
function canonicalDocument(value: unknown, renaming: Renaming): unknown {
  const declared = Object.keys(PIPELINE_FIELDS);
  const fields = new Map<string, Rename>([
    ['pipeline', renameEach((step, path) => renameStep(step, path, renaming), renaming)],
    ['training', (training, path) => renameTraining(training, path, renaming)],
  ]);
  const profiles = renameEach((profile, path) => renameKeys(profile, path, declared, fields, renaming), renaming);
  return renameKeys(value, [], [...declared, 'profiles'], new Map([...fields, ['profiles', profiles]]), renaming);
}

function renameStep(step: unknown, path: KeyPath, renaming: Renaming): unknown {
  const renamed = renameKeys(step, path, STEP_KEYS, NOTHING, renaming);
  return withParams(renamed, path, TRANSFORMER_PARAMS, 'transformer', renaming);
}

function renameTraining(training: unknown, path: KeyPath, renaming: Renaming): unknown {
  const renamed = renameKeys(training, path, TRAINING_KEYS, NOTHING, renaming);
  return withParams(renamed, path, TRAINING_PARAMS, 'method', renaming);
}

/** Renames the keys of parameters; which there are depends on what they are the parameters of. */
function withParams(
  owner: unknown,
  path: KeyPath,
  schemas: Readonly<Record<string, { readonly shape: object }>>,
  discriminator: string,
  renaming: Renaming,
): unknown {
  const name = isMapping(owner) ? owner[discriminator] : undefined;
  const schema = typeof name === 'string' && Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (!isMapping(owner) || schema === undefined || !('params' in owner)) return owner;
  const costs: Rename = (value, at) => renameKeys(value, at, COST_KEYS, NOTHING, renaming);
  const keys = Object.keys(schema.shape);
  const params = renameKeys(owner['params'], [...path, 'params'], keys, new Map([['costs', costs]]), renaming);
  return copyPlaces(owner, { ...owner, params }, renaming);
}

const FIELDS = { schemas: PIPELINE_FIELDS, otherKeys: ['profiles'], dialect: PIPELINE_DIALECT };

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
  const root = canonicalDocument(value, {
    places,
    faults: renamed,
    allowsCamelCase,
    aliases: PIPELINE_DIALECT.aliases,
  });
  if (!isMapping(root)) throw faultsError([notMapping(root, start, file, PIPELINE_DIALECT)], PIPELINE_DIALECT);
  const chosen = chooseProfile(root, request, places, wordingOf(root, places));
  const faults = [...renamed, ...chosen.faults].map((fault) => placeFault(fault, root, places, file));
  if (chosen.isLost) throw faultsError(faults, PIPELINE_DIALECT);
  const { fields, faults: wrong } = readFields(chosen.document, wordingOf(chosen.document, places), FIELDS);
  const across = checkAcross(fields);
  faults.push(...[...wrong, ...across].map((fault) => placeFault(fault, chosen.document, places, file)));
  if (faults.length > 0) throw faultsError(faults, PIPELINE_DIALECT);
  return { config: buildConfig(fields), profile: chosen.profile, profiles: chosen.names };
}
