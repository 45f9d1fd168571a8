import { z } from 'zod';

import { camelFields, snakeFields } from '../../../internal/arguments.ts';
import { readJson } from '../../data/read-json.ts';
import { THRESHOLD_CONSTRAINTS, THRESHOLD_OBJECTIVES } from './constraints.ts';
import { freezeRule, ROUNDING, type ThresholdInterpolation, type ThresholdRules } from './threshold-rules.ts';

const rate = z.number().min(0).max(1);

/** A threshold. Infinite thresholds are texts, because JSON cannot represent infinity. */
const threshold = z.union([z.number(), z.enum(['Infinity', '-Infinity']).transform(Number)]);

const operation = z.object({ operator: z.enum(['>', '<']), threshold });

const interpolation = z
  .object({
    p0: rate,
    operation0: operation,
    p1: rate,
    operation1: operation,
    p_ignore: rate,
    prediction_constant: rate,
  })
  .refine(({ p0, p1 }) => Math.abs(p0 + p1 - 1) <= ROUNDING, 'p0 and p1 must add up to 1')
  .transform((json) => freezeRule(camelFields(json)));

const group = z
  .object({
    group: z.string(),
    n: z.int().min(1),
    weight: z.number().gt(0),
    interpolation,
    selection_rate: z.number(),
    true_positive_rate: z.number().nullable(),
    false_positive_rate: z.number().nullable(),
    accuracy: z.number(),
  })
  .transform((json) => Object.freeze(camelFields(json)));

const rulesSchema = z
  .object({
    constraint: z.enum(THRESHOLD_CONSTRAINTS),
    objective: z.enum(THRESHOLD_OBJECTIVES),
    grid_size: z.int().min(1),
    flip: z.boolean(),
    tolerance: rate,
    n: z.int().min(1),
    n_zero_weight: z.int().min(0),
    groups: z
      .array(group)
      .min(1)
      .refine((groups) => new Set(groups.map((one) => one.group)).size === groups.length, 'A group occurs twice')
      .transform((groups) => Object.freeze(groups)),
    objective_value: z.number(),
    gap: z.number(),
    pooled: z
      .object({ interpolation, objective_value: z.number() })
      .transform((json) => Object.freeze(camelFields(json))),
  })
  .transform((json): ThresholdRules => Object.freeze(camelFields(json)));

/** Converts rules to JSON in snake_case, with infinite thresholds as "Infinity" and "-Infinity". */
export function rulesToJson(rules: ThresholdRules): Record<string, unknown> {
  return {
    ...snakeFields(rules),
    groups: rules.groups.map(({ group, n, weight, interpolation, ...rates }) => ({
      ...{ group, n, weight, interpolation: interpolationToJson(interpolation) },
      ...snakeFields(rates),
    })),
    pooled: { ...snakeFields(rules.pooled), interpolation: interpolationToJson(rules.pooled.interpolation) },
  };
}

/**
 * Reads what {@link rulesToJson} wrote.
 * @throws {DataValidationError} if a field is invalid; the error names the first one
 */
export function rulesFromJson(json: unknown): ThresholdRules {
  return readJson(rulesSchema, json, 'set of threshold rules', {
    suggestion: "Pass the object that the optimizer's toJSON returned.",
  });
}

function interpolationToJson(rule: ThresholdInterpolation): Record<string, unknown> {
  const { operation0, operation1 } = rule;
  return {
    ...snakeFields(rule),
    operation0: operationToJson(operation0),
    operation1: operationToJson(operation1),
  };
}

function operationToJson(given: ThresholdInterpolation['operation0']): Record<string, unknown> {
  const { operator } = given;
  return { operator, threshold: Number.isFinite(given.threshold) ? given.threshold : String(given.threshold) };
}
