import { z } from 'zod';

import { parseWire } from './faults-of.ts';
import { backendName } from './method-names.ts';
import { textBoolean, textNumber } from './text-values.ts';

/** The profile of a configuration that a form asks for. */
const profileField = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: "One of the configuration's profiles. Default: the only one." });

/** The fields of `POST /pipeline` beside `file` and `config`; all are text in a form. */
export const pipelineFieldsSchema = z.strictObject({
  profile: profileField,
  detectors: textBoolean(
    z.boolean().default(true).meta({ description: 'Whether the detectors look at the data first.' }),
  ),
});

/** {@link pipelineFieldsSchema}, parsed. */
export type PipelineFields = z.output<typeof pipelineFieldsSchema>;

/**
 * Reads the fields of `POST /pipeline`.
 * @throws {ConfigValidationError} whose `context.fields` tell each field at fault
 */
export function parsePipelineFields(fields: Readonly<Record<string, string>>): PipelineFields {
  return parseWire(
    pipelineFieldsSchema,
    fields,
    'The form cannot be processed',
    Object.keys(pipelineFieldsSchema.shape),
  );
}

/** What `run-pipeline` may be asked beside its configuration; `executeWorkflow` fills in what is left out. */
export const runPipelineSchema = z.object({
  minGroupSize: z.number().int().min(1).optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  randomState: z.number().int().optional(),
  threshold: z.number().optional(),
  classWeight: z.enum(['balanced', 'none']).optional(),
  backend: backendName.optional(),
});

const { minGroupSize, trainSize, randomState, threshold, classWeight } = runPipelineSchema.shape;

/** The fields of `POST /workflow` beside `file` and `config`; all are text in a form. */
export const workflowFieldsSchema = z.strictObject({
  min_group_size: textNumber(
    minGroupSize.meta({
      description: 'Groups with fewer held-out rows take no part in metrics. Default: 30.',
    }),
  ),
  train_size: textNumber(
    trainSize.meta({
      description: 'Share of rows to train on. Default: 0.8.',
    }),
  ),
  random_state: textNumber(
    randomState.meta({
      description: 'Seed of the split and of what else is random. Default: 42.',
    }),
  ),
  threshold: textNumber(
    threshold.meta({
      description: "The largest difference, or smallest ratio, that passes. Default: the configuration's.",
    }),
  ),
  class_weight: classWeight.meta({
    description: 'How the classes weigh in training. Default: balanced.',
  }),
  profile: profileField,
});

/** {@link workflowFieldsSchema}, parsed. */
export type WorkflowFields = z.output<typeof workflowFieldsSchema>;

/**
 * Reads the fields of `POST /workflow`.
 * @throws {ConfigValidationError} whose `context.fields` tell each field at fault
 */
export function parseWorkflowFields(fields: Readonly<Record<string, string>>): WorkflowFields {
  return parseWire(
    workflowFieldsSchema,
    fields,
    'The form cannot be processed',
    Object.keys(workflowFieldsSchema.shape),
  );
}
