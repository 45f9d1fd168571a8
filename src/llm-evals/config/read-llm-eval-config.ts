import { suggestNames } from '../../internal/arguments.ts';
import { type ConfigProblem, problemsError } from '../../io/config-text/config-problem.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import { notMapping } from '../../io/config-text/open-config-text.ts';
import {
  formatPath,
  type KeyPath,
  type PathProblem,
  positionProblem,
  problemAt,
  wordingOf,
} from '../../io/config-text/path-problem.ts';
import { readFields } from '../../io/config-text/read-fields.ts';
import type { TextPosition, YamlPositions } from '../../io/read-yaml.ts';
import { LLM_EVAL_FIELDS, type LLMEvalConfig, type LLMEvalDocument } from '../../schemas/llm-eval/llm-eval-document.ts';
import { NAME } from '../plan/counterfactual/parse-template.ts';
import { buildLlmEvalConfig, defaultModel, hasMaterial } from './build-llm-eval-config.ts';
import { canonicalLlmDocument, LLM_EVAL_DIALECT, PARSED_NAMES } from './canonical-llm-keys.ts';
import { checkTargets } from './check-targets.ts';
import { checkTemplates, checkUse } from './check-templates.ts';
import { concealedPath, findSecrets } from './find-secrets.ts';

const PATH = ['counterfactual', 'name_pools'];

/** Checks the pools of names: each value of one dimension has a pool, and no name is in two pools. */
function checkNamePools({ dimensions, name_pools: pools = {} }: Section): PathProblem[] {
  const keys = Object.keys(pools);
  if (keys.length === 0) return [];
  const unknown = checkKeys(keys, Object.values(dimensions).flat());
  return unknown.length > 0 ? unknown : [...checkInteger(keys, dimensions), ...checkNames(pools)];
}

function checkKeys(keys: readonly string[], values: readonly string[]): PathProblem[] {
  return keys
    .filter((key) => !values.includes(key))
    .map((key) =>
      problemAt([...PATH, key], `'${key}' is not a value of any dimension`, suggestNames(key, values, 'values'), 'key'),
    );
}

/**
 * Checks that all values are of one dimension. If the names belonged to two dimensions, both dimensions would vary at
 * once.
 */
function checkInteger(keys: readonly string[], dimensions: Section['dimensions']): PathProblem[] {
  const meant = Object.entries(dimensions).filter(([, values]) => values.some((value) => keys.includes(value)));
  const complete = meant.find(([, values]) => keys.every((key) => values.includes(key)));
  if (complete === undefined) {
    const names = meant.map(([name]) => name).join(' and ');
    const suggestion =
      'Keep the values of one dimension. To vary both, combine them in one dimension, such as person: [Black woman, white man].';
    return [
      problemAt(PATH, `must use the values of a single dimension; its keys are values of ${names}`, suggestion, 'key'),
    ];
  }
  const [name, values] = complete;
  return values
    .filter((value) => !keys.includes(value))
    .map((value) => problemAt(PATH, `has no names for '${value}' of ${name}`, `Add the key '${value}'.`, 'key'));
}

function checkNames(pools: NonNullable<Section['name_pools']>): PathProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(pools).flatMap(([value, names]) =>
    names.flatMap((name, index) => {
      const owner = owners.get(name);
      owners.set(name, owner ?? value);
      if (owner === undefined) return [];
      const message = owner === value ? `names '${name}' twice` : `'${name}' is a name of '${owner}' too`;
      return [problemAt([...PATH, value, index], message, 'Name it once.')];
    }),
  );
}

type Section = NonNullable<LLMEvalDocument['counterfactual']>;

/** Checks the consistency of the section `counterfactual`. Templates are checked separately. */
function checkCounterfactual(section: Section | undefined): PathProblem[] {
  if (section === undefined) return [];
  return [...checkDimensions(section), ...checkDefaults(section), ...checkNamePools(section), ...checkControl(section)];
}

function checkDimensions({ dimensions, name_pools: pools = {} }: Section): PathProblem[] {
  const path = ['counterfactual', 'dimensions'];
  if (Object.keys(dimensions).length === 0) {
    return [problemAt(path, 'must have at least one dimension', 'For example: gender: [woman, man].')];
  }
  return Object.entries(dimensions).flatMap(([name, values]) => [
    ...checkDimensionName(name, pools, [...path, name]),
    ...values.flatMap((value, index) => checkValue(value, values.slice(0, index), [...path, name, index])),
  ]);
}

function checkDimensionName(
  name: string,
  pools: NonNullable<Section['name_pools']>,
  path: readonly string[],
): PathProblem[] {
  if (name === NAME && Object.keys(pools).length > 0) {
    return [problemAt(path, "'name' is the placeholder of name_pools", 'Give the dimension another name.', 'key')];
  }
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)
    ? []
    : [problemAt(path, 'must consist of letters, digits, _ and -, because placeholders use it', 'Rename it.', 'key')];
}

/**
 * Checks a value. Values must differ in more than case, because two values could otherwise be equal at the start of a
 * sentence.
 */
function checkValue(value: string, before: readonly string[], path: readonly (string | number)[]): PathProblem[] {
  if (value.trim() !== value) {
    return [problemAt(path, 'must not start or end with a space', 'Remove the space.')];
  }
  const same = before.find((each) => each.toLowerCase() === value.toLowerCase());
  if (same === undefined) return [];
  const message = same === value ? `names '${value}' twice` : `'${value}' differs from '${same}' only in case`;
  return [problemAt(path, message, 'Name different values.')];
}

function checkDefaults({ dimensions, defaults = {} }: Section): PathProblem[] {
  return Object.entries(defaults).flatMap(([name, value]) => {
    const path = ['counterfactual', 'defaults', name];
    const values = Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
    if (values === undefined) return [unknownDimension(path, name, dimensions, 'key')];
    if (values.includes(value)) return [];
    return [problemAt(path, `'${value}' is not a value of ${name}`, suggestNames(value, values, 'values'))];
  });
}

function checkControl({ dimensions, control_dimension: name }: Section): PathProblem[] {
  if (name === undefined || Object.hasOwn(dimensions, name)) return [];
  return [unknownDimension(['counterfactual', 'control_dimension'], name, dimensions, 'value')];
}

function unknownDimension(
  path: readonly string[],
  name: string,
  dimensions: Section['dimensions'],
  at: 'key' | 'value',
): PathProblem {
  const suggestion = suggestNames(name, Object.keys(dimensions), 'dimensions');
  return problemAt(path, `there is no dimension '${name}'`, suggestion, at);
}

/** Settings of a request that must not be in `params`, each with advice on how to set it instead. */
const TAKEN: Readonly<Record<string, string>> = {
  model: 'Set the top-level key model.',
  messages: 'Write prompts as prompt_templates.',
  prompt: 'Write prompts as prompt_templates.',
  input: 'Write prompts as prompt_templates.',
  contents: 'Write prompts as prompt_templates.',
  system: 'Write it as system_prompt.',
  instructions: 'Write it as system_prompt.',
  systemInstruction: 'Write it as system_prompt.',
  stream: 'Remove it: answers are not streamed.',
  n: 'Write it as repeats: each answer is a request.',
};

/** The maximum depth of a setting. */
const DEEPEST = 20;

/** Checks that settings do not override parts of the request, and that JSON supports their values. */
function checkParams(params: LLMEvalDocument['params']): PathProblem[] {
  if (params === undefined) return [];
  const taken = Object.keys(params).flatMap((name) => {
    const advice = Object.hasOwn(TAKEN, name) ? TAKEN[name] : undefined;
    return advice === undefined ? [] : [problemAt(['params', name], 'cannot be set in params', advice, 'key')];
  });
  return [...taken, ...Object.entries(params).flatMap(([name, value]) => checkSendable(value, ['params', name]))];
}

function checkSendable(value: unknown, path: KeyPath): PathProblem[] {
  if (path.length > DEEPEST) return [problemAt(path, 'is nested too deeply', 'Use fewer levels of nesting.')];
  if (Array.isArray(value)) return value.flatMap((item, index) => checkSendable(item, [...path, index]));
  if (isMapping(value)) return Object.entries(value).flatMap(([key, item]) => checkSendable(item, [...path, key]));
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return [];
  return [problemAt(path, 'must be a string, number or boolean that JSON supports', 'Correct it or remove it.')];
}

/** The valid fields of a document. Invalid fields are omitted. */
type Fields = Partial<LLMEvalDocument>;

/** The fields that contain prompts. If one of these fields is invalid, the number of prompts is unknown. */
const MATERIAL = ['counterfactual', 'prompt_templates', 'bbq_path'] as const;

const NEEDS: Readonly<Record<string, string>> = {
  counterfactual: "needs the section 'counterfactual'",
  refusal: 'needs a template',
  toxicity_sentiment: 'needs a template',
  stereotype: 'needs bbq_path or a template',
};

/**
 * Checks that the fields are consistent with each other.
 * @param document all fields of the configuration, including invalid fields
 */
function checkAcross(fields: Fields, document: Mapping): PathProblem[] {
  const isReadable = MATERIAL.every((name) => !(name in document) || fields[name] !== undefined);
  const section = checkCounterfactual(fields.counterfactual);
  return [
    ...checkProvider(fields),
    ...checkTargets(fields, document),
    ...checkParams(fields.params),
    ...checkRepeated(fields.evaluators, 'evaluators'),
    ...checkRepeated(fields.bbq_formats, 'bbq_formats'),
    ...section,
    ...(isReadable ? [...checkTemplates(fields), ...checkMaterial(fields)] : []),
    ...(isReadable && section.length === 0 ? checkUse(fields) : []),
  ];
}

function checkMaterial(fields: Fields): PathProblem[] {
  if (MATERIAL.every((name) => fields[name] === undefined)) {
    const suggestion = 'Add prompt_templates, counterfactual or bbq_path.';
    return [{ path: [], at: 'key', message: 'there are no prompts', suggestion }];
  }
  return (fields.evaluators ?? []).flatMap((name, index) => {
    if (hasMaterial(name, fields)) return [];
    return [problemAt(['evaluators', index], `'${name}' ${String(NEEDS[name])}`, 'Add it, or remove this evaluator.')];
  });
}

function checkRepeated(names: readonly string[] | undefined, field: string): PathProblem[] {
  return (names ?? []).flatMap((name, index) =>
    names?.indexOf(name) === index ? [] : [problemAt([field, index], `names '${name}' twice`, 'Name it once.')],
  );
}

/** Checks that the provider has all required settings, and that its address is valid. */
function checkProvider(fields: Fields): PathProblem[] {
  const { provider, base_url: baseUrl } = fields;
  const missing = provider === undefined ? [] : checkNeeds(provider, fields);
  return baseUrl === undefined ? missing : [...missing, ...checkAddress(baseUrl)];
}

function checkNeeds(provider: NonNullable<Fields['provider']>, fields: Fields): PathProblem[] {
  const missing = (name: keyof LLMEvalDocument): PathProblem =>
    problemAt([name], `is missing; the provider ${provider} needs it`, `Add the key '${name}'.`);
  const advice = 'Set provider: replay, or remove it.';
  const isPathUseless = provider !== 'replay' && fields.replay_path !== undefined;
  return [
    ...(fields.model === undefined && defaultModel(fields) === undefined ? [missing('model')] : []),
    ...(fields.base_url === undefined && provider === 'compatible' ? [missing('base_url')] : []),
    ...(fields.replay_path === undefined && provider === 'replay' ? [missing('replay_path')] : []),
    ...(isPathUseless ? [problemAt(['replay_path'], 'is used only by the provider replay', advice, 'key')] : []),
  ];
}

/** Checks an address. Error messages do not show the address, because it may contain a key. */
function checkAddress(given: string): PathProblem[] {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    const suggestion = 'For example: http://127.0.0.1:11434/v1.';
    return [problemAt(['base_url'], 'must be a URL that starts with http:// or https://', suggestion)];
  }
  if (url.username !== '' || url.password !== '') {
    return [problemAt(['base_url'], 'must not contain a user or password', 'Remove the part before the @.')];
  }
  // The text is checked, because `search` and `hash` are empty for a single ? or #.
  return /[?#]/.test(given)
    ? [problemAt(['base_url'], 'must not have a query or fragment', 'Remove the part that begins with ? or #.')]
    : [];
}

const FIELDS = { schemas: LLM_EVAL_FIELDS, otherKeys: [], dialect: LLM_EVAL_DIALECT };

/** The parsed content of a configuration, with its name and the positions of its keys. */
export interface LlmConfigSource {
  readonly value: unknown;
  /** The positions of the keys and values in the text; empty if the configuration was not given as text. */
  readonly indices: YamlPositions;
  /** The position where the text starts; null if the configuration was not given as text. */
  readonly start: TextPosition | null;
  /** The name of the configuration in error messages; null if it has no name. */
  readonly file: string | null;
  readonly allowsCamelCase: boolean;
}

/**
 * Reads a configuration from data. Checks for secrets, normalizes keys, checks each field, and then checks that the
 * fields are consistent.
 * @throws {ConfigValidationError} with all problems. If the configuration contains a secret, the error lists only
 * secrets, because a message about another problem could show the secret
 */
export function readLlmEvalConfig(source: LlmConfigSource): LLMEvalConfig {
  const { value, indices: places, start, file, allowsCamelCase } = source;
  const secrets = findSecrets(value);
  if (secrets.length > 0) {
    throw problemsError(secrets.map((problem) => placeSecret(problem, value, places, file)), LLM_EVAL_DIALECT); // prettier-ignore
  }
  const renamed: PathProblem[] = [];
  const aliases = allowsCamelCase ? PARSED_NAMES : LLM_EVAL_DIALECT.aliases;
  const root = canonicalLlmDocument(value, { indices: places, faults: renamed, allowsCamelCase, aliases });
  if (!isMapping(root)) throw problemsError([notMapping(root, start, file, LLM_EVAL_DIALECT)], LLM_EVAL_DIALECT);
  const { fields, faults: problems } = readFields(root, wordingOf(root, places), FIELDS);
  const all = [...renamed, ...problems, ...checkAcross(fields, root)];
  if (all.length === 0) return buildLlmEvalConfig(fields);
  const positioned = all.map((problem) => positionProblem(problem, root, places, file));
  throw problemsError(positioned, LLM_EVAL_DIALECT);
}

/** Adds the position of a secret to its problem. Redacts the key path, because its parts may be secrets too. */
function placeSecret(
  problem: PathProblem,
  root: unknown,
  positions: YamlPositions,
  file: string | null,
): ConfigProblem {
  return { ...positionProblem(problem, root, positions, file), key: formatPath(concealedPath(problem.path)) };
}
