import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

import { openApiDocument } from '../../../src/api/openapi/index.ts';

// The package is CommonJS, whose default export stands under `default`.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** A name for the document, which nobody asks for. */
const DOCUMENT = 'https://evenhand.invalid/document';

/** A part of the document whose references lead to where JSON Schema has what is shared. */
function moved(part: unknown, place = ''): unknown {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', `"${place}#/$defs/`));
}

/** Checks values by schemas of the service's document, read as JSON Schema 2020-12. */
export class SchemaChecker {
  readonly #ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictTuples: false });
  readonly #known = new Map<string, ValidateFunction>();

  constructor() {
    addFormats(this.#ajv);
    // Words of OpenAPI, which mean nothing to a checker.
    this.#ajv.addKeyword('example');
    this.#ajv.addSchema({ $id: DOCUMENT, $defs: moved(openApiDocument().components.schemas) as object });
  }

  /** What is wrong with a value by a component of the document; empty where nothing is. */
  faultsOf(component: string, value: unknown): string[] {
    return this.faultsBy({ $ref: `#/components/schemas/${component}` }, value);
  }

  /** What is wrong with a value by any schema of the document. */
  faultsBy(schema: object, value: unknown): string[] {
    const text = JSON.stringify(moved(schema, DOCUMENT));
    const validate = this.#known.get(text) ?? this.#ajv.compile(JSON.parse(text) as object);
    this.#known.set(text, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }
}
