import { z } from 'zod';

import { camelFields, splitNames } from '../internal/arguments.ts';
import { isMapping } from '../internal/values.ts';
import { abTestSchema } from './ab-test.ts';
import { calibrateSchema } from './calibrate.ts';
import { described, optionalField } from './fields.ts';
import { CLUSTER_DESCRIPTION } from './validate-wire.ts';
import { MIN_GROUP_SIZE_DEFAULT } from './min-group-size.ts';
import { type BrokenRule, brokenRules, parseWire, ruleIssue } from './problems-of.ts';
import { checkedBy } from './row-arrays.ts';
import { predictSchema, sweepSchema, trainLagrangianSchema, trainReductionsSchema } from './training-job.ts';

/*
 * The requests of /predict, /calibrate, /ab-test and /train. A request is a form with tables and fields, or a JSON body
 * with rows and the same fields.
 */

/** The maximum number of columns, names or texts in a list of a request. */
const MAX_LISTED = 1000;
/** The maximum length of a name, or of a list of names. */
const MAX_NAME_LENGTH = 1000;

const column = z.string().min(1).max(MAX_NAME_LENGTH);
const columns = z.union([column, z.array(column).min(1).max(MAX_LISTED)]);
const texts = z.union([z.string().max(MAX_NAME_LENGTH), z.array(z.string().max(MAX_NAME_LENGTH)).max(MAX_LISTED)]);
const naValues = optionalField(
  texts,
  'Texts that are read as missing values: a list, or a comma list. Default: the same texts as in pandas; in columns of groups, only empty fields.',
  ['NA', 'unknown'],
);
const seed = z.number().int().optional();

/** One value of a row. */
const CELL = { type: ['string', 'number', 'boolean', 'null'] };

/** Returns the schema of rows: an array of objects, or an object of columns of equal length. */
function rowsField(description: string): z.ZodType<SentRows> {
  const columnsOf = { type: 'object', additionalProperties: { type: 'array', items: CELL }, minProperties: 1 };
  const records = { type: 'array', items: { type: 'object', additionalProperties: CELL }, minItems: 1 };
  return checkedBy<SentRows>(rowsProblem).meta({
    anyOf: [records, columnsOf],
    description,
    examples: [[{ id: 'a', score: 0.7 }], { id: ['a'], score: [0.7] }],
  });
}

type Cell = string | number | boolean | null;

/** Rows in a JSON body: objects, or columns by name. */
export type SentRows = readonly Readonly<Record<string, Cell>>[] | Readonly<Record<string, readonly Cell[]>>;

const SEND_ROWS =
  'Send an array with one object per row, or an object with one array per column. All values must be texts, numbers, booleans or null.';

function rowsProblem(value: unknown): BrokenRule | undefined {
  const broken = (path: readonly (string | number)[], message: string): BrokenRule => ({
    path,
    message,
    suggestion: SEND_ROWS,
  });
  if (Array.isArray(value)) {
    if (value.length === 0) return broken([], 'There are no rows.');
    for (const [index, row] of (value as readonly unknown[]).entries()) {
      if (!isMapping(row) || Object.keys(row).length === 0)
        return broken([index], 'A row must be an object of values.');
      const wrong = Object.keys(row).find((name) => name === '' || !isCell(row[name]));
      if (wrong !== undefined)
        return broken([index, wrong], `The value of '${wrong.slice(0, 60)}' is not a plain value.`);
    }
    return undefined;
  }
  if (value === undefined) return broken([], 'The rows are missing.');
  if (!isMapping(value)) return broken([], 'Rows must be an array of objects, or an object of arrays.');
  const entries = Object.entries(value);
  const first = entries[0]?.[1];
  if (!Array.isArray(first) || first.length === 0) return broken([], 'There are no rows.');
  for (const [name, own] of entries) {
    if (!Array.isArray(own)) return broken([name], `The column '${name.slice(0, 60)}' must be an array.`);
    if (name === '') return broken([], 'A column has no name.');
    if (own.length !== first.length) {
      const problem = `The column '${name.slice(0, 60)}' has ${String(own.length)} values; the first column has ${String(first.length)}.`;
      return broken([name], problem);
    }
    const wrong = own.findIndex((cell) => !isCell(cell));
    if (wrong >= 0) return broken([name, wrong], 'This value is not a plain value.');
  }
  return undefined;
}

function isCell(value: unknown): value is Cell {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
}

/**
 * Returns rows as one JSON object per line, which is read like any other file of rows.
 * @yields each line
 */
export function* linesOfRows(rows: SentRows): Generator<string> {
  if (Array.isArray(rows)) {
    for (const row of rows as readonly object[]) yield `${JSON.stringify(row)}\n`;
    return;
  }
  const entries = Object.entries(rows as Readonly<Record<string, readonly Cell[]>>);
  const count = entries[0]?.[1].length ?? 0;
  for (let row = 0; row < count; row++) {
    yield `${JSON.stringify(Object.fromEntries(entries.map(([name, own]) => [name, own[row] ?? null])))}\n`;
  }
}

const predict = predictSchema.shape;

const PREDICT_FIELDS = {
  na_values: naValues,
  eta: described(predict.eta, 'The eta of the network to use, if the model is a sweep.', 0.5),
  threshold: described(
    predict.threshold,
    "The decision threshold: a score of at least this value becomes 1. Default: the model's threshold, else 0.5.",
    0.5,
  ),
  seed: described(predict.seed, 'The seed of the draw of a randomised model. Default: the seed of its training.', 42),
  randomization: described(
    predict.randomization,
    'How a randomised model draws: draw (by row number) or row (equal rows get equal predictions). Default: draw.',
    'draw',
  ),
  backend: described(predict.backend, 'The backend that computes a network. Default: auto.', 'cpu'),
} as const;

const calibrate = calibrateSchema.shape;

const CALIBRATE_FIELDS = {
  score: optionalField(column, 'The column of scores from 0 to 1. Default: score.', 'score'),
  y_true: optionalField(column, 'The column of true outcomes. Default: y.', 'repaid'),
  sensitive: optionalField(columns, 'The column of groups; several columns are one intersection. Default: g.', 'sex'),
  positive_label: optionalField(z.string(), 'The label of y_true that counts as 1, if labels are not 0 and 1.', 'yes'),
  na_values: naValues,
  method: described(calibrate.method, 'The calibration method. Default: platt.', 'isotonic'),
  input: described(calibrate.input, 'The input of the logistic model of platt. Default: logit.', 'logit'),
  min_samples: described(
    calibrate.minSamples,
    'The minimum number of rows of a group; smaller groups use the pooled calibrator. Default: 20.',
    20,
  ),
  folds: described(
    calibrate.folds,
    'Each row is calibrated by a calibrator fitted on the other folds; 1 fits and measures on the same rows. Default: 5.',
    5,
  ),
  train_size: described(
    calibrate.trainSize,
    'Fit on this share of the rows and measure the others, instead of folds.',
    0.8,
  ),
  seed: described(calibrate.seed, 'The seed of the assignment of rows to folds. Default: 42.', 42),
} as const;

const abTest = abTestSchema.shape;

const AB_TEST_FIELDS = {
  arm: optionalField(column, 'The column that names the arm of each row, if one table holds both arms.', 'arm'),
  control: optionalField(z.string(), 'The label of the control arm. Default: control, a, 0, false or baseline.', 'a'),
  treatment: optionalField(z.string(), 'The label of the treatment arm. Default: the only other label.', 'b'),
  outcome: described(column, 'The column of decisions, or of numbers for metrics of numbers.', 'approved'),
  sensitive: described(
    columns,
    'A sensitive column; a comma list is one intersection; a list analyses several separately.',
    ['sex', 'sex,race'],
  ),
  y_true: optionalField(column, 'The column of true labels, for metrics that need them.', 'repaid'),
  business: optionalField(columns, 'Columns of business metrics, whose effects are reported too.', ['revenue']),
  sample_weight: optionalField(column, 'The column of weights.', 'weight'),
  cluster: optionalField(column, CLUSTER_DESCRIPTION, 'customer'),
  id: optionalField(column, 'The column of the id of each unit; ids in both arms are reported.', 'customer'),
  positive_label: optionalField(z.string(), 'The label that counts as 1 in outcome and y_true.', 'yes'),
  y_true_positive_label: optionalField(z.string(), 'The label of y_true that counts as 1, if it differs.', 'repaid'),
  na_values: naValues,
  nan_policy: described(abTest.nanPolicy, 'Rows without a group: exclude, or include as (missing). Default: exclude.'),
  metric: optionalField(columns, 'The metrics to compare. Default: demographic_parity_difference.', [
    'demographic_parity_difference',
  ]),
  alpha: described(abTest.alpha, 'The accepted share of false findings. Default: 0.05.', 0.05),
  minimum_effect: described(abTest.minimumEffect, 'The size of change for which power is reported. Default: 0.05.'),
  sequential: optionalField(
    z.boolean(),
    'Whether to use tests that stay valid if a running experiment is checked repeatedly. Default: false.',
    false,
  ),
  tau: described(abTest.tau, 'The expected size of changes, for sequential. Default: 0.05.'),
  min_group_size: described(
    abTest.minGroupSize,
    `The minimum rows of a group in each arm; smaller groups are listed but not compared. ${MIN_GROUP_SIZE_DEFAULT}`,
    30,
  ),
  treatment_share: described(abTest.treatmentShare, 'The intended share of rows in the treatment arm. Default: 0.5.'),
  seed: described(abTest.seed, 'The seed of the interval for the largest gap of many groups. Default: 42.', 42),
} as const;

/** The methods of POST /train, with the schema of their options. */
export const TRAIN_METHODS = {
  regularized: sweepSchema.omit({ threads: true, queue: true }),
  lagrangian: trainLagrangianSchema,
  reductions: trainReductionsSchema,
} as const;

/** A method of POST /train. */
type TrainMethod = keyof typeof TRAIN_METHODS;

const sweep = TRAIN_METHODS.regularized.shape;
const reductions = TRAIN_METHODS.reductions.shape;
const lagrangian = TRAIN_METHODS.lagrangian.shape;
const only = (method: TrainMethod): string => `Only for ${method}. `;
const networks = 'For regularized and lagrangian. ';

const TRAIN_FIELDS = {
  method: described(
    z.enum(['regularized', 'lagrangian', 'reductions']),
    'The training method: a sweep over the weight of a penalty, a constraint on a network, or a constraint on a classifier.',
    'reductions',
  ),
  y_true: optionalField(column, 'The column to predict: 0 and 1, or text with two values. Default: y.', 'repaid'),
  positive_label: optionalField(z.string(), 'The label that counts as 1. Default: the less frequent label.', 'yes'),
  na_values: naValues,
  sensitive: optionalField(
    columns,
    'The sensitive column; several columns are one intersection. Not used as a feature. Default: s.',
    'sex',
  ),
  features: optionalField(columns, 'The columns to learn from. Default: all other columns.', ['age', 'priors']),
  train_size: described(sweep.trainSize, 'The share of rows to train on; the others are held out. Default: 0.8.', 0.8),
  folds: described(sweep.folds, 'Cross-fit with this many folds instead of one split, for small data.', 5),
  min_group_size: described(
    sweep.minGroupSize,
    `The minimum number of held-out rows of a group; smaller groups are excluded from gaps. ${MIN_GROUP_SIZE_DEFAULT}`,
    30,
  ),
  backend: described(sweep.backend, 'The backend that computes tensors. Default: auto.', 'cpu'),
  seed: described(seed, 'The seed of the split and of all other random numbers. Default: 42.', 42),
  etas: described(
    sweep.etas,
    `${only('regularized')}The weights of the penalty, or auto. Default: 0, 0.2, 0.5, 1.`,
    [0, 1],
  ),
  penalty: described(sweep.penalty, `${only('regularized')}The penalty. Default: covariance.`, 'covariance'),
  lr: described(sweep.lr, `${only('regularized')}The learning rate. Default: 0.001.`, 0.001),
  weight_decay: described(sweep.weightDecay, `${only('regularized')}Decoupled weight decay. Default: 0.`, 0),
  schedule: described(sweep.schedule, `${only('regularized')}The learning rate schedule. Default: constant.`, 'cosine'),
  epochs: described(
    sweep.epochs,
    `${networks}The passes over the rows. Default: 20 for regularized, 50 for lagrangian.`,
    20,
  ),
  batch_size: described(sweep.batchSize, `${networks}The rows of a step, or auto. Default: 128.`, 128),
  hidden: described(sweep.hidden, `${networks}The sizes of the hidden layers. Default: 32.`, [32]),
  patience: described(sweep.patience, `${networks}Stop after this many epochs without improvement.`, 5),
  fairness: described(lagrangian.fairness, `${only('lagrangian')}The constraint. Default: demographic_parity.`),
  dp_tol: described(lagrangian.dpTol, `${only('lagrangian')}The largest gap of selection rates. Default: 0.02.`, 0.02),
  eo_tol: described(lagrangian.eoTol, `${only('lagrangian')}The largest gap of error rates. Default: 0.02.`, 0.02),
  model_lr: described(
    lagrangian.modelLr,
    `${only('lagrangian')}The learning rate of the network. Default: 0.001.`,
    0.001,
  ),
  lambda_lr: described(
    lagrangian.lambdaLr,
    `${only('lagrangian')}The learning rate of the multipliers. Default: 0.01.`,
    0.01,
  ),
  constraint: described(reductions.constraint, `${only('reductions')}The constraint. Default: demographic_parity.`),
  eps: described(reductions.eps, `${only('reductions')}The bound on the constraint. Default: 0.01.`, 0.01),
  difference_bound: described(
    reductions.differenceBound,
    `${only('reductions')}The bound on the difference from the overall rate. Default: eps.`,
    0.01,
  ),
  ratio_bound: described(reductions.ratioBound, `${only('reductions')}The bound on ratios of rates.`, 0.8),
  upper_bound: described(reductions.upperBound, `${only('reductions')}The bound of bounded_group_loss. Default: eps.`),
  bound: described(reductions.bound, `${only('reductions')}The rates to compare. Default: overall.`, 'overall'),
  T: described(reductions.T, `${only('reductions')}The maximum number of iterations. Default: 50.`, 50),
  nu: described(reductions.nu, `${only('reductions')}The duality gap below which training stops.`),
} as const;

/** The fields of each request, without its data. */
export const TABLE_JOB_FIELDS = {
  predict: PREDICT_FIELDS,
  calibrate: CALIBRATE_FIELDS,
  'ab-test': AB_TEST_FIELDS,
  train: TRAIN_FIELDS,
} as const;

/** A kind of request with tables. */
export type TableJobKind = keyof typeof TABLE_JOB_FIELDS;

const ROWS = 'The rows.';

/** The fields of rows in a JSON body, by kind. A form has a file of rows for each of them. */
export const ROW_FIELDS = {
  predict: { rows: rowsField(ROWS) },
  calibrate: { rows: rowsField(ROWS) },
  'ab-test': {
    rows: rowsField('The rows of both arms; arm names the column of the arm.').optional(),
    control_rows: rowsField('The rows of the control arm, instead of rows.').optional(),
    treatment_rows: rowsField('The rows of the treatment arm, instead of rows.').optional(),
  },
  train: {
    rows: rowsField(ROWS),
    test_rows: rowsField('Rows to evaluate on, instead of a part of rows.').optional(),
  },
} as const;

/** The name of the form part for each field of rows. */
export const PART_OF_ROWS: Readonly<Record<string, string>> = {
  rows: 'file',
  control_rows: 'control_file',
  treatment_rows: 'treatment_file',
  test_rows: 'test_file',
};

/** The schemas of the fields, without data. */
const SCHEMAS = {
  predict: z.strictObject(PREDICT_FIELDS),
  calibrate: z.strictObject(CALIBRATE_FIELDS).check((context) => {
    const { folds, train_size: trainSize, method = 'platt', input } = context.value;
    const rules = brokenRules([
      [
        folds !== undefined && trainSize !== undefined,
        'folds',
        'Give either folds or train_size.',
        'Omit one of them.',
      ],
      [input !== undefined && method !== 'platt', 'input', `input has no effect with ${method}.`, 'Omit input.'],
    ]);
    context.issues.push(...rules.map((rule) => ruleIssue(rule)));
  }),
  'ab-test': z.strictObject(AB_TEST_FIELDS).check((context) => {
    const { arm, control, treatment, sequential = false, tau, y_true: yTrue } = context.value;
    const rules = brokenRules([
      [
        arm === undefined && (control ?? treatment) !== undefined,
        'arm',
        'control and treatment are labels of arm, which is missing.',
        'Name the column of the arms as arm.',
      ],
      [
        yTrue === undefined && context.value.y_true_positive_label !== undefined,
        'y_true_positive_label',
        'y_true_positive_label needs true labels.',
        'Name the column of true labels as y_true.',
      ],
      [tau !== undefined && !sequential, 'tau', 'tau belongs to the sequential test.', 'Send sequential: true too.'],
    ]);
    context.issues.push(...rules.map((rule) => ruleIssue(rule)));
  }),
  train: z.strictObject(TRAIN_FIELDS).check((context) => {
    const { method } = context.value;
    const known = new Set(Object.keys(camelSchemaFields(method)));
    const foreign = Object.keys(context.value).filter(
      (name) =>
        context.value[name as keyof typeof context.value] !== undefined && !DATA_FIELDS.has(name) && !known.has(name),
    );
    const rules = brokenRules(
      foreign.map((name) => [true, name, `${name} is not an option of the method ${method}.`, `Omit ${name}.`]),
    );
    context.issues.push(...rules.map((rule) => ruleIssue(rule)));
  }),
} as const;

/** The fields of /train that name the data. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  'method',
  'y_true',
  'positive_label',
  'na_values',
  'sensitive',
  'features',
]);

/** Returns the options of a method by their names in requests. */
function camelSchemaFields(method: TrainMethod): Readonly<Record<string, unknown>> {
  const shape: object = TRAIN_METHODS[method].shape;
  return Object.fromEntries(
    Object.keys(TRAIN_FIELDS).flatMap((name) => {
      const [own = ''] = Object.keys(camelFields({ [name]: 0 }));
      return own in shape ? [[name, own]] : [];
    }),
  );
}

type Parsed<Kind extends TableJobKind> = z.output<(typeof SCHEMAS)[Kind]>;

/**
 * Parses the fields of a request, without its data.
 * @throws {ConfigValidationError} if fields are invalid; `context.fields` identifies each one
 */
export function parseTableJob<Kind extends TableJobKind>(kind: Kind, fields: unknown): Parsed<Kind> {
  return parseWire(SCHEMAS[kind] as z.ZodObject, fields, 'The request cannot be processed') as Parsed<Kind>;
}

/** Parses the rows of a JSON body. */
export function parseRows(
  kind: TableJobKind,
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, SentRows>> {
  const shape = ROW_FIELDS[kind];
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (name in body ? [[name, body[name]]] : [])));
  const parsed = parseWire(z.strictObject(shape as z.ZodRawShape), given, 'The request cannot be processed');
  return Object.fromEntries(Object.entries(parsed).filter(([, rows]) => rows !== undefined)) as Record<
    string,
    SentRows
  >;
}

/** Returns the names in a list or a comma list; undefined if there are none. */
export function namesIn(given: string | readonly string[] | undefined): string[] | undefined {
  if (given === undefined) return undefined;
  return typeof given === 'string' ? splitNames(given) : [...given];
}

/** The words that a form may use for booleans. */
const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
]);

/**
 * Returns the values of form fields, which always arrive as text. A list may be a comma list, a JSON array, or a field
 * that is repeated.
 */
export function valuesOfForm(
  kind: TableJobKind,
  fields: Readonly<Record<string, string | readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const shape: Readonly<Record<string, z.ZodType>> = TABLE_JOB_FIELDS[kind];
  return Object.fromEntries(Object.entries(fields).map(([name, given]) => [name, valueOfText(shape[name], given)]));
}

function valueOfText(schema: z.ZodType | undefined, given: string | readonly string[]): unknown {
  if (typeof given !== 'string') return given;
  const json = jsonOf(given);
  const words = splitNames(given);
  const numbers = words.map(Number);
  const candidates: unknown[] = [
    ...(Array.isArray(json) ? [json] : []),
    given,
    ...(json === undefined ? [] : [json]),
    TRUTHS.get(given.trim().toLowerCase()),
    ...(numbers.some(Number.isNaN) ? [] : [numbers]),
    words,
  ];
  const fitting = candidates.find((value) => value !== undefined && schema?.safeParse(value).success === true);
  // A number that is out of range is reported as a number.
  return fitting ?? (typeof json === 'number' ? json : given);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
