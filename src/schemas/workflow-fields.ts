import { z } from 'zod';

import { backendName, described, minGroupSize, optionalField } from './fields.ts';
import { parseWire } from './problems-of.ts';
import { MIN_GROUP_SIZE_DEFAULT } from './min-group-size.ts';
import { textBoolean, textNumber } from './text-values.ts';

/** The field for a profile of the configuration. */
const profileField = optionalField(
  z.string().min(1).max(200),
  'The profile of the configuration. Default: the only profile.',
);

/** The fields of `POST /pipeline` except `file` and `config`; in a form, all are text. */
export const pipelineFieldsSchema = z.strictObject({
  profile: profileField,
  detectors: textBoolean(described(z.boolean().default(true), 'Whether to run the detectors on the data first.')),
});

/** The parsed output of {@link pipelineFieldsSchema}. */
export type PipelineFields = z.output<typeof pipelineFieldsSchema>;

/**
 * Parses the fields of `POST /pipeline`.
 * @throws {ConfigValidationError} if fields are invalid; `context.fields` identifies each one
 */
export function parsePipelineFields(fields: Readonly<Record<string, string>>): PipelineFields {
  return parseWire(pipelineFieldsSchema, fields, 'The form cannot be processed');
}

/** The options of `run-pipeline` except its configuration. `executeWorkflow` fills in the defaults. */
export const runPipelineSchema = z.object({
  minGroupSize: minGroupSize.optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  randomState: z.number().int().optional(),
  threshold: z.number().optional(),
  classWeight: z.enum(['balanced', 'none']).optional(),
  backend: backendName.optional(),
});

const { trainSize, randomState, threshold, classWeight } = runPipelineSchema.shape;

/** The fields of `POST /workflow` except `file` and `config`; in a form, all are text. */
export const workflowFieldsSchema = z.strictObject({
  min_group_size: textNumber(
    optionalField(minGroupSize, `Groups with fewer held-out rows are excluded from metrics. ${MIN_GROUP_SIZE_DEFAULT}`),
  ),
  train_size: textNumber(described(trainSize, 'The share of rows used for training. Default: 0.8.')),
  random_state: textNumber(described(randomState, 'The seed of the split and of other random steps. Default: 42.')),
  threshold: textNumber(
    described(
      threshold,
      'The largest difference, or smallest ratio, that passes. Default: the threshold in the configuration.',
    ),
  ),
  class_weight: described(classWeight, 'The weights of the classes in training. Default: balanced.'),
  profile: profileField,
});

/** The parsed output of {@link workflowFieldsSchema}. */
export type WorkflowFields = z.output<typeof workflowFieldsSchema>;

/**
 * Parses the fields of `POST /workflow`.
 * @throws {ConfigValidationError} if fields are invalid; `context.fields` identifies each one
 */
export function parseWorkflowFields(fields: Readonly<Record<string, string>>): WorkflowFields {
  return parseWire(workflowFieldsSchema, fields, 'The form cannot be processed');
}
