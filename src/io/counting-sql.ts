import { DataValidationError } from '../exceptions/index.ts';
import { assertKnownOptions } from '../internal/arguments.ts';
import { type CountingInput, type CountingRequest, countingSchema, type SqlDialect } from '../schemas/counting.ts';
import { parseBy } from '../schemas/parse.ts';
import { SCORE_THRESHOLD } from '../schemas/validate-values.ts';
import { missingOutcomes } from '../table/index.ts';
import { COUNT_COLUMNS, type CountColumn } from './counted-rows.ts';
import { quoteIdentifier, quoteLiteral, tableParts } from './sql-engine.ts';

/** How a dialect writes what the dialects write differently. */
interface Dialect {
  /** Returns a name as an identifier. */
  readonly quote: (name: string) => string;
  /** Converts a value to text. */
  readonly text: (value: string) => string;
  /** Converts a value to float64. */
  readonly double: (value: string) => string;
  /**
   * Returns a text as a string literal.
   * @throws {DataValidationError} if the text has a character that the dialect may read in several ways
   */
  readonly literal: (text: string) => string;
  /**
   * Whether texts that differ are equal in GROUP BY, for example by their case. The rows are then grouped by the bytes of
   * the text.
   */
  readonly groupsByBytes?: boolean;
  /** Returns a condition that is true if a text is not a number, where a conversion returns a wrong number instead. */
  readonly isNoNumber?: (text: string) => string;
}

const cast =
  (type: string) =>
  (value: string): string =>
    `CAST(${value} AS ${type})`;

const inBackticks = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const escaped =
  (mark: string) =>
  (name: string): string =>
    `${mark}${name.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`)}${mark}`;

/** Returns a literal of a dialect in which a backslash escapes the next character. */
const backslashed = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns a literal of a dialect in which the meaning of a backslash depends on settings. */
function withoutBackslash(text: string): string {
  if (!text.includes('\\')) return quoteLiteral(text);
  throw new DataValidationError(
    `The label '${text}' has a backslash, which this SQL dialect may read in several ways.`,
    {
      code: 'invalid-value',
      context: { value: text },
      suggestion: 'Give a query that replaces the label.',
    },
  );
}

const STANDARD: Dialect = {
  quote: quoteIdentifier,
  text: cast('VARCHAR'),
  double: cast('DOUBLE'),
  literal: quoteLiteral,
};

const SPARK: Dialect = {
  quote: inBackticks,
  text: cast('STRING'),
  double: cast('DOUBLE'),
  literal: backslashed,
};

const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  duckdb: STANDARD,
  // Some collations make texts equal that differ, for example by their case.
  postgres: {
    quote: quoteIdentifier,
    text: (value) => `CAST(${value} AS TEXT) COLLATE "C"`,
    double: cast('DOUBLE PRECISION'),
    literal: quoteLiteral,
  },
  clickhouse: {
    quote: escaped('"'),
    text: cast('Nullable(String)'),
    double: cast('Nullable(Float64)'),
    literal: backslashed,
  },
  trino: STANDARD,
  spark: SPARK,
  bigquery: { quote: escaped('`'), text: cast('STRING'), double: cast('FLOAT64'), literal: backslashed },
  snowflake: { ...STANDARD, literal: backslashed },
  databricks: SPARK,
  // VARCHAR without a length cuts texts after 256 bytes.
  redshift: {
    quote: quoteIdentifier,
    text: cast('VARCHAR(65535)'),
    double: cast('DOUBLE PRECISION'),
    literal: withoutBackslash,
  },
  athena: STANDARD,
  mysql: {
    quote: inBackticks,
    text: cast('CHAR'),
    double: cast('DOUBLE'),
    literal: withoutBackslash,
    groupsByBytes: true,
    isNoNumber: (text) => `${text} NOT REGEXP '^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$'`,
  },
};

/** The width of the bins of scores. The scores 0 and 1 are the middle of bins. */
const SCORE_STEP = 2 ** -14;

const COUNTING_NAMES: Readonly<Record<string, true>> = Object.fromEntries(
  Object.keys(countingSchema.shape).map((name) => [name, true as const]),
);

/**
 * Returns one SQL statement that counts rows by sensitive attributes, control features, true label and decision. Save
 * its result as a CSV, Parquet or JSON-lines file, and measure it with `evenhand validate --counts`, {@link validateCounts}
 * or `FairnessAnalyzer.fromCounts`. Only counts and sums leave the engine, never rows.
 *
 * With `minCell`, counts below this number are left out, so that they do not leave the engine. The metrics of such
 * counts have bounds instead of values. Decisions and true labels are then counted as 0 and 1: give the positive label.
 *
 * Labels stay as they are: name the positive label when the counts are measured. Scores are counted in bins of width
 * 2^-14. For a regression, sums of the powers of predictions, true values and errors are computed.
 *
 * The statement contains a query as it is given. The names of tables and columns are quoted.
 * @throws {ConfigValidationError} if an option is missing or out of its range
 * @throws {DataValidationError} if a name cannot be used as a column of counts
 * @example
 * ```ts
 * import { countingSql } from 'evenhand/io';
 *
 * const sql = countingSql({ dialect: 'postgres', table: 'loans', yPred: 'approved', attributes: [['sex']] });
 * console.log(sql.split('\n')[0]);
 * // SELECT eh_k0 AS "sex", eh_d AS "decision", COUNT(*) AS "n"
 * ```
 */
export function countingSql(input: CountingInput): string {
  assertKnownOptions('countingSql', input, COUNTING_NAMES);
  return countingStatement(parseBy(countingSchema, input, 'countingSql'));
}

/** The statements that read the rows of a table or a query. */
export interface RowStatements {
  /** Returns one row, whose types show which columns are numbers. */
  readonly example: string;
  readonly count: string;
  /** Returns columns of all rows, under names of their own: numbers as float64, and all other columns as text. */
  readonly rows: (columns: readonly { readonly name: string; readonly isNumber: boolean }[]) => string;
}

/** Returns the statements that read the rows of a table or a query. */
export function rowStatements(name: SqlDialect, source: Pick<CountingRequest, 'table' | 'query'>): RowStatements {
  const dialect = DIALECTS[name];
  const from = `FROM ${sourceOf(source, dialect, 'eh_q')}`;
  return {
    example: `SELECT *\n${from}\nLIMIT 1`,
    count: `SELECT ${dialect.text('COUNT(*)')} AS n\n${from}`,
    rows: (columns) =>
      `SELECT ${select(
        columns.map(({ name: column, isNumber }, index) => [
          (isNumber ? dialect.double : dialect.text)(dialect.quote(column)),
          `eh_c${String(index)}`,
        ]),
      )}\n${from}`,
  };
}

/** The weight of the rows in which columns have given texts; null is a missing value. */
export interface WeightedCase {
  readonly texts: readonly (string | null)[];
  readonly weight: number;
}

/**
 * Returns a statement that returns all rows with a further column of weights.
 * @param columns the columns on which a weight depends
 * @param cases the weights that are not 1
 * @throws {DataValidationError} if a text cannot be written in the dialect
 */
export function weightedRowsStatement(
  name: SqlDialect,
  source: Pick<CountingRequest, 'table' | 'query'>,
  columns: readonly string[],
  cases: readonly WeightedCase[],
  weightColumn: string,
): string {
  const dialect = DIALECTS[name];
  const bytesOf = (text: string): string => (dialect.groupsByBytes === true ? `HEX(${text})` : text);
  const conditions = cases.map(({ texts, weight }) => {
    const equal = texts.map((text, index) => {
      const column = dialect.quote(columns[index] as string);
      return text === null
        ? `${column} IS NULL`
        : `${bytesOf(dialect.text(column))} = ${bytesOf(dialect.literal(text))}`;
    });
    return `  WHEN ${equal.join(' AND ')} THEN ${sqlNumber(weight)}`;
  });
  const one = sqlNumber(1);
  const weight = cases.length === 0 ? one : ['CASE', ...conditions, `  ELSE ${one}`, 'END'].join('\n');
  const from = sourceOf(source, dialect, 'eh_q') + (source.query === undefined ? ' AS eh_q' : '');
  return `SELECT eh_q.*, ${weight} AS ${dialect.quote(weightColumn)}\nFROM ${from}`;
}

/**
 * Returns a statement that describes columns: the number of rows, and then for each column
 * - numbers: the number of values, of values that are not finite and of fractions, the smallest and the largest value;
 * - texts, or numbers that may be identifiers: the number of values and of distinct values.
 */
export function factsStatement(
  name: SqlDialect,
  source: Pick<CountingRequest, 'table' | 'query'>,
  columns: readonly { readonly name: string; readonly facts: 'numbers' | 'texts' | 'identifiers' }[],
): string {
  const dialect = DIALECTS[name];
  const read = columns.map(({ name: column, facts }, index): Named => [
    (facts === 'texts' ? dialect.text : dialect.double)(dialect.quote(column)),
    `eh_v${String(index)}`,
  ]);
  const shown = columns.flatMap(({ facts }, index) => {
    const value = `eh_v${String(index)}`;
    if (facts !== 'numbers') {
      const isByBytes = facts === 'texts' && dialect.groupsByBytes === true;
      return [`COUNT(${value})`, `COUNT(DISTINCT ${isByBytes ? `HEX(${value})` : value})`];
    }
    const isFinite = `${value} BETWEEN ${sqlNumber(-LARGEST)} AND ${sqlNumber(LARGEST)}`;
    const finite = `CASE WHEN ${isFinite} THEN ${value} END`;
    return [
      `COUNT(${finite})`,
      `SUM(CASE WHEN ${value} IS NULL THEN 0 WHEN ${isFinite} THEN 0 ELSE 1 END)`,
      `SUM(CASE WHEN ${isFinite} AND ${value} <> FLOOR(${value}) THEN 1 ELSE 0 END)`,
      `MIN(${finite})`,
      `MAX(${finite})`,
    ];
  });
  return [
    `SELECT ${select(['COUNT(*)', ...shown].map((expression, index) => [expression, `eh_f${String(index)}`]))}`,
    `FROM (\nSELECT ${select(read)}\nFROM ${sourceOf(source, dialect, 'eh_q')}\n) AS eh_r`,
  ].join('\n');
}

/** Returns the statement of {@link countingSql} for a parsed request. */
export function countingStatement(request: CountingRequest): string {
  const dialect = DIALECTS[request.dialect];
  const names = [...new Set([...request.attributes.flat(), ...(request.control ?? [])])];
  assertNames(names, request);
  const own = ownNames(names, request);
  const source = sourceOf(request, dialect, own('q'));
  const keys = names.map((name, index): Named => [own(`k${String(index)}`), name]);
  const { read, labels, checked, flags, numbers, sums } = partsOf(request, dialect, own, source);
  const texts = keys.map(([key, name]): Named => [dialect.text(dialect.quote(name)), key]);
  const grouped = [...keys, ...labels].map(([column]) => column);
  // Scores are numbers, whose bytes are not needed.
  const isByBytes = (column: string): boolean => dialect.groupsByBytes === true && column !== own('b');
  const shown = ([column, name]: Named): Named => [isByBytes(column) ? `MIN(${column})` : column, name];
  const { minCell } = request;
  const least: Named[] = minCell === undefined ? [] : [[String(minCell), 'min_cell']];
  const outputs: Named[] = [...[...keys, ...labels].map(shown), ...numbers, ['COUNT(*)', 'n'], ...least, ...sums];
  const inner = `SELECT ${select([...texts, ...read])}\nFROM ${source}`;
  const rows =
    checked.length === 0
      ? inner
      : `SELECT ${[...keys.map(([key]) => key), select(checked)].join(', ')}\nFROM (\n${inner}\n) AS ${own('r')}`;
  return [
    `SELECT ${select(outputs.map(([expression, name]) => [expression, dialect.quote(name)]))}`,
    `FROM (\n${rows}\n) AS ${own('s')}`,
    `GROUP BY ${[...grouped.map((column) => (isByBytes(column) ? `HEX(${column})` : column)), ...flags].join(', ')}`,
    ...(minCell === undefined ? [] : [`HAVING COUNT(*) >= ${String(minCell)}`]),
  ].join('\n');
}

/** A request for the sums of clusters. Labels are read in the engine. */
export interface ClusterRequest extends Omit<CountingRequest, 'attributes' | 'control' | 'minCell' | 'regression'> {
  readonly attribute: readonly string[];
  readonly cluster?: string | undefined;
  readonly strata?: string | undefined;
  /** For each column of the attribute, the texts to replace, such as 1.0, with the text that counts for them, such as 1. */
  readonly spellings?: readonly ReadonlyMap<string, string>[] | undefined;
}

/** The statements that sum decisions by cluster. */
export interface ClusterStatements {
  /** Returns the number of rows without a cluster or a stratum. */
  readonly missing: string;
  /**
   * Returns for each stratum and group: the columns of the group, the stratum, the number of clusters, the totals of the
   * six cells (2 x truth + decision), and the sums of products of two cells.
   */
  readonly groups: string;
  /** Returns for each stratum and pair of groups the columns of both, the stratum, the common clusters, and all products. */
  readonly pairs: string;
  /** Returns the number of clusters of each stratum. */
  readonly strata: string;
}

/** The stratum of all clusters if there are no strata. */
const NO_STRATUM = "'0'";

/** The number of cells of a group: its true label is 0, 1 or missing, and its decision 0 or 1. */
const CLUSTER_CELLS = 6;

/**
 * Returns the statements that sum decisions by cluster in two levels of GROUP BY: rows within each cluster and group, and
 * then products over clusters. Only the second level leaves the engine.
 */
export function clusterStatements(request: ClusterRequest): ClusterStatements {
  const dialect = DIALECTS[request.dialect];
  const { attribute, cluster, strata, naValues, spellings, ...others } = request;
  const named = [...attribute, ...[cluster, strata].filter((name) => name !== undefined)];
  const counting: CountingRequest = { ...others, naValues, attributes: [named], regression: false, minCell: 2 };
  assertNames(named, counting);
  const own = ownNames(named, counting);
  const source = sourceOf(request, dialect, own('q'));
  const { read, checked } = partsOf(counting, dialect, own, source);
  const exact = (value: string): string => (dialect.groupsByBytes === true ? `HEX(${value})` : value);
  const keys = named.map((name, index): Named => {
    const text = dialect.text(dialect.quote(name));
    const cases = [...(spellings?.[index] ?? [])].map(
      ([from, to]) => `WHEN ${exact(text)} = ${exact(dialect.literal(from))} THEN ${dialect.literal(to)}`,
    );
    return [cases.length === 0 ? text : `CASE ${cases.join(' ')} ELSE ${text} END`, own(`k${String(index)}`)];
  });
  const groups = attribute.map((_, index) => own(`k${String(index)}`));
  const c = cluster === undefined ? undefined : own(`k${String(attribute.length)}`);
  const s = strata === undefined ? undefined : own(`k${String(named.length - 1)}`);
  const inner = `SELECT ${select([...keys, ...read])}\nFROM ${source}`;
  const rows =
    checked.length === 0
      ? inner
      : `SELECT ${[...keys.map(([, key]) => key), select(checked)].join(', ')}\nFROM (\n${inner}\n) AS ${own('r')}`;
  const weight = request.sampleWeight === undefined ? '1' : own('u');
  const isWeighed = request.sampleWeight === undefined ? [] : [`${own('g')} = 1`];
  const truth = request.yTrue === undefined ? undefined : own('t');
  const missingGroups = naValues === undefined ? [] : groups.map((key) => `${exact(key)} NOT IN (${naValues.map((text) => exact(dialect.literal(text))).join(', ')})`); // prettier-ignore
  const isUsed = [
    `${own('d')} IS NOT NULL`,
    ...isWeighed,
    ...groups.map((key) => `${key} IS NOT NULL`),
    ...missingGroups,
  ];
  const totals = Array.from({ length: CLUSTER_CELLS }, (_, cell): Named => {
    const label = Math.floor(cell / 2);
    const hasTruth =
      truth === undefined
        ? label === 2
          ? '1 = 1'
          : '1 = 0'
        : label === 2
          ? `${truth} IS NULL`
          : `${truth} = '${String(label)}'`;
    const isCell = `${hasTruth} AND ${own('d')} = '${String(cell % 2)}'`;
    return [dialect.double(`SUM(CASE WHEN ${isCell} THEN ${weight} ELSE 0 END)`), own(`a${String(cell)}`)];
  });
  const levels = [...groups, ...[c, s].filter((name) => name !== undefined)];
  const shown = (name: string): Named => (dialect.groupsByBytes === true ? [`MIN(${name})`, name] : [name, name]);
  const clusters = [
    `SELECT ${select([...levels.map(shown), ...totals])}`,
    `FROM (\n${rows}\n) AS ${own('s')}`,
    `WHERE ${isUsed.join(' AND ')}`,
    `GROUP BY ${levels.map(exact).join(', ')}`,
  ].join('\n');
  const cell = (index: number, alias = ''): string => `${alias}${own(`a${String(index)}`)}`;
  const indexes = [...totals.keys()];
  const product = (left: string, right: string): string => `SUM(${left} * ${right})`;
  const upper = indexes.flatMap((i) => indexes.filter((j) => j >= i).map((j) => product(cell(i), cell(j))));
  const all = indexes.flatMap((i) => indexes.map((j) => product(cell(i, 'x.'), cell(j, 'y.'))));
  const stratum = s ?? NO_STRATUM;
  const output = (expressions: readonly string[]): string =>
    expressions.map((expression, index) => `${expression} AS ${own(`o${String(index)}`)}`).join(', ');
  const grouped = (names: readonly string[]): string =>
    names.length === 0 ? '' : `\nGROUP BY ${names.map(exact).join(', ')}`;
  const least = (name: string): string =>
    dialect.groupsByBytes === true && name !== NO_STRATUM ? `MIN(${name})` : name;
  const grouping = [...groups, ...(s === undefined ? [] : [s])];
  const crossed = ['x.', 'y.'].flatMap((alias) => groups.map((key) => `${alias}${key}`));
  const isBefore = groups
    .map((key, index) => {
      const equal = groups.slice(0, index).map((before) => `${exact(`x.${before}`)} = ${exact(`y.${before}`)}`);
      return `(${[...equal, `${exact(`x.${key}`)} < ${exact(`y.${key}`)}`].join(' AND ')})`;
    })
    .join(' OR ');
  const isSame = [c, s]
    .filter((name) => name !== undefined)
    .map((name) => `${exact(`x.${name}`)} = ${exact(`y.${name}`)}`);
  return {
    missing: `SELECT COUNT(*) AS ${own('o0')}\nFROM ${source}\nWHERE ${[cluster, strata].filter((name) => name !== undefined).map((name) => `${dialect.quote(name)} IS NULL`).join(' OR ')}`, // prettier-ignore
    groups: `SELECT ${output([...groups.map(least), least(stratum), 'COUNT(*)', ...indexes.map((index) => `SUM(${cell(index)})`), ...upper])}\nFROM (\n${clusters}\n) AS ${own('c')}${grouped(grouping)}`, // prettier-ignore
    pairs: `SELECT ${output([...crossed.map(least), s === undefined ? stratum : least(`x.${s}`), 'COUNT(*)', ...all])}\nFROM (\n${clusters}\n) AS x\nJOIN (\n${clusters}\n) AS y ON ${isSame.join(' AND ')}\nWHERE ${isBefore}${grouped([...crossed, ...(s === undefined ? [] : [`x.${s}`])])}`, // prettier-ignore
    strata: `SELECT ${output([least(stratum), `COUNT(DISTINCT ${exact(c as string)})`])}\nFROM (\n${clusters}\n) AS ${own('c')}${grouped(s === undefined ? [] : [s])}`, // prettier-ignore
  };
}

/** An expression or a column, and its name in the result. */
type Named = readonly [expression: string, name: string];

/** What a kind of columns adds to a statement. */
interface StatementParts {
  /** The columns to read from each row. */
  readonly read?: readonly Named[];
  /** Expressions over the columns that were read. They are computed only if some columns are numbers. */
  readonly checked?: readonly Named[];
  /** Expressions that are 1 for a row with a number that cannot be used, and otherwise 0. */
  readonly invalid?: readonly string[];
  /** Columns by which rows are grouped, with their names in the result. */
  readonly labels?: readonly CountNamed[];
  /** Further columns by which rows are grouped, which are not part of the result. */
  readonly flags?: readonly string[];
  /** Constants in the result. */
  readonly numbers?: readonly CountNamed[];
  readonly sums?: readonly CountNamed[];
}

/** An expression or a column, and its name in the counts. */
type CountNamed = readonly [expression: string, name: CountColumn];

/** The means to write the parts of a statement. */
interface Writer {
  readonly dialect: Dialect;
  /** Returns a name for a column of the statement's own. */
  readonly own: (name: string) => string;
  /** Returns the sum of an expression over rows, with their weights. */
  readonly sum: (expression: string) => string;
}

function partsOf(
  request: CountingRequest,
  dialect: Dialect,
  own: (name: string) => string,
  source: string,
): Required<Omit<StatementParts, 'invalid'>> {
  const { yPred, yTrue, score, sampleWeight, regression } = request;
  const times = sampleWeight === undefined ? '' : `${own('u')} * `;
  const writer: Writer = { dialect, own, sum: (expression) => `SUM(${times}${expression})` };
  const parts: StatementParts[] = [];
  const { positiveLabel, yTruePositiveLabel = positiveLabel } = request;
  const valueOf = (label: string | undefined) => (text: string) => binaryOf(text, label, request, dialect);
  if (!regression && yTrue !== undefined)
    parts.push(labelParts(writer, yTrue, ['t', 'truth'], valueOf(yTruePositiveLabel)));
  if (!regression && yPred !== undefined)
    parts.push(labelParts(writer, yPred, ['d', 'decision'], valueOf(positiveLabel)));
  if (sampleWeight !== undefined) parts.push(weightParts(writer, sampleWeight));
  if (score !== undefined) parts.push(scoreParts(writer, score, request));
  if (regression) parts.push(...regressionParts(writer, source, request));
  const all = <Item>(pick: (part: StatementParts) => readonly Item[] | undefined): readonly Item[] =>
    parts.flatMap((part) => pick(part) ?? []);
  const invalid = all((part) => part.invalid);
  const sums = all((part) => part.sums);
  return {
    read: all((part) => part.read),
    checked: invalid.length === 0 ? [] : [...all((part) => part.checked), [invalid.join(' + '), own('i')]],
    labels: all((part) => part.labels),
    flags: all((part) => part.flags),
    numbers: all((part) => part.numbers),
    sums: invalid.length === 0 ? sums : [[`SUM(${own('i')})`, 'invalid'], ...sums],
  };
}

/**
 * Returns the value of a label, if small counts are left out: '1', '0' or NULL. Otherwise a label stays as it is. The
 * number of labels with the same value would not be known if some of their counts are left out.
 */
function binaryOf(
  text: string,
  positiveLabel: string | undefined,
  { minCell, naValues }: Pick<CountingRequest, 'minCell' | 'naValues'>,
  { literal, groupsByBytes = false }: Dialect,
): string {
  if (minCell === undefined) return text;
  const exact = (value: string): string => (groupsByBytes ? `HEX(${value})` : value);
  const listed = Array.from(missingOutcomes(naValues, positiveLabel), (one) => exact(literal(one))).join(', ');
  const missing = `WHEN ${exact(text)} IN (${listed}) THEN NULL`;
  if (positiveLabel !== undefined)
    return `CASE WHEN ${text} IS NULL THEN NULL WHEN ${exact(text)} = ${exact(literal(positiveLabel))} THEN '1' ${missing} ELSE '0' END`;
  // A label that is neither 0 nor 1 stays as it is, and is an error later.
  return `CASE ${missing} WHEN LOWER(${text}) IN ('1', '1.0', 'true') THEN '1' WHEN LOWER(${text}) IN ('0', '0.0', 'false') THEN '0' ELSE ${text} END`;
}

/** Labels, which stay as they are unless small counts are left out. */
function labelParts(
  { dialect, own }: Writer,
  column: string,
  [name, result]: [string, CountColumn],
  valueOf: (text: string) => string,
): StatementParts {
  const label = own(name);
  return {
    read: [[valueOf(dialect.text(dialect.quote(column))), label]],
    checked: [[label, label]],
    labels: [[label, result]],
  };
}

/** A column of numbers: its value as float64, and as text to recognise what is no number. */
interface NumberColumn {
  readonly read: readonly Named[];
  readonly invalid: readonly string[];
  /** A condition that is true if the number can be used. */
  readonly isValid: string;
  /** Returns an expression that is NULL unless the number can be used. */
  readonly ifValid: (expression: string) => string;
  /** An expression that is 1 if the number can be used, and otherwise 0. */
  readonly flag: string;
}

function numberColumn(
  { dialect }: Pick<Writer, 'dialect'>,
  column: string,
  name: string,
  lowest = -LARGEST,
): NumberColumn {
  const text = `${name}x`;
  const isValid = `${name} BETWEEN ${sqlNumber(lowest)} AND ${sqlNumber(LARGEST)}`;
  const isText = dialect.isNoNumber === undefined ? '' : `WHEN ${dialect.isNoNumber(text)} THEN 1 `;
  return {
    read: [
      [dialect.double(dialect.quote(column)), name],
      [dialect.text(dialect.quote(column)), text],
    ],
    invalid: [`CASE WHEN ${text} IS NULL OR ${text} = '' THEN 0 ${isText}WHEN ${isValid} THEN 0 ELSE 1 END`],
    isValid,
    ifValid: (expression) => `CASE WHEN ${isValid} THEN ${expression} END`,
    flag: `CASE WHEN ${isValid} THEN 1 ELSE 0 END`,
  };
}

function weightParts(writer: Writer, column: string): StatementParts {
  const [weight, usable, isKnown] = ['w', 'u', 'g'].map(writer.own) as [string, string, string];
  const { read, invalid, ifValid, flag } = numberColumn(writer, column, weight, 0);
  return {
    read,
    invalid,
    checked: [
      [ifValid(weight), usable],
      [flag, isKnown],
    ],
    flags: [isKnown],
    sums: [
      [`SUM(${usable})`, 'weight'],
      [`SUM(${usable} * ${usable})`, 'weight_squared'],
    ],
  };
}

/** Scores, the decisions at their threshold and, for bins, their log losses for both true labels. */
function scoreParts(
  writer: Writer,
  column: string,
  { exactScores, decisionsOnly, scoreThreshold = SCORE_THRESHOLD }: CountingRequest,
): StatementParts {
  const { own, sum } = writer;
  const [score, decision, bin] = ['s', 'd', 'b'].map(own) as [string, string, string];
  const { read, invalid, ifValid } = numberColumn(writer, column, score);
  const decided: Named = [
    ifValid(`CASE WHEN ${score} >= ${sqlNumber(scoreThreshold)} THEN '1' ELSE '0' END`),
    decision,
  ];
  const threshold: CountNamed = [sqlNumber(scoreThreshold), 'score_threshold'];
  if (decisionsOnly) {
    return { read, invalid, checked: [decided], labels: [[decision, 'decision']], numbers: [threshold] };
  }
  if (exactScores) {
    return {
      read,
      invalid,
      checked: [decided, [ifValid(score), bin]],
      labels: [
        [decision, 'decision'],
        [bin, 'score'],
      ],
      numbers: [threshold],
    };
  }
  const [one, other] = ['loss_positive', 'loss_negative'].map(own) as [string, string];
  const loss = (share: string): string =>
    ifValid(`-LN(least(${sqlNumber(1 - Number.EPSILON)}, greatest(${sqlNumber(Number.EPSILON)}, ${share})))`);
  return {
    read,
    invalid,
    checked: [
      decided,
      [ifValid(`FLOOR(${score} * ${sqlNumber(1 / SCORE_STEP)} + ${sqlNumber(0.5)})`), bin],
      [loss(score), one],
      [loss(`${sqlNumber(1)} - ${score}`), other],
    ],
    labels: [
      [decision, 'decision'],
      [bin, 'score_bin'],
    ],
    numbers: [[sqlNumber(SCORE_STEP), 'score_step'], threshold],
    sums: [
      [sum(one), 'loss_positive'],
      [sum(`${one} * ${one}`), 'loss_positive_squared'],
      [sum(other), 'loss_negative'],
      [sum(`${other} * ${other}`), 'loss_negative_squared'],
    ],
  };
}

/**
 * Predicted numbers, and true numbers with their errors. Predictions and true numbers are summed from the mean of all
 * predictions, because sums of powers of large numbers lose precision.
 */
function regressionParts(writer: Writer, source: string, { yPred = '', yTrue }: CountingRequest): StatementParts[] {
  const { dialect, own, sum } = writer;
  const [p, v, pivot, x, y, e, isKnown, isTrueKnown] = ['p', 'v', 'c', 'x', 'y', 'e', 'h', 'j'].map(own) as Eight;
  const predicted = numberColumn(writer, yPred, p);
  const all = `SELECT ${dialect.double(dialect.quote(yPred))} AS ${p} FROM ${source}`;
  const parts: StatementParts = {
    read: [...predicted.read, [`(SELECT AVG(${predicted.ifValid(p)}) FROM (${all}) AS ${own('m')})`, pivot]],
    invalid: predicted.invalid,
    checked: [
      [pivot, pivot],
      [predicted.ifValid(`${p} - ${pivot}`), x],
      [predicted.flag, isKnown],
    ],
    flags: [isKnown],
    sums: [
      [`MAX(${pivot})`, 'pivot'],
      [sum(x), 'prediction_sum'],
      [sum(`${x} * ${x}`), 'prediction_squared'],
      [sum(`${x} * ${x} * ${x}`), 'prediction_cubed'],
    ],
  };
  if (yTrue === undefined) return [parts];
  const actual = numberColumn(writer, yTrue, v);
  const squared = `${e} * ${e}`;
  return [
    parts,
    {
      read: actual.read,
      invalid: actual.invalid,
      checked: [
        [actual.ifValid(`${v} - ${pivot}`), y],
        [actual.flag, isTrueKnown],
        [`CASE WHEN ${predicted.isValid} AND ${actual.isValid} THEN ${p} - ${v} END`, e],
      ],
      flags: [isTrueKnown],
      sums: [
        [sum(y), 'truth_sum'],
        [sum(`${y} * ${y}`), 'truth_squared'],
        [sum(`${y} * ${y} * ${y}`), 'truth_cubed'],
        [sum(e), 'error_sum'],
        [sum(`${squared} * ${e}`), 'error_cubed'],
        [sum(`abs(${e})`), 'absolute_error'],
        [sum(`abs(${e}) * ${squared}`), 'absolute_error_cubed'],
        [sum(squared), 'squared_error'],
        [sum(`${squared} * ${squared}`), 'error_fourth'],
        [sum(`${squared} * ${squared} * ${squared}`), 'error_sixth'],
      ],
    },
  ];
}

type Eight = [string, string, string, string, string, string, string, string];

/** The largest float64. NaN and infinite values are not between it and its negative, in every dialect. */
const LARGEST = Number.MAX_VALUE;

/** Returns a number as a float64 literal. Without an exponent, some dialects read a decimal number of limited digits. */
function sqlNumber(value: number): string {
  return value.toExponential().replace('e+', 'E').replace('e', 'E');
}

function select(columns: readonly Named[]): string {
  return columns.map(([expression, name]) => (expression === name ? name : `${expression} AS ${name}`)).join(', ');
}

/** Returns a function that makes names for the statement's own columns, which no column of the data has. */
function ownNames(
  names: readonly string[],
  { yPred, yTrue, score, sampleWeight }: CountingRequest,
): (name: string) => string {
  const given = [...names, yPred, yTrue, score, sampleWeight].map((name) => name?.toLowerCase());
  let prefix = 'eh_';
  while (given.some((name) => name?.startsWith(prefix) === true)) prefix += '_';
  return (name) => prefix + name;
}

/** Returns the SQL expression after FROM for a table or a query. */
function sourceOf(
  { table, query }: Pick<CountingRequest, 'table' | 'query'>,
  { quote }: Pick<Dialect, 'quote'>,
  alias: string,
): string {
  if (query !== undefined) return `(\n${query.replace(/[\s;]+$/, '')}\n) AS ${alias}`;
  return tableParts(table ?? '')
    .map(quote)
    .join('.');
}

/** @throws {DataValidationError} if a name has no identifier, or is the name of a column of counts */
function assertNames(
  names: readonly string[],
  { table = '', yPred, yTrue, score, sampleWeight }: CountingRequest,
): void {
  const given = [...names, table, yPred, yTrue, score, sampleWeight];
  const odd = given.find((name) => name?.includes('\0') === true);
  if (odd !== undefined) {
    throw new DataValidationError(
      `The name ${JSON.stringify(odd)} contains a NUL character, which SQL does not allow.`,
      {
        code: 'invalid-value',
        context: { value: odd },
        suggestion: 'Use the name of the column in the engine.',
      },
    );
  }
  const taken = names.find((name) => Object.hasOwn(COUNT_COLUMNS, name));
  if (taken === undefined) return;
  throw new DataValidationError(`The sensitive or control column '${taken}' has the name of a column of counts.`, {
    code: 'invalid-value',
    context: { column: taken, names: Object.keys(COUNT_COLUMNS) },
    suggestion: `Give a query that renames it, for example "SELECT ${taken} AS ${taken}_group, … FROM …".`,
  });
}
