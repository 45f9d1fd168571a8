// Writes the OpenAPI document of the service and the types generated from it:
//   test/golden/openapi.json     the document, so that changes are visible
//   src/api/client/schema.ts     the client's types, which are not committed; the build also writes them
// Run from the root of the project:
//   npm run openapi
import { writeFileSync } from 'node:fs';

import { format, resolveConfig } from 'prettier';

import { openApiDocument } from '../src/api/openapi/index.ts';
import { DOCUMENT_FILE, writeClientTypes } from './client-types.mjs';

/** Returns the text of the document in the project's format. */
export async function documentText(): Promise<string> {
  return format(JSON.stringify(openApiDocument()), { ...(await resolveConfig(DOCUMENT_FILE)), parser: 'json' });
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(DOCUMENT_FILE, await documentText());
  await writeClientTypes();
}
