import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { anchor } from '../../scripts/reference/markdown.ts';
import { fieldTables, type JsonSchema } from '../../scripts/reference/schema-tables.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';

const read = (name: string): string => readFileSync(path.join(projectRoot, name), 'utf8');
const readJson = (name: string): unknown => JSON.parse(read(name));

/** Returns the parts of a page, by the titles of a level. */
function sectionsOf(page: string, level: number): Map<string, string> {
  const [, ...parts] = page.split(new RegExp(`^#{${String(level)}} `, 'm'));
  return new Map(parts.map((part) => [part.split('\n')[0] ?? '', part]));
}

/** Returns the names of all fields in a schema. */
function fieldNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    ...(key === 'properties' && typeof child === 'object' ? Object.keys(child as object) : []),
    ...fieldNames(child),
  ]);
}

describe('the reference of the command line', () => {
  const sections = sectionsOf(read('docs/reference/cli.md'), 2);

  for (const file of filesIn('test/golden/terminal', '.txt')) {
    it(`has the options of ${path.basename(file)}`, () => {
      const screens = read(file).split(/^=== /m);
      const help = screens.filter((screen) => /^evenhand\b.* --help \(/.test(screen));
      expect(help).to.not.be.empty;
      for (const screen of help) {
        const [, name = ''] = /^(evenhand\b.*?) --help/.exec(screen) ?? [];
        const flags = [...screen.matchAll(/^ {2}(--[\w-]+(?: <[^>]+>)?)(?: {2,}|$)/gm)].map(([, flag = '']) => flag);
        for (const flag of flags) expect(sections.get(name), name).to.include(`| \`${flag}\` |`);
      }
    });
  }
});

describe('the reference of the HTTP service', () => {
  const page = read('docs/reference/http.md');
  const document = readJson('test/golden/openapi.json') as {
    readonly paths: Readonly<Record<string, object>>;
    readonly components: { readonly schemas: Readonly<Record<string, object>> };
  };

  it('has all operations of the OpenAPI document', () => {
    const operations = Object.entries(document.paths).flatMap(
      ([route, item]) =>
      ['get', 'post', 'put', 'delete'].filter((method) => method in item).map((method) => `${method.toUpperCase()} ${route}`), // prettier-ignore
    );
    expect(operations).to.include('POST /validate');
    expect([...sectionsOf(page, 3).keys()]).to.include.members(operations.map((name) => `\`${name}\``));
  });

  it('has all schemas with all fields', () => {
    const sections = sectionsOf(page, 3);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      for (const field of fieldNames(schema)) expect(sections.get(name), name).to.include(`| \`${field}\` |`);
    }
  });

  it('links only to its own titles', () => {
    const titles = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchor(title));
    const links = [...page.matchAll(/\]\((#[^)]*)\)/g)].map(([, link = '']) => link);
    expect(links).to.include('#validatebody');
    expect(titles).to.include.members(links);
  });
});

describe('the references of configurations', () => {
  for (const name of ['pipeline', 'llm-eval', 'gates']) {
    it(`have all keys of config/${name}.schema.json`, () => {
      const keys = fieldNames(readJson(`config/${name}.schema.json`));
      expect(keys).to.not.be.empty;
      const page = read(`docs/reference/config-${name}.md`);
      for (const key of keys) expect(page, key).to.include(`| \`${key}\` |`);
    });
  }

  it('show a schema as tables of fields with type, bounds, default and required fields', () => {
    const size: JsonSchema = { type: 'integer', minimum: 1, default: 30, description: 'Rows | groups.' };
    const step = (kind: string): JsonSchema => ({
      type: 'object',
      properties: { kind: { const: kind }, params: { type: 'object', properties: { size } } },
      required: ['kind'],
    });
    const schema: JsonSchema = {
      type: 'object',
      properties: { steps: { type: 'array', minItems: 1, items: { anyOf: [step('a'), step('b')] } } },
    };
    expect(fieldTables(schema, { link: () => undefined, resolve: () => undefined }, 2)).to.deep.equal([
      '| Field | Type | Required | Description |',
      '| --- | --- | --- | --- |',
      '| `steps` | array of object (at least 1 item) | no |  |',
      '',
      '## `steps[]` with `kind: "a"`',
      '',
      '| Field | Type | Required | Description |',
      '| --- | --- | --- | --- |',
      '| `kind` | `"a"` | yes |  |',
      '| `params` | object | no |  |',
      '',
      '## `steps[].params` with `kind: "a"`',
      '',
      '| Field | Type | Required | Description |',
      '| --- | --- | --- | --- |',
      String.raw`| \`size\` | integer (at least 1) | no | Rows \| groups. Default: \`30\`. |`.replaceAll('\\`', '`'),
      '',
      '## `steps[]` with `kind: "b"`',
      '',
      '| Field | Type | Required | Description |',
      '| --- | --- | --- | --- |',
      '| `kind` | `"b"` | yes |  |',
      '| `params` | object | no |  |',
      '',
      '`steps[].params` has the same fields as `steps[].params`.',
      '',
    ]);
  });
});

describe('the reference of the library', () => {
  const { exports } = readJson('package.json') as { readonly exports: Readonly<Record<string, object>> };
  const entries = Object.keys(exports).filter((name) => !/[*]|package\.json/.test(name));

  for (const entry of entries) {
    it(`has all values of evenhand${entry.slice(1)}`, async () => {
      const page = read(`docs/reference/library/${entry.slice(2).replaceAll('/', '-') || 'evenhand'}.md`);
      const folder = entry === '.' ? 'src' : `src/${entry.slice(2)}`;
      const module = (await import(path.join(projectRoot, folder, 'index.ts'))) as object;
      for (const name of Object.keys(module)) expect(page).to.match(new RegExp(`^- \`(?:.* or \`)?${name}\\b`, 'm'));
    });
  }
});
