import { z } from 'zod';

import { described, optionalField } from './fields.ts';
import { splitNames } from '../internal/arguments.ts';
import { type BrokenRule, parseWire, ruleIssue } from './problems-of.ts';
import { checkedBy, MAX_ATTRIBUTES } from './row-arrays.ts';
import { textBoolean, textJson, textNumber } from './text-values.ts';
import { VALIDATE_VALUES, type ValidateInput } from './validate-values.ts';
import {
  CLUSTER_DESCRIPTION,
  MEASURE_WIRE_FIELDS,
  measureOptionsOf,
  measureRules,
  STRATA_DESCRIPTION,
} from './validate-wire.ts';

/** The maximum length in characters of a parameter that contains column names. */
const MAX_NAMES_LENGTH = 1000;

const column = z.string().min(1).max(MAX_NAMES_LENGTH);
const names = column.refine((text) => text === '' || splitNames(text).every((name) => name !== ''), {
  message: 'There is an empty name in the comma list.',
  params: { suggestion: 'Remove the comma, or write \\, for a comma in a name.' },
});

const NAMES_SCHEMA = { type: 'string', minLength: 1, maxLength: MAX_NAMES_LENGTH };

/**
 * The sensitive columns, from one or several parameters. The schema is one custom check, because the errors of a zod
 * union are not specific.
 */
export const sensitiveNames = checkedBy<string | readonly string[]>((value) => sensitiveProblem(value)).meta({
  anyOf: [NAMES_SCHEMA, { type: 'array', items: NAMES_SCHEMA, minItems: 1, maxItems: MAX_ATTRIBUTES }],
  description:
    'A sensitive column; a comma list is one intersection (a comma in a name is `\\,`); repeat the parameter to analyse several columns separately.',
  examples: ['sex', 'sex,race'],
});

/**
 * The options that can be query parameters. The list `gates` can only be sent in a JSON body, but the parameter
 * `metric` accepts gates that apply to all attributes.
 */
const { gates, ...QUERY_FIELDS } = MEASURE_WIRE_FIELDS;

/** The query of `POST /validate` with a table: the roles of its columns, and the options for metrics and gates. */
const VALIDATE_TABLE_FIELDS = {
  y_pred: optionalField(column, 'The column of decisions, or of numbers for metrics of numbers.', 'approved'),
  score: optionalField(column, 'The column of scores, instead of decisions.', 'score'),
  y_score: optionalField(column, 'The same as score.', 'score'),
  y_true: optionalField(column, 'The column of true labels; adds equalized odds.', 'repaid'),
  sensitive: sensitiveNames,
  sample_weight: optionalField(column, 'The column of weights.', 'weight'),
  cluster: optionalField(column, CLUSTER_DESCRIPTION, 'person'),
  strata: optionalField(column, STRATA_DESCRIPTION, 'region'),
  control: optionalField(
    names,
    'Control features, as a comma list: groups are also compared within each level of these columns.',
    'region',
  ),
  ...QUERY_FIELDS,
  counts: textBoolean(
    described(
      z.boolean().default(false),
      'Whether the table holds counts instead of rows: the result of the statement that `evenhand sql` prints. Its columns have fixed names, so that y_pred, score, y_true and sample_weight are left out.',
      true,
    ),
  ),
  positive_label: optionalField(z.string(), 'The label that counts as 1, if labels are not 0 and 1.', 'yes'),
  y_true_positive_label: optionalField(
    z.string(),
    'The label of y_true that counts as 1, if it differs from positive_label.',
    'repaid',
  ),
  na_values: optionalField(
    z.string().max(MAX_NAMES_LENGTH),
    'Texts that are read as missing values, in all columns: a comma list. Default: the same texts as in pandas; in sensitive and control columns, only empty fields.',
    'NA,unknown',
  ),
  measures: optionalField(names, 'Measures to report for every group: a comma list.', 'selection_rate,precision'),
  score_threshold: textNumber(MEASURE_WIRE_FIELDS.score_threshold),
  threshold: textNumber(MEASURE_WIRE_FIELDS.threshold),
  min_group_size: textNumber(MEASURE_WIRE_FIELDS.min_group_size),
  min_cell: textNumber(MEASURE_WIRE_FIELDS.min_cell),
  strict_missing: textBoolean(MEASURE_WIRE_FIELDS.strict_missing),
  with_ci: textBoolean(MEASURE_WIRE_FIELDS.with_ci),
  ci_level: textNumber(MEASURE_WIRE_FIELDS.ci_level),
  ci_samples: textNumber(MEASURE_WIRE_FIELDS.ci_samples),
  with_effects: textBoolean(MEASURE_WIRE_FIELDS.with_effects),
  with_p_value: textBoolean(MEASURE_WIRE_FIELDS.with_p_value),
  seed: textNumber(MEASURE_WIRE_FIELDS.seed),
  backend: described(
    VALIDATE_VALUES.backend.default('duckdb'),
    'The engine that counts the rows. duckdb does not load the rows into memory. All engines give the same results.',
    'duckdb',
  ),
} as const;

type TableFields = z.output<z.ZodObject<typeof VALIDATE_TABLE_FIELDS>>;

function checkTable(context: z.core.ParsePayload<TableFields>): void {
  const query = context.value;
  if (query.counts) {
    context.issues.push(...countsRules(query).map((rule) => ruleIssue(rule)));
    return;
  }
  const rules = measureRules(
    { ...query, score: query.score ?? query.y_score },
    {
      predictions: 'y_pred',
      scores: 'score',
      takesBoth: false,
      missing: 'y_pred is missing: name the column of decisions, or name the column of scores as score.',
      suggestion: EXAMPLE,
    },
  );
  if (query.score !== undefined && query.y_score !== undefined) {
    const message = 'score and y_score are the same parameter: give only one of them.';
    rules.push({ path: ['y_score'], message, suggestion: 'Leave y_score out.' });
  }
  context.issues.push(...rules.map((rule) => ruleIssue(rule)));
}

/** The schema of the query of `POST /validate` with a table. */
export const validateTableSchema = z.strictObject(VALIDATE_TABLE_FIELDS).check(checkTable);

const FORM_FIELDS = { ...VALIDATE_TABLE_FIELDS, gates: textJson(gates) } as const;
const validateFormSchema = z.strictObject(FORM_FIELDS).check(checkTable);
const { counts: _, ...NAMED_FIELDS } = FORM_FIELDS;

/** The fields of a form of `POST /validate` with a table. Whether it holds counts follows from the name of its file. */
export const VALIDATE_FORM_FIELDS = NAMED_FIELDS;

type TextOptions = Readonly<Record<string, string | readonly string[]>>;

/** The parameters of columns that have fixed names in a table of counts. */
const ROW_COLUMNS = ['y_pred', 'score', 'y_score', 'y_true', 'sample_weight', 'cluster', 'strata'] as const;

function countsRules(query: Readonly<Record<string, unknown>>): BrokenRule[] {
  return ROW_COLUMNS.filter((name) => query[name] !== undefined).map((name) => ({
    path: [name],
    message: `${name} names a column of rows, but the table holds counts, whose columns have fixed names.`,
    suggestion: `Leave ${name} out, or leave counts out.`,
  }));
}

/** Returns whether a query that {@link parseValidateTable} accepts says that the table holds counts. */
export function holdsCounts({ counts }: Readonly<Record<string, string | readonly string[]>>): boolean {
  return VALIDATE_TABLE_FIELDS.counts.parse(counts);
}

/**
 * Parses the options of `POST /validate` with a table.
 * @param options texts by name; a repeated option is a list
 * @throws {ConfigValidationError} if options are invalid; `context.fields` identifies each one
 */
export function parseValidateTable(options: TextOptions, source: 'query' | 'form' = 'query'): ValidateInput {
  if (source === 'form') {
    const { gates: sent, ...wire } = parseWire(validateFormSchema, options, 'The form cannot be validated');
    return { ...inputOf(wire), gates: sent };
  }
  const nameOf = (pointer: string): string => pointer.replace(/^\//, '');
  return inputOf(parseWire(validateTableSchema, options, 'The query cannot be validated', nameOf));
}

function inputOf(wire: TableFields): ValidateInput {
  return {
    ...measureOptionsOf({ ...wire, na_values: listOf(wire.na_values), measures: listOf(wire.measures) }),
    attributes: [wire.sensitive].flat().map(splitNames),
    yPred: wire.y_pred,
    score: wire.score ?? wire.y_score,
    yTrue: wire.y_true,
    sampleWeight: wire.sample_weight,
    cluster: wire.cluster,
    strata: wire.strata,
    control: listOf(wire.control),
  };
}

function listOf(names: string | undefined): string[] | undefined {
  return names === undefined ? undefined : splitNames(names);
}

/** A suggestion with an example query. */
const EXAMPLE = 'Name the columns in the query, as in ?y_pred=approved&sensitive=sex.';

function sensitiveProblem(value: unknown): BrokenRule | undefined {
  if (value === undefined) {
    const message = 'sensitive is missing: name the column of the groups, as in ?y_pred=approved&sensitive=sex.';
    return { path: [], message, suggestion: EXAMPLE };
  }
  const given = Array.isArray(value) ? value : [value];
  if (given.length > MAX_ATTRIBUTES) {
    const message = `sensitive may be given at most ${String(MAX_ATTRIBUTES)} times; it was given ${String(given.length)} times.`;
    return { path: [], message, suggestion: 'Send the other columns in separate requests.' };
  }
  for (const text of given) {
    const parsed = names.safeParse(text);
    if (parsed.success) continue;
    const message =
      text === '' ? 'sensitive must not be empty.' : `sensitive: ${parsed.error.issues[0]?.message ?? ''}`;
    return { path: [], message, suggestion: text === '' ? EXAMPLE : 'Name columns of the table, separated by commas.' };
  }
  return undefined;
}
