import { z } from 'zod';

import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import { isMapping, isNumberText, type Mapping, valueAt } from '../../internal/values.ts';
import { describeChoices } from '../../schemas/parse.ts';
import type { ConfigDialect } from './config-problem.ts';
import type { KeyPath, PathProblem, Wording } from './path-problem.ts';
import { cleanRequirement, type JsonSchema, requirement, schemaAt } from './requirement.ts';

/** The key that merges mappings in YAML 1.1; in YAML 1.2 it has no special meaning. */
const MERGE_KEY = '<<';

/** The minimum length of an unknown key that may be an abbreviation of a known key. */
const SHORTEST_START = 3;

/** The valid fields of a configuration, and the errors of the invalid fields. */
export interface ReadFields<Document> {
  readonly fields: Partial<Document>;
  readonly faults: readonly PathProblem[];
}

/** The schemas of the keys of a configuration. */
export interface FieldSchemas<Shape extends z.ZodRawShape> {
  readonly schemas: Shape;
  /** Further valid keys, whose values are read by other functions. */
  readonly otherKeys: readonly string[];
  readonly dialect: ConfigDialect;
}

/** Reads every field by its own schema, so that all errors are found at once. */
export function readFields<Shape extends z.ZodRawShape>(
  document: Mapping,
  wording: Wording,
  { schemas, otherKeys, dialect }: FieldSchemas<Shape>,
): ReadFields<z.output<z.ZodObject<Shape>>> {
  const known = Object.keys(schemas);
  const problems = Object.keys(document)
    .filter((key) => !known.includes(key))
    .map((key, index) => {
      const meant = otherKeys.includes(key) ? known : [...known, ...otherKeys];
      return unknownKey([key], meant, wording, dialect, index < MAX_SUGGESTED);
    });
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries<z.ZodType>(schemas as never)) {
    const parsed = schema.safeParse(document[name]);
    if (parsed.success) {
      if (parsed.data !== undefined) fields[name] = parsed.data;
      continue;
    }
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const context = { name, document, json, wording, dialect };
    problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, issue.path as KeyPath, context)));
  }
  return {
    fields: fields as ReadFields<z.output<z.ZodObject<Shape>>>['fields'],
    faults: problems.filter((problem) => !isMistyped(problem, problems)),
  };
}

/**
 * Returns whether a missing key is present under a mistyped name. In this case, the mistyped name is already reported.
 */
function isMistyped({ path, isMissing }: PathProblem, problems: readonly PathProblem[]): boolean {
  if (isMissing !== true) return false;
  const owner = JSON.stringify(path.slice(0, -1));
  return problems.some(
    (other) => other.meant?.includes(String(path.at(-1))) === true && JSON.stringify(other.path.slice(0, -1)) === owner,
  );
}

/** The context of a field with errors. */
interface FieldContext {
  readonly name: string;
  readonly document: Mapping;
  /** The field's schema. */
  readonly json: JsonSchema;
  readonly wording: Wording;
  readonly dialect: ConfigDialect;
}

/**
 * Converts an issue of a schema to errors that say what was expected and what was found.
 * @param path the path within the field
 */
function describeIssue(issue: z.core.$ZodIssue, path: KeyPath, context: FieldContext): PathProblem[] {
  const { name, document, json, wording, dialect } = context;
  const full = [name, ...path];
  const value = valueAt(document, full);
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schemaAt(json, document[name], path)?.properties ?? {});
    return issue.keys.map((key, index) => unknownKey([...full, key], known, wording, dialect, index < MAX_SUGGESTED));
  }
  if (issue.code === 'invalid_union') {
    if (issue.errors.length === 0) return wrongDiscriminator(path, context);
    // If the value fits one branch and only parts of it are invalid, only these parts are reported.
    const inner = issue.errors.find((issues) => issues.length > 0 && issues.every((each) => each.path.length > 0));
    if (inner !== undefined) {
      return inner.flatMap((each) => describeIssue(each, [...path, ...(each.path as KeyPath)], context));
    }
  }
  if (issue.code === 'invalid_value') return [wrongName(full, value, issue.values.map(String), wording)];
  return [wrongValue(full, value, schemaAt(json, document[name], path) ?? {}, wording)];
}

/** The maximum number of errors of one kind that get a suggestion. Finding suggestions is slow. */
export const MAX_SUGGESTED = 50;

/**
 * Returns the error for a key that the schema does not have.
 * @param isSuggested whether to look for a similar known key
 */
export function unknownKey(
  path: KeyPath,
  known: readonly string[],
  wording: Wording,
  { aliases, insteadOfMerging }: ConfigDialect,
  isSuggested = true,
): PathProblem {
  const key = String(path.at(-1));
  const owner = wording(path.slice(0, -1)).key;
  const otherNames = [...aliases].filter(([, name]) => known.includes(name)).map(([alias]) => alias);
  const location = owner === '' ? '' : `${owner}: `;
  if (key === MERGE_KEY) {
    const message = `${location}merge keys (${MERGE_KEY}) are not supported`;
    // The merged mapping could contain any key, so no key is reported as missing.
    return { path, at: 'key', message, suggestion: insteadOfMerging, meant: known };
  }
  const message = `${location}unknown key '${key}'`;
  if (!isSuggested) return { path, at: 'key', message, suggestion: 'Remove it.', meant: [] };
  const near = nearestNames(key, [...known, ...otherNames]);
  const meant = near.length > 0 ? near : known.filter((name) => key.length >= SHORTEST_START && name.startsWith(key));
  return {
    path,
    at: 'key',
    message,
    suggestion: suggestNames(key, known, 'keys', meant),
    meant: meant.map((name) => aliases.get(name) ?? name),
  };
}

/**
 * Returns the errors of an unknown transformer or method. If the name is unknown, only the keys that all schemas share
 * can be checked.
 */
function wrongDiscriminator(path: KeyPath, { name, document, json, wording, dialect }: FieldContext): PathProblem[] {
  const ownerPath = path.slice(0, -1);
  const owner = valueAt(document, [name, ...ownerPath]);
  const union = schemaAt(json, document[name], ownerPath);
  const branches = union?.anyOf ?? union?.oneOf ?? [];
  const discriminator = String(path.at(-1));
  const known = Object.keys(branches[0]?.properties ?? {});
  const names = branches.map(({ properties }) => String(properties?.[discriminator]?.const));
  const unknown = isMapping(owner) ? Object.keys(owner).filter((key) => !known.includes(key)) : [];
  return [
    ...unknown.map((key, index) =>
      unknownKey([name, ...ownerPath, key], known, wording, dialect, index < MAX_SUGGESTED),
    ),
    wrongName([name, ...path], valueAt(owner, [discriminator]), names, wording),
  ];
}

function wrongName(path: KeyPath, value: unknown, known: readonly string[], wording: Wording): PathProblem {
  const required = describeChoices(known);
  if (value === undefined) return missing(path, required, wording);
  const { key, given } = wording(path);
  const near = typeof value === 'string' ? nearestNames(value, known) : [];
  return {
    path,
    at: 'value',
    message: `${key}: must be ${required}; got ${given}`,
    suggestion: near.length > 0 ? suggestNames('', known, 'names', near) : 'Use one of these names.',
  };
}

function wrongValue(path: KeyPath, value: unknown, schema: JsonSchema, wording: Wording): PathProblem {
  const required = requirement(schema);
  if (value === undefined) return missing(path, required, wording);
  const { key, given } = wording(path);
  const clean = cleanRequirement(schema, value);
  const suggestion = clean === undefined ? suggestionFor(value, schema, given) : 'Take that character out.';
  return { path, at: 'value', message: `${key}: must be ${clean ?? required}; got ${given}`, suggestion };
}

function missing(path: KeyPath, required: string, wording: Wording): PathProblem {
  return {
    path,
    at: 'value',
    message: `${wording(path).key}: is missing; it must be ${required}`,
    suggestion: `Add the key '${String(path.at(-1))}'.`,
    isMissing: true,
  };
}

/**
 * Returns the types that a schema accepts. Constants are excluded: a number in quotation marks would not become one of
 * them.
 */
function typesOf(schema: JsonSchema): readonly string[] {
  const kinds = schema.anyOf ?? schema.oneOf ?? [schema];
  return kinds.filter((kind) => kind.const === undefined).flatMap(({ type = [] }) => type);
}

function suggestionFor(value: unknown, schema: JsonSchema, given: string): string {
  const types = typesOf(schema);
  if (value === null) return 'Set a value, or leave the key out.';
  if (types.includes('string') && typeof value !== 'object' && typeof value !== 'string') {
    return `Put the value in quotes: '${given}'.`;
  }
  if (isNumberText(value) && !types.includes('string')) return 'Write the number without quotes.';
  const isTextForText = typeof value === 'string' && types.includes('string');
  if (types.includes('array') && !Array.isArray(value) && !isTextForText)
    return 'Write a list: [a, b], or lines that start with a dash.';
  const [example] = schema.examples ?? [];
  if (example !== undefined) return `For example: ${describeExample(example)}.`;
  if (schema.default !== undefined)
    return `Correct the value, or leave the key out to use ${JSON.stringify(schema.default)}.`;
  return 'Correct it.';
}

function describeExample(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example).replaceAll('"', '');
}
