export { openApiDocument, type OpenApiOptions } from './open-api-document.ts';
export type { OpenApiDocument } from './open-api-types.ts';
