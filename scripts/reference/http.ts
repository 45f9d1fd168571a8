import { openApiDocument } from '../../src/api/openapi/index.ts';
import { anchor, code, page, plain, table } from './markdown.ts';
import { fieldTables, type JsonSchema, type References, typeOf } from './schema-tables.ts';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
  readonly description?: string;
  readonly $ref?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly responses: Readonly<Record<string, Content>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

interface OpenApi {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Components;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** An operation with its method and path: `POST /validate`. */
interface Route {
  readonly name: string;
  readonly operation: Operation;
  readonly shared: readonly Parameter[];
}

/** Returns the reference of the HTTP service, from its OpenAPI document. */
export function httpReference(): string {
  const document = openApiDocument() as unknown as OpenApi;
  const { schemas } = document.components;
  const references: References = {
    link: (name) => (name in schemas ? `[${name}](${anchor(name)})` : undefined),
    resolve: () => undefined,
  };
  const routes = routesOf(document);
  return page([
    '# Reference: HTTP service',
    '',
    'Generated from the OpenAPI document of the service by `npm run docs:reference`. The service itself shows the document at `/openapi.json`, `/docs` and `/redoc`. See [the service](../service.md) for an introduction.',
    '',
    ...document.info.description.split('\n\n').flatMap((text) => [plain(text), '']),
    ...document.tags.flatMap(({ name, description }) => [
      `## ${name}`,
      '',
      plain(description),
      '',
      ...routes
        .filter(({ operation }) => operation.tags.includes(name))
        .flatMap((route) => sectionOf(route, document.components, references)),
    ]),
    '## Schemas',
    '',
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      `### ${name}`,
      '',
      plain(schema.description ?? ''),
      '',
      ...(schema.properties === undefined ? [`Type: ${typeOf(schema, references)}`, ''] : []),
      ...fieldTables(schema, references, 4),
    ]),
  ]);
}

function routesOf({ paths }: OpenApi): Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: item[method] as Operation,
      shared: (item['parameters'] ?? []) as readonly Parameter[],
    })),
  );
}

function sectionOf({ name, operation, shared }: Route, components: Components, references: References): string[] {
  const parameters = [...shared, ...(operation.parameters ?? [])].map(
    (each) => components.parameters[nameOf(each)] ?? each,
  );
  const body = operation.requestBody;
  return [
    `### ${code(name)}`,
    '',
    `${plain(operation.summary)}.`,
    '',
    plain(operation.description ?? ''),
    '',
    ...table(
      ['Parameter', 'In', 'Type', 'Required', 'Description'],
      parameters.map((each) => [
        code(each.name),
        each.in,
        typeOf(each.schema, references),
        each.required === true ? 'yes' : 'no',
        plain(each.description ?? ''),
      ]),
    ),
    ...(body === undefined ? [] : [`Request body${body.required === true ? ' (required)' : ''}: ${contentOf(body, references)}.`, '']), // prettier-ignore
    ...table(
      ['Status', 'Response', 'Content'],
      Object.entries(operation.responses).map(([status, response]) => {
        const resolved = components.responses[nameOf(response)] ?? response;
        return [status, plain(resolved.description ?? ''), contentOf(resolved, references)];
      }),
    ),
  ];
}

/** Returns the name of the component that an object refers to; an empty text if it refers to none. */
function nameOf({ $ref = '' }: { readonly $ref?: string }): string {
  return $ref.split('/').at(-1) ?? '';
}

function contentOf({ content = {} }: Content, references: References): string {
  return Object.entries(content)
    .map(([type, { schema }]) => (schema === undefined ? code(type) : `${code(type)}: ${typeOf(schema, references)}`))
    .join('; ');
}
