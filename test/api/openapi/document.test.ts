import { readFileSync } from 'node:fs';

import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';

import { CLIENT_TYPES_FILE, clientTypesText, DOCUMENT_FILE } from '../../../scripts/client-types.mjs';
import { documentText } from '../../../scripts/openapi.ts';
import { llmEvalBodySchema, validateBodySchema } from '../../../src/api/models/index.ts';
import { openApiDocument } from '../../../src/api/openapi/index.ts';
import { OPERATIONS } from '../../../src/api/openapi/operation-ids.ts';
import { LLM_EVAL_EXAMPLES, VALIDATE_EXAMPLES } from '../../../src/api/openapi/operations.ts';
import { PROBLEM_KINDS } from '../../../src/api/problem/service-problem.ts';
import { SchemaChecker } from './schema-checker.ts';

const document = openApiDocument();
const checker = new SchemaChecker();
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Returns every value of a key, at any depth. */
function valuesOf(key: string, part: unknown): unknown[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => [
    ...(name === key ? [value] : []),
    ...valuesOf(key, value),
  ]);
}

describe('the OpenAPI document', () => {
  it('is valid according to the official schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect(result.errors).to.equal(undefined);
    expect(result.valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('equals the stored document', async () => {
    expect(await documentText(), 'npm run openapi writes it').to.equal(readFileSync(DOCUMENT_FILE, 'utf8'));
  });

  it('is the source of the client types', async () => {
    expect(await clientTypesText(await documentText()), 'npm run openapi writes them').to.equal(
      readFileSync(CLIENT_TYPES_FILE, 'utf8'),
    );
  });

  it('contains every operation of the service with its method and path, and no other', () => {
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, method, path]),
    );
    const expected = Object.entries(OPERATIONS).map(([id, [method, path]]) => [id, method, path]);
    expect(found).to.have.deep.members(expected);
  });

  it('has no references to missing components', () => {
    const refs = valuesOf('$ref', document) as string[];
    expect(refs).to.not.be.empty;
    for (const ref of new Set(refs)) {
      const target = ref
        .slice(2)
        .split('/')
        .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
      expect(target, ref).to.be.an('object');
    }
  });

  it('uses every schema that it contains', () => {
    const used = new Set((valuesOf('$ref', document) as string[]).map((ref) => ref.split('/').at(-1)));
    // Events are part of a text stream, which OpenAPI cannot describe.
    expect(Object.keys(document.components.schemas).filter((id) => !used.has(id))).to.deep.equal(['RunEvent']);
  });

  it('gives defaults that tools would fill in only for required parameters', () => {
    const validate = document.paths['/validate']?.['post'];
    const queries = (validate?.parameters ?? []).filter((parameter) => 'schema' in parameter);
    expect(queries.length).to.be.above(10);
    for (const { name, schema, example } of queries) {
      expect(schema, name).to.not.have.any.keys('default', 'example', 'examples');
      expect(example, name).to.equal(undefined);
    }
    expect(queries.find(({ name }) => name === 'backend')?.description).to.match(/Default: duckdb\.$/);
    expect(document.components.parameters['Prefer']).to.not.have.property('example');
    for (const id of ['PipelineForm', 'WorkflowForm']) {
      const { properties, required } = document.components.schemas[id] as {
        properties: Record<string, { examples?: string[] }>;
        required: string[];
      };
      const filled = Object.keys(properties).filter((name) => properties[name]?.examples !== undefined);
      expect(filled).to.deep.equal(['config']);
      expect(required).to.include('config');
      const [config = ''] = properties['config']?.examples ?? [];
      expect(config).to.not.include('\n');
      expect(JSON.parse(config)).to.be.an('object');
    }
  });

  it('contains no tuples, which few client generators support', () => {
    expect(valuesOf('prefixItems', document)).to.deep.equal([]);
    expect(valuesOf('items', document).filter((items) => items === false)).to.deep.equal([]);
  });

  it('contains no schema that is a separate document', () => {
    expect(valuesOf('$schema', document)).to.deep.equal([]);
    expect(valuesOf('$id', document)).to.deep.equal([]);
    expect(valuesOf('$defs', document)).to.deep.equal([]);
  });

  it('describes every operation, with a tag of the document', () => {
    const tags = document.tags.map(({ name }) => name);
    for (const { operationId, summary, description, tags: own } of operations) {
      expect(summary.length, operationId).to.be.within(8, 80);
      expect(description.length, operationId).to.be.above(20);
      expect(tags, operationId).to.include.members([...own]);
    }
  });

  it('documents every problem as application/problem+json, with a valid status', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        expect(PROBLEM_KINDS, `${operationId} ${status}`).to.have.property(status);
        expect(response, `${operationId} ${status}`).to.deep.equal({ $ref: `#/components/responses/Problem${status}` });
      }
    }
  });

  it('requires a key everywhere except at /health', () => {
    for (const { operationId, security, responses } of operations) {
      expect(security, operationId).to.deep.equal(operationId === 'getHealth' ? [] : undefined);
      expect('401' in responses, operationId).to.equal(operationId !== 'getHealth');
    }
  });

  it('names the path at which the service is mounted', () => {
    expect(openApiDocument({ basePath: '/fairness', version: '7.0.0' })).to.deep.include({
      servers: [{ url: '/fairness', description: 'This service.' }],
      info: { ...document.info, version: '7.0.0' },
    });
  });

  for (const [name, { value }] of Object.entries(VALIDATE_EXAMPLES)) {
    it(`has a valid example of POST /validate: ${name}`, () => {
      expect(checker.problemsOf('ValidateBody', value)).to.deep.equal([]);
      expect(validateBodySchema.safeParse(value).success).to.equal(true);
    });
  }

  for (const [name, { value }] of Object.entries(LLM_EVAL_EXAMPLES)) {
    it(`has a valid example of POST /llm-eval: ${name}`, () => {
      expect(checker.problemsOf('LlmEvalBody', value)).to.deep.equal([]);
      expect(llmEvalBodySchema.safeParse(value).success).to.equal(true);
    });
  }

  for (const [id, schema] of Object.entries(document.components.schemas)) {
    for (const example of (schema['examples'] ?? []) as unknown[]) {
      it(`has a valid example of ${id}`, () => {
        expect(checker.problemsOf(id, example)).to.deep.equal([]);
      });
    }
  }
});
