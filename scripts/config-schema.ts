// Writes config/pipeline.schema.json, by which editors check configuration files. Run from the root of the project:
//   node --import tsx scripts/config-schema.ts
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { pipelineJsonSchema } from '../src/schemas/pipeline/pipeline-json-schema.ts';

/** Where the schema lies, beside the configurations that name it. */
export const SCHEMA_FILE = path.resolve(import.meta.dirname, '../config/pipeline.schema.json');

/** The schema's text, in the project's format. */
export async function configSchemaText(): Promise<string> {
  return format(JSON.stringify(pipelineJsonSchema()), { ...(await resolveConfig(SCHEMA_FILE)), parser: 'json' });
}

if (process.argv[1] === import.meta.filename) writeFileSync(SCHEMA_FILE, await configSchemaText());
