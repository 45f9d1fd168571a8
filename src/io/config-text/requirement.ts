import { describeChoices } from '../../schemas/parse.ts';
import { FILLED, NO_CONTROLS, ONE_LINE } from '../../schemas/text-values.ts';
import { isMapping } from '../../internal/values.ts';
import type { KeyPath } from './path-problem.ts';

/** The JSON Schema keywords that determine a requirement. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | false;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Returns the schema at a path. If a schema has several branches, the branch that fits the value is used. */
export function schemaAt(schema: JsonSchema, value: unknown, path: KeyPath): JsonSchema | undefined {
  const [part, ...rest] = path;
  const chosen = chooseBranch(schema, value);
  if (part === undefined) return chosen;
  const inner = typeof part === 'number' ? (chosen.prefixItems?.[part] ?? chosen.items) : valueSchema(chosen, part);
  return inner === undefined ? undefined : schemaAt(inner, (value as Record<string | number, unknown>)[part], rest);
}

function valueSchema({ properties = {}, additionalProperties }: JsonSchema, key: string): JsonSchema | undefined {
  if (Object.hasOwn(properties, key)) return properties[key];
  return additionalProperties === false ? undefined : additionalProperties;
}

function chooseBranch(schema: JsonSchema, value: unknown): JsonSchema {
  const branches = schema.anyOf ?? schema.oneOf ?? [];
  const fitting = branches.filter((branch) => fits(branch, value));
  return fitting.length === 1 ? (fitting[0] ?? schema) : schema;
}

/** Returns whether a value has the type and the constants of a branch. */
function fits({ type, properties = {} }: JsonSchema, value: unknown): boolean {
  if (Array.isArray(value)) return type === 'array';
  if (!isMapping(value)) return false;
  return (
    type === 'object' &&
    Object.entries(properties).every(([key, property]) => property.const === undefined || property.const === value[key])
  );
}

/** Describes what a schema requires, as in "a number above 0 and below 1". */
export function requirement(schema: JsonSchema): string {
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (choices !== undefined) return describeChoices(choices);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return [...new Set(branches.map(requirement))].join(' or ');
  if (typeof schema.type !== 'string') return (schema.type ?? []).map((type) => requirement({ type })).join(' or ');
  return (NAMES[schema.type] ?? (() => 'a value'))(schema);
}

/** Patterns that only exclude characters, and the requirement to report for each pattern. */
const CLEAN: Readonly<Record<string, string>> = {
  [ONE_LINE.source]: 'a name of one line, without control characters',
  [NO_CONTROLS.source]: 'a name without control characters',
};

/** Returns the requirement for a name with characters that are not allowed; undefined for other values. */
export function cleanRequirement(schema: JsonSchema, value: unknown): string | undefined {
  const branches = schema.anyOf ?? schema.oneOf ?? [schema];
  const pattern = branches.find(({ type }) => type === 'string')?.pattern;
  if (typeof value !== 'string' || pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined;
  return CLEAN[pattern];
}

const NAMES: Readonly<Partial<Record<string, (schema: JsonSchema) => string>>> = {
  string: ({ pattern, format, minLength, maxLength }) => {
    if (format === 'date') return 'a date such as 2026-01-31';
    if (pattern === FILLED.source) return 'a text that is not empty';
    if (pattern !== undefined && !Object.hasOwn(CLEAN, pattern)) return textLike(pattern);
    const most = maxLength === undefined ? '' : ` of at most ${String(maxLength)} characters`;
    return `${minLength === 1 ? 'a name' : 'a text'}${most}`;
  },
  number: (schema) => `a number${range(schema)}`,
  integer: (schema) => `a whole number${range(schema)}`,
  boolean: () => 'true or false',
  null: () => 'null',
  object: ({ properties = {} }) => {
    const keys = Object.keys(properties);
    return keys.length === 0 ? 'a mapping' : `a mapping with ${keys.join(', ')}`;
  },
  array: ({ items, prefixItems, minItems = 0, maxItems }) =>
    prefixItems === undefined
      ? [
          `a list of ${plural(items)}`,
          ...(minItems > 0 ? [`at least ${String(minItems)}`] : []),
          ...(maxItems === undefined ? [] : [`at most ${String(maxItems)}`]),
        ].join(', ')
      : `[${prefixItems.map(requirement).join(', ')}]`,
};

/** Describes the file extensions that a pattern like `\.(md|json)$` requires. */
function textLike(pattern: string): string {
  const [, start = '', choices = ''] = /^(.*)\((.*)\)\$$/.exec(pattern) ?? [];
  const endings = choices.split('|').map((ending) => `${start.replaceAll('\\', '')}${ending}`);
  return `a text that ends with ${endings.join(' or ')}`;
}

const PLURALS: Readonly<Partial<Record<string, string>>> = {
  string: 'names',
  number: 'numbers',
  integer: 'whole numbers',
  array: 'lists',
  object: 'mappings',
};

function plural(items: JsonSchema | undefined): string {
  const [first = items] = items?.anyOf ?? items?.oneOf ?? [];
  if (first?.pattern === FILLED.source) return 'texts';
  return PLURALS[String(first?.type)] ?? 'values';
}

/** Describes a range. Bounds equal to the largest safe integer are ignored, because zod adds them itself. */
function range({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: JsonSchema): string {
  const isLow = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  const isHigh = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  if (isLow && isHigh) return ` from ${String(minimum)} to ${String(maximum)}`;
  const parts = [
    isLow ? `of ${String(minimum)} or more` : '',
    above === undefined ? '' : `above ${String(above)}`,
    isHigh ? `${above === undefined ? 'of ' : ''}at most ${String(maximum)}` : '',
    below === undefined ? '' : `below ${String(below)}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`;
}
