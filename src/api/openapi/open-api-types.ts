/** A JSON Schema, or a reference to one. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A body of one media type. */
export interface MediaTypeObject {
  readonly schema?: SchemaObject;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** A header, a query parameter or a path parameter. */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
  readonly example?: unknown;
  readonly style?: 'form';
  readonly explode?: boolean;
}

/** A reference to a component of the document. */
export interface ReferenceObject {
  readonly $ref: string;
}

/** An answer with one status. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, ReferenceObject>>;
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
  readonly links?: Readonly<Record<string, LinkObject>>;
}

/** A link from an answer to another operation. */
interface LinkObject {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** An operation. */
export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly description?: string;
    readonly content: Readonly<Record<string, MediaTypeObject>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** An OpenAPI 3.1 document as plain data, as returned by `GET /openapi.json`. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<{
    schemas: Readonly<Record<string, SchemaObject>>;
    responses: Readonly<Record<string, ResponseObject>>;
    parameters: Readonly<Record<string, ParameterObject>>;
    headers: Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>>;
    securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }>;
}

/** An operation without its ID. */
export type Operation = Omit<OperationObject, 'operationId'>;
