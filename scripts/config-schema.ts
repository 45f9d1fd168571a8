// Writes config/pipeline.schema.json, config/llm-eval.schema.json and config/gates.schema.json, with which editors check
// configuration files. Run from the root of the project:
//   node --import tsx scripts/config-schema.ts

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { gatesJsonSchema } from '../src/schemas/gates.ts';
import { llmEvalJsonSchema } from '../src/schemas/llm-eval/llm-eval-document.ts';
import { pipelineJsonSchema } from '../src/schemas/pipeline/pipeline-json-schema.ts';

const FOLDER = path.resolve(import.meta.dirname, '../config');

/** The path of the schema of pipelines, next to the configurations that refer to it. */
export const SCHEMA_FILE = path.join(FOLDER, 'pipeline.schema.json');

/** The path of the schema of language model evaluations. */
export const LLM_EVAL_SCHEMA_FILE = path.join(FOLDER, 'llm-eval.schema.json');

/** The path of the schema of gates. */
export const GATES_SCHEMA_FILE = path.join(FOLDER, 'gates.schema.json');

/** Returns the schema of pipelines as text, in the project's format. */
export async function configSchemaText(): Promise<string> {
  return schemaText(pipelineJsonSchema(), SCHEMA_FILE);
}

/** Returns the schema of language model evaluations as text, in the project's format. */
export async function llmEvalSchemaText(): Promise<string> {
  return schemaText(llmEvalJsonSchema(), LLM_EVAL_SCHEMA_FILE);
}

/** Returns the schema of gates as text, in the project's format. */
export async function gatesSchemaText(): Promise<string> {
  return schemaText(gatesJsonSchema(), GATES_SCHEMA_FILE);
}

async function schemaText(schema: Record<string, unknown>, file: string): Promise<string> {
  return format(JSON.stringify(schema), { ...(await resolveConfig(file)), parser: 'json' });
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(SCHEMA_FILE, await configSchemaText());
  writeFileSync(LLM_EVAL_SCHEMA_FILE, await llmEvalSchemaText());
  writeFileSync(GATES_SCHEMA_FILE, await gatesSchemaText());
}
