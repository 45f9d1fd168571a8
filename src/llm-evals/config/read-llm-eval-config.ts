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
import {
  LLM_EVAL_FIELDS,
  type LLMEvalConfig,
  type LLMEvalDocument,
  type NameSource,
} from '../../schemas/llm-eval/llm-eval-document.ts';
import { groupName, groupsWithoutNames, readGroup, readPoolKeys } from '../plan/counterfactual/name-pools.ts';
import { NAME } from '../plan/counterfactual/parse-template.ts';
import { sourcePools } from '../plan/names/source-pools.ts';
import {
  buildLlmEvalConfig,
  type CounterfactualSection,
  defaultModel,
  hasMaterial,
  poolsOf,
  ROW_FIELDS,
} from './build-llm-eval-config.ts';
import { canonicalLlmDocument, LLM_EVAL_DIALECT, PARSED_NAMES } from './canonical-llm-keys.ts';
import { checkJudgeOfTargets, checkJudgeProvider, checkOutcome } from './check-outcome.ts';
import { checkProviders } from './check-providers.ts';
import { checkTargets } from './check-targets.ts';
import { checkTemplates, checkUse } from './check-templates.ts';
import { concealedPath, findSecrets } from './find-secrets.ts';

const PATH = ['counterfactual', 'name_pools'];

/** Checks the names: each value, or each combination of values, has a pool, and no name is in two pools. */
function checkNamePools(section: Section): PathProblem[] {
  const { dimensions, name_pools: pools = {}, name_source: source } = section;
  if (source !== undefined) return checkSource(source, section);
  const keys = Object.keys(pools);
  if (keys.length === 0) return [];
  const unknown = checkKeys(keys, dimensions);
  return unknown.length > 0 ? unknown : [...checkGroups(keys, dimensions), ...checkNames(pools)];
}

/** Checks that a published list has names for all groups. */
function checkSource(source: NameSource, { dimensions, name_pools: pools }: Section): PathProblem[] {
  const path = ['counterfactual', 'name_source'];
  if (pools !== undefined) {
    return [problemAt(path, 'cannot be combined with name_pools', 'Remove one of the two keys.', 'key')];
  }
  const found = sourcePools(source, dimensions);
  if (!('pools' in found)) return [problemAt(path, found.message, found.suggestion)];
  const [same] = checkNames(found.pools);
  if (same === undefined) return [];
  const message = 'has the same names for two groups, because two values of a dimension mean the same';
  return [problemAt(path, message, 'Remove one of the two values.')];
}

function checkKeys(keys: readonly string[], dimensions: Section['dimensions']): PathProblem[] {
  const values = Object.values(dimensions).flat();
  return keys
    .filter((key) => readGroup(key, dimensions).length === 0)
    .map((key) => {
      if (!key.includes(',')) {
        return problemAt([...PATH, key], `'${key}' is not a value of any dimension`, suggestNames(key, values, 'values'), 'key'); // prettier-ignore
      }
      const wrong = key.split(',').map((part) => part.trim()).find((part) => !values.includes(part)); // prettier-ignore
      return wrong === undefined
        ? problemAt([...PATH, key], `'${key}' combines two values of one dimension`, 'Combine values of different dimensions.', 'key') // prettier-ignore
        : problemAt([...PATH, key], `'${wrong}' is not a value of any dimension`, suggestNames(wrong, values, 'values'), 'key'); // prettier-ignore
    });
}

/** Checks that the keys are values of the same dimensions, and that each group has exactly one pool. */
function checkGroups(keys: readonly string[], dimensions: Section['dimensions']): PathProblem[] {
  const read = readPoolKeys(keys, dimensions);
  if (read === undefined) return [checkInteger(keys, dimensions)];
  const names = read.dimensions.join(' and ');
  return [
    ...read.repeated.map((key) => problemAt([...PATH, key], `'${key}' names the group of an earlier key`, 'Name each group once.', 'key')), // prettier-ignore
    ...groupsWithoutNames(read, dimensions).map((group) =>
      problemAt(PATH, `has no names for '${group}' of ${names}`, `Add the key '${group}'.`, 'key'),
    ),
  ];
}

/** Returns the problem of keys that are not values of the same dimensions. Such keys would vary several at once. */
function checkInteger(keys: readonly string[], dimensions: Section['dimensions']): PathProblem {
  const used = keys.flatMap((key) => readGroup(key, dimensions).flat().map(([name]) => name)); // prettier-ignore
  const meant = Object.keys(dimensions).filter((name) => used.includes(name));
  const example = groupName(meant.map((name) => [name, dimensions[name]?.[0] ?? '']));
  const rule = keys.some((key) => key.includes(','))
    ? `must use the same dimensions in every key; its keys are values of ${meant.join(' and ')}`
    : `must use the values of a single dimension; its keys are values of ${meant.join(' and ')}`;
  const suggestion = `Keep the values of one dimension. To vary several, combine their values in every key, such as '${example}'.`;
  return problemAt(PATH, rule, suggestion, 'key');
}

function checkNames(pools: Readonly<Record<string, readonly string[]>>): PathProblem[] {
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

type Section = CounterfactualSection;

/** Checks the consistency of the section `counterfactual`. Templates are checked separately. */
function checkCounterfactual(section: Section | undefined): PathProblem[] {
  if (section === undefined) return [];
  return [
    ...checkDimensions(section),
    ...checkDefaults(section),
    ...checkNamePools(section),
    ...checkIntersections(section),
    ...checkPronouns(section),
    ...checkControl(section),
  ];
}

/** Checks that each intersection consists of different dimensions, and is listed once. */
function checkIntersections({ dimensions, intersections = [] }: Section): PathProblem[] {
  const seen = new Set<string>();
  return intersections.flatMap((names, index) => {
    const path = ['counterfactual', 'intersections', index];
    const unknown = names.flatMap((name, at) =>
      Object.hasOwn(dimensions, name) ? [] : [unknownDimension([...path, at], name, dimensions, 'value')],
    );
    const key = JSON.stringify([...names].sort());
    if (unknown.length > 0) return unknown;
    if (new Set(names).size < names.length) return [problemAt(path, 'names a dimension twice', 'Name it once.')];
    if (seen.has(key)) return [problemAt(path, 'repeats an earlier intersection', 'Remove it.')];
    seen.add(key);
    return [];
  });
}

/** Checks that pronouns are declared for values of dimensions. */
function checkPronouns({ dimensions, pronouns = {} }: Section): PathProblem[] {
  const values = Object.values(dimensions).flat();
  return Object.keys(pronouns)
    .filter((value) => !values.includes(value))
    .map((value) => {
      const path = ['counterfactual', 'pronouns', value];
      return problemAt(
        path,
        `'${value}' is not a value of any dimension`,
        suggestNames(value, values, 'values'),
        'key',
      );
    });
}

function checkDimensions({ dimensions, ...section }: Section): PathProblem[] {
  const pools = poolsOf({ dimensions, ...section });
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
  pools: Readonly<Record<string, readonly string[]>>,
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
  path: KeyPath,
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
const MATERIAL = ['counterfactual', 'prompt_templates', 'bbq_path', 'benchmarks', ...ROW_FIELDS] as const;

const NEEDS: Readonly<Record<string, string>> = {
  counterfactual: "needs the section 'counterfactual'",
  refusal: 'needs a template',
  toxicity_sentiment: 'needs a template',
  stereotype: 'needs bbq_path or a template',
  benchmarks: "needs the section 'benchmarks'",
};

/** Checks that the fields are consistent with each other, for each target if there are targets. */
function checkConsistency(fields: Fields, document: Mapping): PathProblem[] {
  const { targets } = fields;
  if (!('targets' in document)) return [...checkAcross(fields, document), ...checkJudgeProvider(fields)];
  // If a target is invalid, the settings of the targets are not known.
  if (targets === undefined) return [];
  return [
    ...checkTargets(fields, targets, (merged) => checkAcross(merged, { ...document, ...merged })),
    ...checkJudgeOfTargets(fields),
    ...checkJudgeProvider(fields),
  ];
}

/**
 * Checks that the fields are consistent with each other.
 * @param document all fields of the configuration, including invalid fields
 */
function checkAcross(fields: Fields, document: Mapping): PathProblem[] {
  const isReadable = MATERIAL.every((name) => !(name in document) || fields[name] !== undefined);
  const section = checkCounterfactual(fields.counterfactual);
  const templates = isReadable ? checkTemplates(fields) : [];
  return [
    ...checkProvider(fields),
    ...checkProviders(fields, document),
    ...checkParams(fields.params),
    ...checkRepeated(fields.evaluators, 'evaluators'),
    ...checkRepeated(fields.bbq_formats, 'bbq_formats'),
    ...(isReadable ? checkRows(fields) : []),
    ...checkBenchmarks(fields.benchmarks),
    ...checkEmbedding(fields),
    ...section,
    ...(isReadable ? checkOutcome(fields) : []),
    ...templates,
    ...(isReadable ? checkMaterial(fields) : []),
    ...(isReadable && section.length === 0 && templates.length === 0 ? checkUse(fields) : []),
  ];
}

function checkBenchmarks(benchmarks: Fields['benchmarks']): PathProblem[] {
  if (benchmarks === undefined || Object.keys(benchmarks).length > 0) return [];
  const suggestion = 'For example: crows_pairs: crows_pairs_anonymized.csv.';
  return [problemAt(['benchmarks'], 'must have at least one benchmark', suggestion)];
}

/** The limits of a run that do not count embeddings. */
const OTHER_LIMITS = ['max_requests_per_run', 'max_tokens_per_run', 'max_cost_usd'] as const;

function checkEmbedding(fields: Fields): PathProblem[] {
  const { embedding } = fields;
  if (embedding === undefined) return [];
  const { provider, base_url: baseUrl, max_requests: maxRequests } = embedding;
  const limit = OTHER_LIMITS.find((name) => fields[name] !== undefined);
  const missing = (name: string, reason: string): PathProblem =>
    problemAt(['embedding', name], `is missing; ${reason}`, `Add the key '${name}'.`);
  return [
    ...(baseUrl === undefined ? [] : checkAddress(baseUrl, ['embedding', 'base_url'])),
    ...(baseUrl === undefined && provider === 'compatible'
      ? [missing('base_url', 'the provider compatible needs it')]
      : []),
    ...(limit !== undefined && maxRequests === undefined
      ? [missing('max_requests', `${limit} does not count embeddings`)]
      : []),
  ];
}

function checkMaterial(fields: Fields): PathProblem[] {
  if (MATERIAL.every((name) => fields[name] === undefined)) {
    const suggestion = 'Add prompt_templates, counterfactual, bbq_path, benchmarks, prompts_path or answers_path.';
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

/** Checks the keys of rows: only one source of answers, and columns only together with rows. */
function checkRows(fields: Fields): PathProblem[] {
  const [first, second] = (['answers', 'answers_path'] as const).filter((name) => fields[name] !== undefined);
  const both =
    first === undefined || second === undefined
      ? []
      : [problemAt([second], 'cannot be combined with answers', 'Keep one of the two.', 'key')];
  if (ROW_FIELDS.some((name) => fields[name] !== undefined)) {
    return [...both, ...checkRepeated(fields.dimensions, 'dimensions')];
  }
  const unused = (['dimensions', 'cluster'] as const).filter((name) => fields[name] !== undefined);
  return unused.map((name) => {
    const suggestion = `Add answers_path or prompts_path, or remove ${name}.`;
    return problemAt([name], 'names columns of rows, but there are no rows', suggestion, 'key');
  });
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
function checkAddress(given: string, path: KeyPath = ['base_url']): PathProblem[] {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    const suggestion = 'For example: http://127.0.0.1:11434/v1.';
    return [problemAt(path, 'must be a URL that starts with http:// or https://', suggestion)];
  }
  if (url.username !== '' || url.password !== '') {
    return [problemAt(path, 'must not contain a user or password', 'Remove the part before the @.')];
  }
  // The text is checked, because `search` and `hash` are empty for a single ? or #.
  return /[?#]/.test(given)
    ? [problemAt(path, 'must not have a query or fragment', 'Remove the part that begins with ? or #.')]
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
  /**
   * Keys that replace those of the configuration, in snake_case.
   * @defaultValue none
   */
  readonly replaced?: Mapping | undefined;
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
  const own = canonicalLlmDocument(value, { indices: places, faults: renamed, allowsCamelCase, aliases });
  if (!isMapping(own)) throw problemsError([notMapping(own, start, file, LLM_EVAL_DIALECT)], LLM_EVAL_DIALECT);
  const root = replaceKeys(own, places, source.replaced);
  const { fields, faults: problems } = readFields(root, wordingOf(root, places), FIELDS);
  const all = [...renamed, ...problems, ...checkConsistency(fields, root)];
  if (all.length === 0) return buildLlmEvalConfig(fields);
  const positioned = all.map((problem) => positionProblem(problem, root, places, file));
  throw problemsError(positioned, LLM_EVAL_DIALECT);
}

/** Replaces keys. The positions of the other keys are kept. */
function replaceKeys(own: Mapping, positions: YamlPositions, replaced: Mapping | undefined): Mapping {
  if (replaced === undefined || Object.keys(replaced).length === 0) return own;
  const root = { ...own, ...replaced };
  const known = positions.get(own);
  if (known !== undefined) positions.set(root, known);
  return root;
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
