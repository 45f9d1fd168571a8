import { z } from 'zod';

import { isMapping } from '../../internal/values.ts';
import { NO_CONTROLS, ONE_LINE } from '../text-values.ts';

/** The name of a column. */
export const columnName = z.string().min(1).regex(NO_CONTROLS);

/** A name that the author of the configuration chooses. */
export const ownName = z.string().min(1).max(200).regex(ONE_LINE);

/** A list of at least one column name. */
export const columnNames = z.array(columnName).min(1);

/** One or several columns. If there are several columns, the groups are the combinations of their values. */
export const columns = z.union([columnName, columnNames]);

/** A label of the target. A number or a boolean is converted to text. */
export const labelText = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const PROPORTION = z.number().min(0).max(1);

/** Proportions of groups, by label. */
export const proportions = recordOf(PROPORTION, { type: 'number', minimum: 0, maximum: 1 });

/** Proportions of groups, by attribute. */
export const benchmarks = recordOf(proportions, {
  type: 'object',
  additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
});

/**
 * Returns the schema of a mapping with arbitrary keys. Unlike a zod record, it keeps the key `__proto__`, which may be
 * a group's label.
 * @param values the JSON Schema of the values, which zod cannot derive here
 */
export function recordOf<Value>(
  value: z.ZodType<Value>,
  values: z.core.JSONSchema.BaseSchema,
): z.ZodType<Readonly<Record<string, Value>>> {
  const mapping = z
    .custom<Readonly<Record<string, unknown>>>(isMapping)
    .meta({ type: 'object', additionalProperties: values });
  return mapping.transform((record, context) => {
    const entries = Object.entries(record).map(([key, given]) => {
      const parsed = value.safeParse(given);
      if (parsed.success) return [key, parsed.data] as const;
      for (const issue of parsed.error.issues) {
        context.addIssue({ ...issue, path: [key, ...issue.path] });
      }
      return [key, given as Value] as const;
    });
    return Object.fromEntries(entries);
  });
}

/** Returns the JSON Schema of a file, for editors. */
export function fileJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}
