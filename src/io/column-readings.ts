import {
  type ColumnReading,
  type ColumnRole,
  labelValue,
  missingGroups,
  missingOutcomes,
  numbersAmong,
  positiveLabelFor,
  readingOfGroups,
  readingOfLabels,
  readingOfMissing,
  suspiciousGroups,
} from '../table/index.ts';
import { assertNoPoints } from './checks.ts';
import type { SourceReduction } from './group-by.ts';
import { hasColumn, isNumeric, type Relation, rowCount } from './relation.ts';
import { quoteIdentifier, type SourceRequest, type SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import {
  groupExpression,
  groupOutput,
  isOneNumber,
  isOneOf,
  labelOf,
  mayBeNumber,
  numberExpression,
} from './value-sql.ts';

/**
 * A column of labels or numbers from which statistics are computed, such as decisions, scores or weights. Attributes
 * are not included.
 */
export interface OutcomeColumn {
  readonly name: string;
  readonly role: ColumnRole;
  /**
   * The kind of values. In a column of labels, each label becomes 0, 1 or missing. In a column of numbers, only texts
   * that mean a missing value are replaced.
   */
  readonly holds: 'labels' | 'numbers';
  readonly positiveLabel?: string | undefined;
  /** Whether `positiveLabel` is one of several classes. If so, a column may contain any number of other labels. */
  readonly isOneOfMany?: boolean | undefined;
}

/** The label that counts as 1 in each column, by the role of the column; undefined if labels are 0 and 1. */
export type PositiveLabels = Readonly<Partial<Record<ColumnRole, string>>>;

/**
 * Opens a source, finds the positive labels and the texts that mean a missing value, and then calls `reduce`. `reduce`
 * receives the source with missing texts as NULL, and returns one reduction per attribute.
 * @param request.isCountable whether `reduce` only counts rows, so that equal rows can be counted first
 * @returns the reductions, with a description of how labels and texts were interpreted
 */
export async function reduceColumns<Reduction extends SourceReduction<unknown>>(
  source: SqlSource,
  { attributes, naValues, isCountable = false }: SourceRequest & { readonly isCountable?: boolean },
  outcomes: readonly OutcomeColumn[],
  reduce: (session: SqlSession, relation: Relation, positive: PositiveLabels) => Promise<readonly Reduction[]>,
): Promise<Reduction[]> {
  const work = async (session: SqlSession, opened: Relation): Promise<Reduction[]> => {
    const names = [...attributes.flat(), ...outcomes.map(({ name }) => name)];
    const raw = isCountable ? await countEqualRows(session, opened, names) : opened;
    const known = outcomes.filter(({ name }) => hasColumn(raw, name));
    const { readings, positive } = await readOutcomes(session, raw, known, naValues);
    const isMissing = new Map(
      known.map(({ name, positiveLabel }) => [name, holdsText(raw, name, missingOutcomes(naValues, positiveLabel))]),
    );
    // Empty fields of a CSV file are NULL already.
    const isGroupText = naValues !== undefined || raw.csv === undefined;
    const groups = isGroupText ? [...new Set(attributes.flat())] : [];
    for (const name of groups) isMissing.set(name, await holdsGroup(session, raw, name, naValues));
    const reductions = await reduce(session, withNulls(raw, isMissing), positive);
    const given = naValues === undefined ? [] : groups.filter((name) => isMissing.get(name) !== undefined);
    const ofGroups = await readGroups(session, raw, attributes, reductions, { naValues, given });
    return reductions.map((reduction, index) => {
      const own = new Set(attributes[index]);
      return { ...reduction, readings: [...readings, ...ofGroups.filter(({ name }) => own.has(name ?? ''))] };
    });
  };
  return withRelation(source, work, attributes.flat());
}

/** The number of rows at the start of a relation, and the maximum number of different rows among them. */
const SAMPLE_ROWS = 20_000;
const MAX_DIFFERENT = 2_000;

/**
 * Counts equal rows with the plainest query, so that all further work is on a small table instead of each row. Returns
 * the relation itself if its first rows show that many rows are different, or cannot be read without the others.
 */
async function countEqualRows(session: SqlSession, relation: Relation, given: readonly string[]): Promise<Relation> {
  const names = [...new Set(given)];
  if (relation.hasQuickStart !== true || !names.every((name) => hasColumn(relation, name))) return relation;
  const columns = names.map(quoteIdentifier).join(', ');
  const [sampled] = await session.rows(
    `SELECT CAST(count(*) AS DOUBLE) FROM (SELECT DISTINCT ${columns} FROM (SELECT ${columns} FROM ${relation.relation} LIMIT ${String(SAMPLE_ROWS)}))`,
  );
  if (Number(sampled?.[0]) > MAX_DIFFERENT) return relation;
  let column = 'eh_rows';
  while (names.some((name) => name.toLowerCase() === column)) column += '_';
  const table = 'eh_counted';
  await session.rows(
    `CREATE OR REPLACE TEMP TABLE ${table} AS SELECT ${columns}, count(*) AS ${column} FROM ${relation.relation} GROUP BY ${columns}`,
  );
  return { ...relation, relation: table, hasQuickStart: false, counted: { column, rows: relation } };
}

/** Returns a relation in which values are NULL if the SQL condition of their column is true. */
function withNulls(relation: Relation, isMissing: ReadonlyMap<string, string | undefined>): Relation {
  const replaced = [...isMissing].flatMap(([name, condition]) => {
    const column = quoteIdentifier(name);
    return condition === undefined ? [] : [`CASE WHEN ${condition} THEN NULL ELSE ${column} END AS ${column}`];
  });
  if (replaced.length === 0) return relation;
  const { counted } = relation;
  return {
    ...relation,
    relation: `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${relation.relation})`,
    counted: counted && { ...counted, rows: withNulls(counted.rows, isMissing) },
  };
}

/**
 * Returns a SQL condition that is true if a value equals one of the texts; undefined if the column can contain none of
 * them.
 */
function holdsText(relation: Relation, name: string, texts: ReadonlySet<string>): string | undefined {
  const kind = relation.columns.get(name);
  if (kind === undefined || kind === 'boolean' || !hasColumn(relation, name)) return undefined;
  if (!isNumeric(kind)) return isOneOf(relation, name, texts);
  const numbers = numbersAmong(texts);
  return numbers.length === 0 ? undefined : isOneNumber(numberExpression(relation, name), numbers);
}

/**
 * Returns a SQL condition that is true if a value is a group that means a missing value; undefined if the column contains
 * none. `-99.0` is the group `-99`: the labels that may be one of the numbers are read, and compared as labels.
 */
async function holdsGroup(
  session: SqlSession,
  relation: Relation,
  name: string,
  naValues: readonly string[] | undefined,
): Promise<string | undefined> {
  const kind = relation.columns.get(name);
  if (kind === undefined || kind === 'boolean' || !hasColumn(relation, name)) return undefined;
  const missing = missingGroups(naValues);
  const numbers = [...missing].filter((text) => text.trim() !== '' && !Number.isNaN(Number(text))).map(Number);
  let labels: string[] = [];
  if (numbers.length > 0) {
    const output = groupOutput(relation, name, 'v');
    const rows = await session.rows(
      `SELECT DISTINCT ${output} FROM (SELECT ${groupExpression(relation, name)} AS v FROM ${relation.relation} WHERE ${mayBeNumber(relation, name, numbers)})`,
    );
    labels = rows.flatMap(([value]) => labelOf(relation, value) ?? []).filter((label) => missing.has(label));
  }
  if (!isNumeric(kind)) return isOneOf(relation, name, new Set([...missing, ...labels]));
  if (labels.length === 0) return undefined;
  return kind === 'fraction' ? isOneNumber(numberExpression(relation, name), labels) : isOneOf(relation, name, labels);
}

/**
 * Reads the labels and missing texts of the outcomes in one scan. If no column can contain such values, no scan is
 * made.
 */
async function readOutcomes(
  session: SqlSession,
  raw: Relation,
  outcomes: readonly OutcomeColumn[],
  naValues: readonly string[] | undefined,
): Promise<{ readonly readings: ColumnReading[]; readonly positive: PositiveLabels }> {
  for (const { name, holds } of outcomes) if (holds === 'labels') await assertNoPoints(session, raw, name);
  const read = outcomes.flatMap((outcome) => {
    const { name, holds, positiveLabel } = outcome;
    const texts = missingOutcomes(naValues, positiveLabel);
    const isMissing = holdsText(raw, name, texts);
    if (holds === 'labels' && (positiveLabel !== undefined || isMissing !== undefined)) {
      return [{ outcome, texts, expression: groupExpression(raw, name) }];
    }
    if (holds === 'labels' || isMissing === undefined) return [];
    return [{ outcome, texts, expression: `CASE WHEN ${isMissing} THEN ${groupExpression(raw, name)} END` }];
  });
  const counted = await countValues(
    session,
    raw,
    read.map(({ outcome, expression }) => ({ name: outcome.name, expression })),
  );
  const positive: Partial<Record<ColumnRole, string>> = {};
  const readings = read.flatMap(({ outcome: { name, role, holds, positiveLabel, isOneOfMany }, texts }, index) => {
    const labels = counted[index] as readonly Counted[];
    if (holds === 'numbers') {
      const missing = Object.fromEntries(labels.map(({ label, count }) => [label, count]));
      return labels.length === 0 ? [] : [readingOfMissing(role, missing)];
    }
    const kind = raw.columns.get(name) ?? 'text';
    const own = positiveLabelFor(
      labels.map(({ label }) => label),
      positiveLabel,
      texts,
    );
    if (own !== undefined) positive[role] = own;
    const numbers = isNumeric(kind) ? numbersAmong(texts) : [];
    const missing = new Set([...texts, ...numbers.map(String)]);
    const rule = { positiveLabel: own, missing, isNumeric: isNumeric(kind) };
    const values = labels.map((one) => ({ ...one, value: labelValue(one.label, rule) ?? NaN }));
    const unread = values.filter(({ value }) => value < 0);
    if (isOneOfMany === true) return [readingOfLabels(role, unread)];
    return own === undefined && unread.length === 0 ? [] : [readingOfLabels(role, values, { positiveLabel: own })];
  });
  return { readings, positive };
}

/**
 * Finds groups whose names look like missing values, and texts that count as missing because of `naValues`. The source
 * is scanned again only if there are such groups or texts.
 * @param options.given the columns that may contain texts of `naValues`
 */
async function readGroups(
  session: SqlSession,
  raw: Relation,
  attributes: readonly (readonly string[])[],
  reductions: readonly SourceReduction<unknown>[],
  { naValues, given }: { readonly naValues: readonly string[] | undefined; readonly given: readonly string[] },
): Promise<ColumnReading[]> {
  const missing = missingGroups(naValues);
  const strange = [...new Set(attributes.flat())].filter((name) => {
    if (given.includes(name)) return true;
    const labels = attributes.flatMap((attribute, index) => {
      const column = attribute.indexOf(name);
      return column < 0 ? [] : (reductions[index]?.groups ?? []).map(({ parts }) => parts[column] as string);
    });
    return suspiciousGroups([...new Set(labels)], naValues).length > 0;
  });
  const counted = await countValues(
    session,
    raw,
    strange.map((name) => ({ name, expression: groupExpression(raw, name) })),
  );
  return strange.flatMap((name, index) => {
    const labels = (counted[index] as readonly Counted[]).map((one) => ({
      ...one,
      value: missing.has(one.label) ? -1 : 1,
    }));
    return readingOfGroups(name, labels, naValues);
  });
}

/** A label and its number of rows. */
interface Counted {
  readonly label: string;
  readonly count: number;
}

/**
 * The maximum number of distinct labels that are counted for each column. A column with more distinct values does not
 * contain labels.
 */
const MAX_LABELS = 10_000;

/** Counts the values of columns in one scan, ignoring empty strings. */
async function countValues(
  session: SqlSession,
  raw: Relation,
  columns: readonly { readonly name: string; readonly expression: string }[],
): Promise<readonly (readonly Counted[])[]> {
  if (columns.length === 0) return [];
  const values = columns.map((_, index) => `v${String(index)}`);
  const selected = columns.map(({ expression }, index) => `${expression} AS ${values[index] as string}`);
  const outputs = columns.map(({ name }, index) => groupOutput(raw, name, values[index] as string));
  const sets = values.map((value) => `(${value})`);
  const rows = await session.rows(
    `SELECT ${[...values.map((value) => `GROUPING(${value})`), ...outputs, `CAST(${rowCount(raw)} AS DOUBLE) AS n`].join(', ')}
     FROM (SELECT ${[...selected, ...(raw.counted === undefined ? [] : [raw.counted.column])].join(', ')} FROM ${raw.relation}) GROUP BY GROUPING SETS (${sets.join(', ')})
     ORDER BY n DESC LIMIT ${String(MAX_LABELS * columns.length)}`,
  );
  return columns.map((_, index) =>
    rows.flatMap((row) => {
      const label = labelOf(raw, row[columns.length + index]);
      const isOwn = Number(row[index]) === 0 && label !== undefined && label !== '';
      return isOwn ? [{ label, count: Number(row.at(-1)) }] : [];
    }),
  );
}
