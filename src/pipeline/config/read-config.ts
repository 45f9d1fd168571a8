import { problemsError } from '../../io/config-text/config-problem.ts';
import { camelFields } from '../../internal/arguments.ts';
import { freezeDeep, isMapping, listOf } from '../../internal/values.ts';
import { notMapping } from '../../io/config-text/open-config-text.ts';
import { type KeyPath, type PathProblem, positionProblem, wordingOf } from '../../io/config-text/path-problem.ts';
import { readFields } from '../../io/config-text/read-fields.ts';
import { copyPositions, type Rename, renameEach, renameKeys, type Renaming } from '../../io/config-text/rename-keys.ts';
import type { TextPosition, YamlPositions } from '../../io/read-yaml.ts';
import {
  PIPELINE_FIELDS,
  type PipelineConfig,
  type PipelineDocument,
  type PipelineStepConfig,
  STEP_KEYS,
  TRAINING_KEYS,
  type TrainingConfig,
} from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import { checkAcross } from './check-across.ts';
import { chooseProfile, type ProfileRequest } from './choose-profile.ts';
import { PIPELINE_DIALECT } from './config-text.ts';
import { paramsToCamelCase } from './params-case.ts';

const NOTHING: ReadonlyMap<string, Rename> = new Map();
const COST_KEYS = ['false_positive', 'false_negative'];

/**
 * Returns a configuration in which aliases and camelCase forms of declared keys are replaced with their canonical
 * names. Other keys, such as the names of attributes and groups, are not changed.
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

/**
 * Renames the keys of the parameters of a step or of the training section. The transformer of the step, or the training
 * method, determines which keys are known.
 */
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
  return copyPositions(owner, { ...owner, params }, renaming);
}

const FIELDS = { schemas: PIPELINE_FIELDS, otherKeys: ['profiles'], dialect: PIPELINE_DIALECT };

/** A configuration that has not been checked, and information about its source. */
export interface ConfigSource {
  readonly value: unknown;
  /** The positions of keys and values in the source text; empty if there is no source text. */
  readonly indices: YamlPositions;
  /** The position at which the configuration begins in the source text; null if there is no source text. */
  readonly start: TextPosition | null;
  /** The name by which messages refer to the configuration. */
  readonly file: string | null;
  readonly allowsCamelCase: boolean;
  readonly request: ProfileRequest;
  /** The columns of the data, if they are known. */
  readonly columns?: readonly string[] | undefined;
}

/** A configuration, and the profile that was applied. */
export interface ReadConfig {
  readonly config: PipelineConfig;
  /** The name of the applied profile; null if no profile was applied. */
  readonly profile: string | null;
  /** The names of all profiles. */
  readonly profiles: readonly string[];
}

/**
 * Reads a configuration from data: renames keys, merges the profile, then checks each field and the requirements
 * between fields.
 * @throws {ConfigValidationError} with all problems
 */
export function readConfig({
  value,
  indices: places,
  start,
  file,
  allowsCamelCase,
  request,
  columns,
}: ConfigSource): ReadConfig {
  const renamed: PathProblem[] = [];
  const root = canonicalDocument(value, {
    indices: places,
    faults: renamed,
    allowsCamelCase,
    aliases: PIPELINE_DIALECT.aliases,
  });
  if (!isMapping(root)) throw problemsError([notMapping(root, start, file, PIPELINE_DIALECT)], PIPELINE_DIALECT);
  const chosen = chooseProfile(root, request, places, wordingOf(root, places));
  const problems = [...renamed, ...chosen.faults].map((problem) => positionProblem(problem, root, places, file));
  if (chosen.isLost) throw problemsError(problems, PIPELINE_DIALECT);
  const { fields, faults: wrong } = readFields(chosen.document, wordingOf(chosen.document, places), FIELDS);
  const across = checkAcross(fields, columns);
  problems.push(...[...wrong, ...across].map((problem) => positionProblem(problem, chosen.document, places, file)));
  if (problems.length > 0) throw problemsError(problems, PIPELINE_DIALECT);
  return { config: buildConfig(fields), profile: chosen.profile, profiles: chosen.names };
}

/**
 * Builds a configuration from checked fields: fills in names and empty lists, renames keys to camelCase, and freezes
 * the result.
 */
function buildConfig(fields: Partial<PipelineDocument>): PipelineConfig {
  // All required fields are present, because the check has already reported missing fields.
  const document = fields as PipelineDocument;
  const { sensitive, intersections = [], benchmarks = {}, pipeline = [], training, ...others } = document;
  return freezeDeep({
    sensitive: listOf(sensitive),
    intersections,
    benchmarks,
    pipeline: buildSteps(pipeline),
    ...camelFields(others),
    ...(training === undefined ? {} : { training: buildTraining(training) }),
  });
}

/** Names each unnamed step after its transformer. If that name is already in use, a number is appended. */
function buildSteps(steps: NonNullable<PipelineDocument['pipeline']>): PipelineStepConfig[] {
  const taken = new Set(steps.map(({ name }) => name));
  return steps.map(({ name, transformer, params }) => {
    const own = name ?? freeName(transformer, taken);
    taken.add(own);
    return { name: own, transformer, params: paramsToCamelCase(params ?? {}, TRANSFORMER_PARAMS[transformer]) };
  });
}

function freeName(kind: string, taken: ReadonlySet<string | undefined>): string {
  let name = kind;
  for (let number = 2; taken.has(name); number++) name = `${kind}_${String(number)}`;
  return name;
}

function buildTraining(training: NonNullable<PipelineDocument['training']>): TrainingConfig {
  const { params = {}, ...others } = training;
  return { ...camelFields(others), params: paramsToCamelCase(params, TRAINING_PARAMS[training.method]) };
}
