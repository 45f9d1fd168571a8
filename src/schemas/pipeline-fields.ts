import { z } from 'zod';

import { parseWire } from './faults-of.ts';
import { textBoolean } from './text-values.ts';

/** The profile of a configuration that a form asks for. */
export const profileField = z
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
