import { z } from 'zod';

import { readJson } from '../../data/read-json.ts';
import { THRESHOLD_CONSTRAINTS, THRESHOLD_OBJECTIVES } from './constraints.ts';
import { freezeRule, type ThresholdInterpolation } from './threshold-rule.ts';
import { ROUNDING, type ThresholdRules } from './threshold-rules.ts';

const rate = z.number().min(0).max(1);

/** A threshold. JSON cannot represent infinity, so infinite thresholds are texts. */
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
  .transform(({ p_ignore: pIgnore, prediction_constant: predictionConstant, ...parts }) =>
    freezeRule({ ...parts, pIgnore, predictionConstant }),
  );

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
  .transform((json) =>
    Object.freeze({
      group: json.group,
      n: json.n,
      weight: json.weight,
      interpolation: json.interpolation,
      selectionRate: json.selection_rate,
      truePositiveRate: json.true_positive_rate,
      falsePositiveRate: json.false_positive_rate,
      accuracy: json.accuracy,
    }),
  );

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
    pooled: z.object({ interpolation, objective_value: z.number() }),
  })
  .transform((json): ThresholdRules =>
    Object.freeze({
      constraint: json.constraint,
      objective: json.objective,
      gridSize: json.grid_size,
      flip: json.flip,
      tolerance: json.tolerance,
      n: json.n,
      nZeroWeight: json.n_zero_weight,
      groups: json.groups,
      objectiveValue: json.objective_value,
      gap: json.gap,
      pooled: Object.freeze({
        interpolation: json.pooled.interpolation,
        objectiveValue: json.pooled.objective_value,
      }),
    }),
  );

/** Converts rules to JSON in snake_case, with infinite thresholds as "Infinity" and "-Infinity". */
export function rulesToJson(rules: ThresholdRules): Record<string, unknown> {
  return {
    constraint: rules.constraint,
    objective: rules.objective,
    grid_size: rules.gridSize,
    flip: rules.flip,
    tolerance: rules.tolerance,
    n: rules.n,
    n_zero_weight: rules.nZeroWeight,
    groups: rules.groups.map((one) => ({
      group: one.group,
      n: one.n,
      weight: one.weight,
      interpolation: interpolationToJson(one.interpolation),
      selection_rate: one.selectionRate,
      true_positive_rate: one.truePositiveRate,
      false_positive_rate: one.falsePositiveRate,
      accuracy: one.accuracy,
    })),
    objective_value: rules.objectiveValue,
    gap: rules.gap,
    pooled: {
      interpolation: interpolationToJson(rules.pooled.interpolation),
      objective_value: rules.pooled.objectiveValue,
    },
  };
}

/**
 * Reads what {@link rulesToJson} wrote.
 * @throws {DataValidationError} if a field is invalid; names the first one
 */
export function rulesFromJson(json: unknown): ThresholdRules {
  return readJson(rulesSchema, json, 'set of threshold rules', {
    suggestion: "Pass the object that the optimizer's toJSON returned.",
  });
}

function interpolationToJson(rule: ThresholdInterpolation): Record<string, unknown> {
  return {
    p0: rule.p0,
    operation0: operationToJson(rule.operation0),
    p1: rule.p1,
    operation1: operationToJson(rule.operation1),
    p_ignore: rule.pIgnore,
    prediction_constant: rule.predictionConstant,
  };
}

function operationToJson(given: ThresholdInterpolation['operation0']): Record<string, unknown> {
  const { operator } = given;
  return { operator, threshold: Number.isFinite(given.threshold) ? given.threshold : String(given.threshold) };
}
