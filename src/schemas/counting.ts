import { z } from 'zod';

import { VALIDATE_VALUES } from './validate-values.ts';

/** The SQL dialects in which a counting statement can be written. */
export const SQL_DIALECTS = [
  'duckdb',
  'postgres',
  'clickhouse',
  'trino',
  'spark',
  'bigquery',
  'snowflake',
  'databricks',
  'redshift',
  'athena',
  'mysql',
] as const;

/** A SQL dialect. */
export type SqlDialect = (typeof SQL_DIALECTS)[number];

const name = z.string().min(1).max(10_000);

/** The schema of a request for a counting statement, shared by library and command line. */
export const countingSchema = z
  .object({
    dialect: z.enum(SQL_DIALECTS),
    table: name.optional(),
    query: z.string().min(1).optional(),
    attributes: z.array(z.array(name).min(1)).min(1),
    control: z.array(name).min(1).optional(),
    yPred: name.optional(),
    score: name.optional(),
    scoreThreshold: z.number().optional(),
    exactScores: z.boolean().default(false),
    decisionsOnly: z.boolean().default(false),
    yTrue: name.optional(),
    sampleWeight: name.optional(),
    regression: z.boolean().default(false),
    minCell: VALIDATE_VALUES.minCell.optional(),
    positiveLabel: z.string().optional(),
    yTruePositiveLabel: z.string().optional(),
    naValues: z.array(z.string()).optional(),
  })
  .refine(({ table, query }) => (table === undefined) !== (query === undefined), {
    message: 'Give either a table ({table}) or a query ({query}).',
  })
  .refine(({ yPred, score }) => (yPred === undefined) !== (score === undefined), {
    message: 'Give either decisions or predicted numbers ({yPred}), or scores ({score}).',
  })
  .refine(
    ({ yPred, score, yTrue, attributes }) => !attributes.flat().some((name) => [yPred, score, yTrue].includes(name)),
    {
      message:
        'One column is used as a sensitive attribute and for the decisions, scores or true labels, so every group would have its own: change {attributes}, or {yPred}, {score} or {yTrue}.',
    },
  )
  .refine(({ score, scoreThreshold }) => score !== undefined || scoreThreshold === undefined, {
    message: 'A score threshold needs scores: add {score}.',
  })
  .refine(({ score, exactScores }) => score !== undefined || !exactScores, {
    message: 'Exact scores need scores: add {score}.',
  })
  .refine(({ score, decisionsOnly }) => score !== undefined || !decisionsOnly, {
    message: 'Decisions are made from scores: add {score}.',
  })
  .refine(({ exactScores, decisionsOnly }) => !exactScores || !decisionsOnly, {
    message: 'Either count each distinct score ({exactScores}), or only decisions ({decisionsOnly}).',
  })
  .refine(
    ({ minCell, positiveLabel, yTruePositiveLabel, naValues }) =>
      minCell !== undefined || [positiveLabel, yTruePositiveLabel, naValues].every((value) => value === undefined),
    {
      message:
        'Labels stay as they are, and are read when the counts are measured: remove {positiveLabel}, {yTruePositiveLabel} and {naValues}, or add {minCell}.',
    },
  )
  .refine(({ minCell, attributes }) => minCell === undefined || attributes.length === 1, {
    message: 'Small counts can be left out for one attribute at a time: give one of {attributes} with {minCell}.',
  })
  .refine(
    ({ minCell, control, sampleWeight, regression, score, decisionsOnly }) =>
      minCell === undefined ||
      (control === undefined && sampleWeight === undefined && !regression && (score === undefined || decisionsOnly)),
    {
      message:
        'Small counts can be left out only if decisions are counted: with {minCell}, remove {control}, {sampleWeight} and {regression}, and add {decisionsOnly} to {score}.',
    },
  )
  .refine(({ score, regression }) => score === undefined || !regression, {
    message: 'A regression has predicted numbers ({yPred}), not scores.',
  });

/** A request for a counting statement. */
export type CountingInput = z.input<typeof countingSchema>;

/** A request for a counting statement, with defaults filled in. */
export type CountingRequest = z.output<typeof countingSchema>;
