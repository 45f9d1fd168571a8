import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

import { openApiDocument } from '../../../src/api/openapi/index.ts';

// The package is CommonJS, whose default export is under `default`.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** The ID of the document for the checker. */
const DOCUMENT = 'https://evenhand.invalid/document';

/** Returns a part of the document whose references point to the location of shared schemas in JSON Schema. */
function moved(part: unknown, location = ''): unknown {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', `"${location}#/$defs/`));
}

/** Checks values against schemas of the service's document, read as JSON Schema 2020-12. */
export class SchemaChecker {
  readonly #ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictTuples: false });
  readonly #known = new Map<string, ValidateFunction>();

  constructor() {
    addFormats(this.#ajv);
    // Keywords of OpenAPI, which have no meaning in JSON Schema.
    this.#ajv.addKeyword('example');
    this.#ajv.addSchema({ $id: DOCUMENT, $defs: moved(openApiDocument().components.schemas) as object });
  }

  /** Returns the errors of a value according to a component of the document; empty if it is valid. */
  problemsOf(component: string, value: unknown): string[] {
    return this.problemsBy({ $ref: `#/components/schemas/${component}` }, value);
  }

  /** Returns the errors of a value according to any schema of the document. */
  problemsBy(schema: object, value: unknown): string[] {
    const text = JSON.stringify(moved(schema, DOCUMENT));
    const validate = this.#known.get(text) ?? this.#ajv.compile(JSON.parse(text) as object);
    this.#known.set(text, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }
}
