import { code, plain, table } from './markdown.ts';

/** The part of JSON Schema that the schemas of the project use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** How a page shows references: as a link, or as the type of the schema that they name. */
export interface References {
  /** Returns a link to the named schema. */
  readonly link: (name: string) => string | undefined;
  /** Returns the named schema, if its fields belong to the table that refers to it. */
  readonly resolve: (name: string) => JsonSchema | undefined;
}

/** Bounds at which JavaScript's numbers end say nothing. */
const isBound = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

/** Returns the type of a value as Markdown. */
export function typeOf(schema: JsonSchema, references: References): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    const target = references.resolve(name);
    return references.link(name) ?? (target === undefined ? code(name) : typeOf(target, references));
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ');
  const variants = variantsOf(schema).filter((each) => !isOnlyRequirement(each));
  if (variants.length > 0) return [...new Set(variants.map((each) => typeOf(each, references)))].join(' or ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const names = types.map((type) => (type === 'array' ? arrayType(schema, references) : type));
  const name = names.length === 0 ? 'any' : names.join(' or ');
  const bounds = boundsOf(schema);
  if (types.includes('object') && schema.properties === undefined && typeof schema.additionalProperties === 'object') {
    return `object of ${typeOf(schema.additionalProperties, references)}`;
  }
  return bounds === '' ? name : `${name} ${bounds}`;
}

function arrayType({ items, prefixItems }: JsonSchema, references: References): string {
  if (prefixItems !== undefined) return `array of ${prefixItems.map((each) => typeOf(each, references)).join(', ')}`;
  return items === undefined ? 'array' : `array of ${typeOf(items, references)}`;
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems, maxItems } = schema;
  const parts = [
    ...(isBound(minimum) ? [`at least ${String(minimum)}`] : []),
    ...(isBound(exclusiveMinimum) ? [`above ${String(exclusiveMinimum)}`] : []),
    ...(isBound(maximum) ? [`at most ${String(maximum)}`] : []),
    ...(isBound(exclusiveMaximum) ? [`below ${String(exclusiveMaximum)}`] : []),
    ...(isBound(minItems) ? [`at least ${countOfItems(minItems)}`] : []),
    ...(isBound(maxItems) ? [`at most ${countOfItems(maxItems)}`] : []),
  ];
  return parts.length === 0 ? '' : `(${parts.join(', ')})`;
}

function countOfItems(count: number): string {
  return count === 1 ? '1 item' : `${String(count)} items`;
}

function variantsOf(schema: JsonSchema): readonly JsonSchema[] {
  return schema.properties === undefined ? [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])] : [];
}

/** Whether a variant only says which fields are required together. */
function isOnlyRequirement(schema: JsonSchema): boolean {
  return Object.keys(schema).every((key) => key === 'required' || key === 'not');
}

/** A table of fields, with the path of the object that has them. */
interface FieldTable {
  readonly path: string;
  /** What distinguishes a variant of the object, such as `transformer: "ProxyDropper"`. */
  readonly variant: string;
  readonly schema: JsonSchema;
  /** The path of an earlier table with the same fields; undefined if there is none. */
  readonly sameAs?: string | undefined;
}

/**
 * Returns the tables of an object and of all objects in it. Each table has the heading of its path, except for the
 * object itself. Objects with the same fields share a table.
 */
export function fieldTables(schema: JsonSchema, references: References, level = 3): string[] {
  const tables = new FieldTables(references).of(schema, { path: '', variant: '', above: new Set() });
  return tables.flatMap(({ path, variant, schema: object, sameAs }) =>
    sameAs !== undefined
      ? [`${code(path)} has the same fields as ${code(sameAs)}.`, '']
      : [
          ...(path === '' && variant === '' ? [] : [`${'#'.repeat(level)} ${headingOf(path, variant)}`, '']),
          ...table(
            ['Field', 'Type', 'Required', 'Description'],
            Object.entries(object.properties ?? {}).map(([name, field]) => [
              code(name),
              typeOf(field, references),
              object.required?.includes(name) === true ? 'yes' : 'no',
              describe(field),
            ]),
          ),
        ],
  );
}

function headingOf(path: string, variant: string): string {
  return [...(path === '' ? [] : [code(path)]), ...(variant === '' ? [] : [`with ${code(variant)}`])].join(' ');
}

function describe(field: JsonSchema): string {
  const text = plain(field.description ?? '');
  // Descriptions usually state the default in words.
  if (field.default === undefined || /\bDefault: /.test(text)) return text;
  return `${text} Default: ${code(JSON.stringify(field.default))}.`.trim();
}

/** Where a schema is: its path, the variant of the objects around it, and the schemas that contain it. */
interface Position {
  readonly path: string;
  readonly variant: string;
  readonly above: ReadonlySet<JsonSchema>;
}

/** Collects the tables of one page, and remembers which fields it has shown. */
class FieldTables {
  private readonly references: References;
  private readonly shown = new Map<string, string>();

  constructor(references: References) {
    this.references = references;
  }

  of(schema: JsonSchema, { path, variant, above }: Position): FieldTable[] {
    const name = schema.$ref?.split('/').at(-1);
    const target = name === undefined ? schema : this.references.resolve(name);
    if (target === undefined || above.has(target)) return [];
    const key = JSON.stringify({ ...target, description: undefined, examples: undefined });
    const sameAs = this.shown.get(key);
    if (sameAs !== undefined) return [{ path, variant, schema: target, sameAs }];
    const tables = this.tablesIn(target, { path, variant, above: new Set([...above, target]) });
    if (tables.length > 0) this.shown.set(key, path);
    return tables;
  }

  private tablesIn(target: JsonSchema, { path, variant: around, above }: Position): FieldTable[] {
    const variant = target.properties === undefined || path === '' ? around : variantOf(target) || around;
    const within = (child: JsonSchema, childPath: string): FieldTable[] =>
      this.of(child, { path: childPath, variant, above });
    return [
      ...(target.properties === undefined ? [] : [{ path, variant, schema: target }]),
      ...Object.entries(target.properties ?? {}).flatMap(([field, child]) =>
        within(child, path === '' ? field : `${path}.${field}`),
      ),
      ...variantsOf(target).flatMap((child) => within(child, path)),
      ...(target.items === undefined ? [] : within(target.items, `${path}[]`)),
      ...(target.prefixItems ?? []).flatMap((child, index) => within(child, `${path}[${String(index)}]`)),
      ...(typeof target.additionalProperties === 'object' ? within(target.additionalProperties, `${path}.<name>`) : []),
    ];
  }
}

/** Returns the required constant of an object, by which its variants differ. */
function variantOf({ properties = {} }: JsonSchema): string {
  const [found] = Object.entries(properties).filter(([, field]) => field.const !== undefined);
  return found === undefined ? '' : `${found[0]}: ${JSON.stringify(found[1].const)}`;
}
