import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

import { expect } from 'chai';

import { openApiDocument } from '../../../src/api/openapi/index.ts';
import type {
  MediaTypeObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from '../../../src/api/openapi/open-api-types.ts';
import { type OperationId, OPERATIONS } from '../../../src/api/openapi/operation-ids.ts';
import { SchemaChecker } from './schema-checker.ts';

const document = openApiDocument();

/** An answer of the service, from any kind of request. */
export interface ServiceAnswer {
  readonly statusCode: number;
  readonly headers: OutgoingHttpHeaders | IncomingHttpHeaders;
  readonly payload: string;
}

/** Checks answers against the document, and records which documented answers occurred. */
export class ContractKeeper {
  readonly #seen = new Set<string>();
  readonly #checker = new SchemaChecker();

  /** Checks status, media type, headers and body of an answer against the document. */
  check(id: OperationId, status: number, { statusCode, headers, payload }: ServiceAnswer): void {
    expect(statusCode, `${id}: ${payload.slice(0, 600)}`).to.equal(status);
    const promised = responseOf(id, status);
    const name = `${id} ${String(status)}`;
    for (const header of ['x-request-id', 'x-evenhand-worker']) expect(headers, name).to.have.property(header);
    for (const [header, ref] of Object.entries(promised.headers ?? {})) {
      const value = headers[header.toLowerCase()];
      if (value === undefined) continue;
      const { schema } = document.components.headers[ref.$ref.split('/').at(-1) ?? ''] ?? {};
      expect(this.#checker.problemsBy(schema ?? {}, valueOf(schema, String(value))), `${name} ${header}`).to.deep.equal(
        [],
      );
    }
    this.#checkBody(name, promised, String(headers['content-type'] ?? ''), payload);
    this.#seen.add(name);
  }

  /** Returns whether a JSON body is valid according to the document. */
  bodyProblems(id: OperationId, body: unknown): string[] {
    const schema = operationOf(id).requestBody?.content['application/json']?.schema;
    return this.#checker.problemsBy(schema ?? {}, body);
  }

  /** Returns the documented answers that have not occurred. */
  notSeen(): string[] {
    return (Object.keys(OPERATIONS) as OperationId[])
      .flatMap((id) => Object.keys(operationOf(id).responses).map((status) => `${id} ${status}`))
      .filter((name) => !this.#seen.has(name));
  }

  #checkBody(name: string, { content }: ResponseObject, contentType: string, payload: string): void {
    if (content === undefined) {
      expect(payload, name).to.equal('');
      return;
    }
    const type = contentType.split(';')[0] ?? '';
    expect(content, `${name} has the media type ${type}`).to.have.property(type);
    const { schema } = content[type] as MediaTypeObject;
    if (schema === undefined || !type.endsWith('json')) return;
    expect(this.#checker.problemsBy(schema, JSON.parse(payload)), `${name}: ${payload.slice(0, 600)}`).to.deep.equal(
      [],
    );
  }
}

function operationOf(id: OperationId) {
  const [method, path] = OPERATIONS[id];
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`the document has no ${id}`);
  return operation;
}

function responseOf(id: OperationId, status: number): ResponseObject {
  const found: ResponseObject | ReferenceObject | undefined = operationOf(id).responses[String(status)];
  expect(found, `${id} documents ${String(status)}`).to.be.an('object');
  if (!('$ref' in (found as object))) return found as ResponseObject;
  const name = (found as ReferenceObject).$ref.split('/').at(-1) ?? '';
  return document.components.responses[name] as ResponseObject;
}

/** Parses a header as the type of its schema; a number is read as one. */
function valueOf(schema: SchemaObject | undefined, text: string): unknown {
  return schema?.['type'] === 'integer' ? Number(text) : text;
}
