import { z } from 'zod';

import { optionalField } from '../fields.ts';
import { fileJsonSchema } from './values.ts';
import { PIPELINE_FIELDS, stepSchema, trainingSchema } from './pipeline-document.ts';

/** Returns the schema of a step in a file, where `kind` is an alias of `transformer`. */
function fileStep(step: (typeof stepSchema.options)[number]): z.ZodType {
  const { name, transformer, params } = step.shape;
  return z
    .strictObject({
      name,
      transformer: optionalField(transformer, 'The transformer of the step. Required, here or as kind.'),
      kind: optionalField(transformer, 'An alias of transformer.'),
      params,
    })
    .meta({
      title: transformer.value,
      oneOf: [{ required: ['transformer'] }, { required: ['kind'] }],
    });
}

const steps = z.array(z.union(stepSchema.options.map(fileStep) as [z.ZodType, ...z.ZodType[]])).meta({ id: 'steps' });
const training = trainingSchema.meta({ id: 'training' });

/** The keys of the top level and of each profile. */
const fileFields = {
  ...PIPELINE_FIELDS,
  sensitive: PIPELINE_FIELDS.sensitive.optional(),
  pipeline: optionalField(steps, PIPELINE_FIELDS.pipeline.description ?? ''),
  steps: optionalField(steps, 'An alias of pipeline.'),
  training: optionalField(training, PIPELINE_FIELDS.training.description ?? ''),
};

const ONE_NAME = { not: { required: ['pipeline', 'steps'] } };

const fileSchema = z
  .strictObject({
    ...fileFields,
    profiles: optionalField(
      z.record(z.string(), z.strictObject(fileFields).meta(ONE_NAME)),
      'Named sets of top-level keys. Each key of the chosen profile replaces the top-level key of the same name.',
    ),
  })
  .meta({
    title: 'A fairness pipeline of evenhand',
    description: 'The groups to compare, the preparation of the data, the training of a model, and the gate.',
    anyOf: [{ required: ['sensitive'] }, { required: ['profiles'] }],
    ...ONE_NAME,
  });

/**
 * Returns the JSON Schema (draft 2020-12) of configuration files, for editors: keys in snake_case with descriptions
 * and defaults, aliases of keys, and profiles. Requirements that involve several keys (sums, names in `sensitive`) are
 * only checked when a file is read.
 */
export function pipelineJsonSchema(): Record<string, unknown> {
  return fileJsonSchema(fileSchema);
}
