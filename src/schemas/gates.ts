import { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';
import { fileJsonSchema } from './pipeline/values.ts';

/** The schema of the comparison of a gate. */
export const comparator = z.enum(['<=', '<', '>=', '>']);

/** The schema of one gate: a condition that a metric must meet. */
export const gateSchema = z.strictObject({
  metric: z
    .string()
    .min(1)
    .meta({
      description: 'The metric, such as demographic_parity_difference.',
      examples: ['demographic_parity_difference'],
    }),
  comparator: comparator.optional().meta({
    description: 'The comparison of the metric with the threshold. Default: <= for the absolute value; >= for a ratio.',
    examples: ['<='],
  }),
  threshold: z.number().meta({ description: 'The threshold of the gate.', examples: [0.1] }),
  attributes: z
    .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
    .min(1)
    .optional()
    .meta({
      description:
        'The attributes to which the gate applies; an intersection is a list of columns. Default: all attributes.',
      examples: [['sex', ['sex', 'race']]],
    }),
});

/** A condition that a metric must meet, on some or all attributes. */
export type Gate = z.output<typeof gateSchema>;

/** The schema of a list of gates. A list without gates could be mistaken for gates that passed. */
export const gatesSchema = z.array(gateSchema).min(1);

/** Returns the JSON Schema (draft 2020-12) of a file of gates, for editors. */
export function gatesJsonSchema(): Record<string, unknown> {
  return fileJsonSchema(gatesSchema.meta({ title: 'Gates of evenhand validate' }));
}

/** A metric with or without its gate. */
export type MetricGate = Pick<Gate, 'metric' | 'comparator'> & Partial<Pick<Gate, 'threshold'>>;

/**
 * Parses a metric with or without its gate: `NAME`, or `NAME<=VALUE` with `<=`, `<`, `>=` or `>`.
 * @throws {ConfigValidationError} if a gate has no name or no number
 */
export function parseMetricGate(text: string): MetricGate {
  const [, name = '', comparison, value = ''] = /^([^<>=]*)(?:([<>=]+)(.*))?$/s.exec(text) ?? [];
  const metric = name.trim();
  if (comparison === undefined) return { metric: text };
  const threshold = value.trim() === '' ? NaN : Number(value);
  const used = comparator.safeParse(comparison).data;
  if (metric !== '' && used !== undefined && Number.isFinite(threshold)) return { metric, comparator: used, threshold };
  throw new ConfigValidationError(`metric: '${text}' is not a gate.`, {
    context: { parameter: 'metric', value: text },
    suggestion: "Write NAME<=VALUE with <=, <, >= or >, as in 'demographic_parity_difference<=0.1'.",
  });
}
