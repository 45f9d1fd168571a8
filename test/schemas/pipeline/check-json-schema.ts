/** Checks the part of JSON Schema that the configuration's schema uses; any other keyword is an error. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Check = (value: unknown, argument: never, schema: JsonSchema, root: JsonSchema) => boolean;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const numeric =
  (holds: (value: number, bound: number) => boolean): Check =>
  (value: unknown, bound: number) =>
    typeof value !== 'number' || holds(value, bound);

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value, types: string | string[]) => [types].flat().some((type) => TYPES[type]?.(value)),
  const: (value, constant: unknown) => value === constant,
  enum: (value, names: unknown[]) => names.includes(value),
  minimum: numeric((value, bound) => value >= bound),
  maximum: numeric((value, bound) => value <= bound),
  exclusiveMinimum: numeric((value, bound) => value > bound),
  exclusiveMaximum: numeric((value, bound) => value < bound),
  minLength: (value, min: number) => typeof value !== 'string' || value.length >= min,
  maxLength: (value, most: number) => typeof value !== 'string' || value.length <= most,
  // A pattern is given together with each format.
  format: () => true,
  pattern: (value, pattern: string) => typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  minItems: (value, min: number) => !Array.isArray(value) || value.length >= min,
  maxItems: (value, most: number) => !Array.isArray(value) || value.length <= most,
  prefixItems: (value, schemas: JsonSchema[], _, root) =>
    !Array.isArray(value) ||
    schemas.every((schema, index) => value.length <= index || fits(value[index], schema, root)),
  items: (value, items: JsonSchema | false, { prefixItems = [] }, root) =>
    !Array.isArray(value) ||
    value.slice((prefixItems as unknown[]).length).every((item) => items !== false && fits(item, items, root)),
  required: (value, names: string[]) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (value, schemas: Record<string, JsonSchema>, _, root) =>
    !isObject(value) ||
    Object.entries(schemas).every(([name, schema]) => !Object.hasOwn(value, name) || fits(value[name], schema, root)),
  additionalProperties: (value, schema: JsonSchema | false, { properties = {} }, root) =>
    !isObject(value) ||
    Object.entries(value).every(
      ([name, item]) => Object.hasOwn(properties as object, name) || (schema !== false && fits(item, schema, root)),
    ),
  propertyNames: (value, schema: JsonSchema, _, root) =>
    !isObject(value) || Object.keys(value).every((name) => fits(name, schema, root)),
  anyOf: (value, schemas: JsonSchema[], _, root) => schemas.some((schema) => fits(value, schema, root)),
  oneOf: (value, schemas: JsonSchema[], _, root) => schemas.filter((schema) => fits(value, schema, root)).length === 1,
  not: (value, schema: JsonSchema, _, root) => !fits(value, schema, root),
  $ref: (value, reference: string, _, root) => {
    const definition = (root['$defs'] as Record<string, JsonSchema>)[reference.replace('#/$defs/', '')];
    if (definition === undefined) throw new Error(`no definition ${reference}`);
    return fits(value, definition, root);
  },
};

const SAY_NOTHING = ['$schema', '$defs', 'id', 'title', 'description', 'default', 'examples'];

/** Returns whether a value matches a JSON Schema (draft 2020-12). */
export function fits(value: unknown, schema: JsonSchema, root: JsonSchema = schema): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    if (SAY_NOTHING.includes(keyword)) return true;
    const check = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword] : undefined;
    if (check === undefined) throw new Error(`the keyword ${keyword} is not known here`);
    return check(value, argument as never, schema, root);
  });
}
