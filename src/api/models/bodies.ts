import { z } from 'zod';

import { llmEvalBodySchema as bodySchema } from '../../schemas/llm-eval-body.ts';
import { validateRowsSchema } from '../../schemas/validate-rows.ts';
import { pipelineFieldsSchema, workflowFieldsSchema } from '../../schemas/workflow-fields.ts';

/** `POST /llm-eval` */
export const llmEvalBodySchema = bodySchema.meta({
  id: 'LlmEvalBody',
  description: 'What is asked of whom, how the answers are scored, and what passes.',
});

/** `POST /validate` with `application/json` */
export const validateBodySchema = validateRowsSchema.meta({
  id: 'ValidateBody',
  description:
    'Decisions (or scores) and their groups as arrays of equal length, how they are measured, and what passes.',
});

const PARTS = {
  // A file has its own media type; what is in it is no text of JSON.
  file: z.file().meta({ description: 'The rows: CSV, CSV packed with gzip, or Parquet.' }),
} as const;

/** The configuration; the example is one line, since pages that try requests out have one line for a text. */
function configPart(example: string): z.ZodString {
  return z
    .string()
    .min(1)
    .meta({
      description: 'The configuration as YAML or JSON text: what `evenhand config schema` describes.',
      examples: [example],
    });
}

const PIPELINE_CONFIG =
  '{"sensitive": ["gender"], "pipeline": [{"name": "weigh", "transformer": "InstanceReweighting"}]}';

const WORKFLOW_CONFIG =
  '{"sensitive": ["gender"], "training": {"method": "reductions", "target_column": "hired"}, "validation_threshold": 0.1}';

/** `POST /pipeline` */
export const pipelineFormSchema = z
  .strictObject({ ...PARTS, config: configPart(PIPELINE_CONFIG), ...pipelineFieldsSchema.shape })
  .meta({ id: 'PipelineForm', description: 'A table, and how it is looked at and transformed.' });

/** `POST /workflow` */
export const workflowFormSchema = z
  .strictObject({ ...PARTS, config: configPart(WORKFLOW_CONFIG), ...workflowFieldsSchema.shape })
  .meta({
    id: 'WorkflowForm',
    description: 'A table, and how a model is trained on it without and with a constraint.',
  });
