import { z } from 'zod';

import { DataValidationError, ValueError } from '../../../exceptions/index.ts';
import { camelFields, snakeFields } from '../../../internal/arguments.ts';
import { readJson } from '../../data/read-json.ts';
import type { Estimator, EstimatorJson } from '../../estimators/estimator.ts';
import { THRESHOLD_CONSTRAINTS, THRESHOLD_OBJECTIVES } from './constraints.ts';
import { type OptimizerSettings, type ThresholdOptimizerOptions, UNSEEN_GROUPS } from './optimizer-options.ts';
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
 * Reads the output of {@link rulesToJson}.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 */
function rulesFromJson(json: unknown): ThresholdRules {
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

/** A threshold optimizer as plain data that can be stored and restored. */
export interface ThresholdOptimizerJson {
  readonly kind: 'threshold_optimizer';
  /** The constructor's options, in snake_case. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The stored estimator, as JSON; null if there is no estimator. */
  readonly estimator: EstimatorJson | null;
  /** The rules; null before `fit`. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/** The schema of a stored optimizer. The schema checks types, and the constructor checks ranges. */
const optimizerSchema = z.object({
  kind: z.literal('threshold_optimizer'),
  params: z.object({
    constraint: z.enum(THRESHOLD_CONSTRAINTS),
    objective: z.enum(THRESHOLD_OBJECTIVES),
    grid_size: z.number(),
    flip: z.boolean(),
    tolerance: z.number(),
    unseen_groups: z.enum(UNSEEN_GROUPS),
    prefit: z.boolean(),
    seed: z.number(),
  }),
  estimator: z.object({ kind: z.string() }).nullable(),
  state: z.unknown(),
});

/** The settings that are stored twice, in the params and in the rules. Both values must agree. */
const SETTINGS = ['constraint', 'objective', 'grid_size', 'flip', 'tolerance'] as const;

const SUGGESTION = 'Pass the object that toJSON returned.';

/** Converts the constructor's options to JSON. */
export function optimizerParams(settings: OptimizerSettings): Record<string, unknown> {
  const { estimator: _, ...params } = settings;
  return snakeFields(params);
}

/**
 * Reads an optimizer's options and rules.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 * @throws {ValueError} if the estimator is missing, if it is not of the stored kind, or if it is given although no
 *   estimator was stored
 */
export function readOptimizerJson(
  json: unknown,
  estimator: Estimator | undefined,
): { params: ThresholdOptimizerOptions; rules: ThresholdRules | undefined } {
  const read = readJson(optimizerSchema, json, 'threshold optimizer', { suggestion: SUGGESTION });
  const { params, state } = read;
  assertSameKind(read.estimator?.kind, estimator?.toJSON().kind);
  return {
    params: camelFields(params),
    rules: state === null ? undefined : readRules(state, params),
  };
}

/**
 * Reads the rules and checks that their settings equal the optimizer's settings.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 */
function readRules(state: unknown, params: z.output<typeof optimizerSchema>['params']): ThresholdRules {
  const rules = rulesFromJson(state);
  const chosen = rulesToJson(rules);
  const field = SETTINGS.find((name) => chosen[name] !== params[name]);
  if (field === undefined) return rules;
  throw new DataValidationError(
    `This is not a valid threshold optimizer: 'state.${field}': must be equal to params.${field}, which is ${String(params[field])}; got ${String(chosen[field])}.`,
    { code: 'invalid-state', context: { field: `state.${field}` }, suggestion: SUGGESTION },
  );
}

function assertSameKind(stored: string | undefined, given: string | undefined): void {
  if (stored === given) return;
  const required =
    stored === undefined
      ? 'be left out, because this optimizer had none'
      : `be the fitted ${stored} that this optimizer had`;
  throw new ValueError(`The estimator parameter must ${required}. Got ${given ?? 'none'} instead.`, {
    context: { parameter: 'estimator', kind: stored, value: given },
    suggestion:
      stored === undefined
        ? 'Omit the estimator, because the optimizer takes scores.'
        : "Restore the estimator from the JSON's estimator field and pass it: fromJSON(json, { estimator }).",
  });
}
