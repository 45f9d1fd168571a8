// Writes config/pipeline.schema.json and config/llm-eval.schema.json, by which editors check configuration files. Run
// from the root of the project:
//   node --import tsx scripts/config-schema.ts

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { llmEvalJsonSchema } from '../src/schemas/llm-eval/llm-eval-document.ts';
import { pipelineJsonSchema } from '../src/schemas/pipeline/pipeline-json-schema.ts';

const FOLDER = path.resolve(import.meta.dirname, '../config');

/** Where the schema of pipelines lies, beside the configurations that name it. */
export const SCHEMA_FILE = path.join(FOLDER, 'pipeline.schema.json');

/** Where the schema of language-model evaluations lies. */
export const LLM_EVAL_SCHEMA_FILE = path.join(FOLDER, 'llm-eval.schema.json');

/** The text of the schema of pipelines, in the project's format. */
export async function configSchemaText(): Promise<string> {
  return schemaText(pipelineJsonSchema(), SCHEMA_FILE);
}

/** The text of the schema of language-model evaluations, in the project's format. */
export async function llmEvalSchemaText(): Promise<string> {
  return schemaText(llmEvalJsonSchema(), LLM_EVAL_SCHEMA_FILE);
}

async function schemaText(schema: Record<string, unknown>, file: string): Promise<string> {
  return format(JSON.stringify(schema), { ...(await resolveConfig(file)), parser: 'json' });
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(SCHEMA_FILE, await configSchemaText());
  writeFileSync(LLM_EVAL_SCHEMA_FILE, await llmEvalSchemaText());
}
