import { z } from 'zod';

import { parseWire } from './faults-of.ts';
import { profileField } from './pipeline-fields.ts';
import { runPipelineSchema } from './run-pipeline.ts';
import { textNumber } from './text-values.ts';

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
