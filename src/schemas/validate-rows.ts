import { z } from 'zod';

import { optionalField } from './fields.ts';
import { suggestNames } from '../internal/arguments.ts';
import { isMapping, valueAt } from '../internal/values.ts';
import { type BrokenRule, parseWire, ruleIssue, toPointer, type WireProblem } from './problems-of.ts';
import { columnOrColumns, type JsonColumn, labelColumn, MAX_ATTRIBUTES, numberColumn } from './row-arrays.ts';
import { CLUSTER_DESCRIPTION, MEASURE_WIRE_FIELDS, measureRules, STRATA_DESCRIPTION } from './validate-wire.ts';

/** The fields of a validation request with JSON arrays. */
const VALIDATE_ROWS_FIELDS = {
  y_pred: labelColumn('y_pred', {
    description:
      'Decisions: 0 or 1, true or false, "0" or "1"; any labels with positive_label; numbers for metrics of numbers. Rows with null are excluded and counted.',
    examples: [[1, 0, 1, 0]],
  }).optional(),
  sensitive: columnOrColumns('sensitive', {
    description:
      'The group of each row, or null if the group is missing. Several attributes are given by name and analysed separately.',
    examples: [['f', 'm', 'f', 'm'], { sex: ['f', 'm', 'f', 'm'], race: ['a', 'a', 'b', 'b'] }],
  }),
  intersections: optionalField(
    z.array(z.array(z.string().min(1)).min(2)).max(MAX_ATTRIBUTES),
    'Intersections of attributes of `sensitive`, in addition to each attribute.',
    [['sex', 'race']],
  ),
  y_true: labelColumn('y_true', {
    description: 'True labels, in the format of y_pred; adds equalized odds. True numbers for metrics of numbers.',
    examples: [[1, 0, 0, 1]],
  }).optional(),
  y_score: numberColumn('y_score', {
    description:
      'Scores instead of decisions, with the threshold score_threshold; or in addition to them, for metrics of scores.',
    examples: [[0.9, 0.2, 0.6, 0.4]],
  }).optional(),
  sample_weight: numberColumn(
    'sample_weight',
    { description: 'Weights of rows, 0 or more.', examples: [[1, 1, 2, 1]] },
    0,
  ).optional(),
  cluster: labelColumn('cluster', {
    description: `${CLUSTER_DESCRIPTION} One label for every row.`,
    examples: [['p1', 'p1', 'p2', 'p3']],
  }).optional(),
  strata: labelColumn('strata', {
    description: `${STRATA_DESCRIPTION} One label for every row.`,
    examples: [['north', 'north', 'north', 'south']],
  }).optional(),
  control: columnOrColumns('control', {
    description:
      'A control feature: groups are also compared within each level of the feature. Several columns are crossed. If the mean gap within the levels has the opposite sign of the gap over all rows, this is reported.',
    examples: [['day', 'day', 'night', 'night']],
  }).optional(),
  ...MEASURE_WIRE_FIELDS,
} as const;

/** The schema of the JSON body of `POST /validate`: arrays of equal length, and the options for metrics and gates. */
export const validateRowsSchema = z.strictObject(VALIDATE_ROWS_FIELDS).check((context) => {
  const body = context.value;
  const problems = [
    ...lengthProblems(body),
    ...intersectionProblems(body),
    ...measureRules(body, {
      predictions: 'y_pred',
      scores: 'y_score',
      takesBoth: true,
      missing: 'y_pred is missing: send decisions as y_pred, or scores as y_score.',
      suggestion: 'Send a JSON array, one item for every row.',
    }),
  ];
  context.issues.push(...problems.map((problem) => ruleIssue(problem)));
});

/** A parsed body of `POST /validate`. */
export type ValidateRowsBody = z.output<typeof validateRowsSchema>;

/**
 * Parses the JSON body of `POST /validate`.
 * @param value the output of JSON.parse
 * @throws {ConfigValidationError} if fields are invalid; `context.fields` identifies each one by its JSON pointer
 */
export function parseValidateRows(value: unknown): ValidateRowsBody {
  return parseWire(validateRowsSchema, value, 'The body cannot be validated');
}

/**
 * Finds an array that is longer than the service accepts. This check runs before the rest of the body is validated.
 * @param value the output of JSON.parse
 * @param maxItems the maximum number of items of an array
 */
export function findTooLong(value: unknown, maxItems: number): WireProblem | undefined {
  const tooLong = columnsIn(value).find(({ length }) => length > maxItems);
  if (tooLong === undefined) return undefined;
  const { path, length } = tooLong;
  const detail = `${path.join('.')} has ${String(length)} items, but at most ${String(maxItems)} are allowed.`;
  return { pointer: toPointer(path), detail };
}

/** The fields whose arrays have one item per row. */
const COLUMN_FIELDS = [
  'y_pred',
  'y_score',
  'y_true',
  'sample_weight',
  'cluster',
  'strata',
  'sensitive',
  'control',
] as const;

/** An array of a request that has one item per row. */
interface GivenColumn {
  readonly path: readonly string[];
  readonly length: number;
}

function columnsIn(body: unknown): GivenColumn[] {
  return COLUMN_FIELDS.flatMap((name) => columnsAt([name], valueAt(body, [name])));
}

/** Returns the array of a field, or the arrays of an object of columns. */
function columnsAt(path: readonly string[], given: unknown): GivenColumn[] {
  if (Array.isArray(given)) return [{ path, length: given.length }];
  if (path.length > 1 || !isMapping(given)) return [];
  return Object.entries(given).flatMap(([key, column]) => columnsAt([...path, key], column));
}

function lengthProblems(body: unknown): BrokenRule[] {
  const [first, ...others] = columnsIn(body);
  if (first === undefined) return [];
  if (first.length === 0) {
    return [
      { path: first.path, message: `${first.path.join('.')} has no items.`, suggestion: 'Send at least one row.' },
    ];
  }
  return others
    .filter(({ length }) => length !== first.length)
    .map(({ path, length }) => ({
      path,
      message: `${path.join('.')} has ${String(length)} items, and ${first.path.join('.')} has ${String(first.length)}: each needs one for every row.`,
      suggestion: 'Send arrays of equal length, with one item for every row.',
    }));
}

function intersectionProblems({
  sensitive,
  intersections = [],
}: {
  readonly sensitive?: JsonColumn | Readonly<Record<string, JsonColumn>> | undefined;
  readonly intersections?: readonly (readonly string[])[] | undefined;
}): BrokenRule[] {
  // A missing field is reported by its own check.
  if (sensitive === undefined) return [];
  const names = Array.isArray(sensitive) ? ['sensitive'] : Object.keys(sensitive);
  const known = new Set(names);
  return intersections.flatMap((parts, index) => {
    const path = ['intersections', String(index)];
    const unknown = parts.find((name) => !known.has(name));
    if (unknown !== undefined) {
      const message = `intersections names '${unknown}', which is not an attribute of sensitive. ${suggestNames(unknown, names, 'attributes')}`;
      return [{ path, message, suggestion: 'Cross attributes by their names in sensitive.' }];
    }
    if (new Set(parts).size === parts.length) return [];
    const message = 'intersections combines an attribute with itself.';
    return [{ path, message, suggestion: 'Name different attributes.' }];
  });
}
