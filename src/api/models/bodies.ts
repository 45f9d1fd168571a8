import { z } from 'zod';

import { llmEvalBodySchema as bodySchema } from '../../schemas/llm-eval-body.ts';
import { VALIDATE_FORM_FIELDS } from '../../schemas/validate-table.ts';
import { validateRowsSchema } from '../../schemas/validate-rows.ts';
import { ROW_FIELDS, TABLE_JOB_FIELDS } from '../../schemas/table-jobs.ts';
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

/** The form of `POST /validate`. */
export const validateFormSchema = model('ValidateForm', 'A table of rows or counts, and the roles of its columns.', {
  file: PARTS.file.optional(),
  counts: z
    .file()
    .optional()
    .describe('Counts instead of rows: the result of the statement that `evenhand sql` prints, as CSV or Parquet.'),
  ...VALIDATE_FORM_FIELDS,
});

const MODEL_ID = 'The model: the run_id of a training.';

/** The body of `POST /predict`. */
export const predictBodySchema = model('PredictBody', 'Rows, and the model that predicts their outcome.', {
  ...ROW_FIELDS.predict,
  model: z.string().min(1).max(200).describe(MODEL_ID),
  ...TABLE_JOB_FIELDS.predict,
});

/** The body of `POST /calibrate`. */
export const calibrateBodySchema = model('CalibrateBody', 'Rows with scores, outcomes and groups.', {
  ...ROW_FIELDS.calibrate,
  ...TABLE_JOB_FIELDS.calibrate,
});

/** The body of `POST /ab-test`. */
export const abTestBodySchema = model('ABTestBody', 'The rows of both arms of an experiment.', {
  ...ROW_FIELDS['ab-test'],
  ...TABLE_JOB_FIELDS['ab-test'],
});

/** The body of `POST /train`. */
export const trainBodySchema = model('TrainBody', 'Rows to train on, the method and its options.', {
  ...ROW_FIELDS.train,
  ...TABLE_JOB_FIELDS.train,
});

/** The form of `POST /predict`. */
export const predictFormSchema = model('PredictForm', 'A table, and the model that predicts its outcome.', {
  ...PARTS,
  model: z
    .union([z.string().min(1).max(200), z.file()])
    .describe(`${MODEL_ID.slice(0, -1)}, or the ZIP archive of a model as a file.`),
  ...TABLE_JOB_FIELDS.predict,
});

/** The form of `POST /calibrate`. */
export const calibrateFormSchema = model('CalibrateForm', 'A table with scores, outcomes and groups.', {
  ...PARTS,
  ...TABLE_JOB_FIELDS.calibrate,
});

/** The form of `POST /ab-test`. */
export const abTestFormSchema = model('ABTestForm', 'One table with both arms of an experiment, or one for each arm.', {
  file: PARTS.file.optional(),
  control_file: z.file().optional().describe('The rows of the control arm, instead of file.'),
  treatment_file: z.file().optional().describe('The rows of the treatment arm, instead of file.'),
  ...TABLE_JOB_FIELDS['ab-test'],
});

/** The form of `POST /train`. */
export const trainFormSchema = model('TrainForm', 'A table to train on, the method and its options.', {
  ...PARTS,
  test_file: z.file().optional().describe('Rows to evaluate on, instead of a part of file.'),
  ...TABLE_JOB_FIELDS.train,
});
