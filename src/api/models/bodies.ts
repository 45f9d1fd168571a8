import { z } from 'zod';

import { llmEvalBodySchema as bodySchema } from '../../schemas/llm-eval-body.ts';
import { validateRowsSchema } from '../../schemas/validate-rows.ts';
import { pipelineFieldsSchema, workflowFieldsSchema } from '../../schemas/workflow-fields.ts';
import { model } from './answer-fields.ts';

/** The body of `POST /llm-eval`. */
export const llmEvalBodySchema = bodySchema.meta({
  id: 'LlmEvalBody',
  description: 'The prompts, the language model, how its answers are scored, and the threshold.',
});

/** The body of `POST /validate` with `application/json`. */
export const validateBodySchema = validateRowsSchema.meta({
  id: 'ValidateBody',
  description: 'Decisions (or scores) and their groups as arrays of equal length, the metrics, and the threshold.',
});

const PARTS = {
  // A file has its own media type. The content of the file is not part of the JSON schema.
  file: z.file().describe('The rows: CSV, CSV compressed with gzip, or Parquet.'),
} as const;

/**
 * Returns the schema of the configuration. The example is one line, because the pages for trying requests show each
 * text on one line.
 */
function configPart(example: string): z.ZodString {
  return z
    .string()
    .min(1)
    .meta({
      description: 'The configuration as YAML or JSON text: see `evenhand config schema`.',
      examples: [example],
    });
}

const PIPELINE_CONFIG =
  '{"sensitive": ["gender"], "pipeline": [{"name": "weigh", "transformer": "InstanceReweighting"}]}';

const WORKFLOW_CONFIG =
  '{"sensitive": ["gender"], "training": {"method": "reductions", "target_column": "hired"}, "validation_threshold": 0.1}';

/** The form of `POST /pipeline`. */
export const pipelineFormSchema = model(
  'PipelineForm',
  'A table, and a configuration of how to examine and transform it.',
  { ...PARTS, config: configPart(PIPELINE_CONFIG), ...pipelineFieldsSchema.shape },
);

/** The form of `POST /workflow`. */
export const workflowFormSchema = model(
  'WorkflowForm',
  'A table, and a configuration of how to train a model on it without and with a constraint.',
  { ...PARTS, config: configPart(WORKFLOW_CONFIG), ...workflowFieldsSchema.shape },
);
