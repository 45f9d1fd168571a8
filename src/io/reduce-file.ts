import { DataValidationError } from '../exceptions/index.ts';
import { type NanPolicy, notBinary } from '../table/index.ts';
import { columnKind, type DataFile, isNumeric, queryDataFile } from './data-file.ts';
import { type SqlSession, withDuckDb } from './duckdb.ts';
import { type GroupedRow, groupRows } from './group-by.ts';
import { quoteIdentifier, quoteLiteral } from './sql.ts';

/** What to count in a file, or to sum over it. */
export interface FileRequest {
  /** Attributes to analyse apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  /** Decisions, or predicted numbers. */
  readonly yPred: string;
  readonly yTrue?: string | undefined;
  readonly sampleWeight?: string | undefined;
  readonly nanPolicy: NanPolicy;
}

/** How a file's values become decisions. */
export interface DecisionRequest extends FileRequest {
  readonly positiveLabel?: string | undefined;
  /** Where set, `yPred` holds scores and a decision is score >= threshold. */
  readonly scoreThreshold?: number | undefined;
}

/** One cell of a file's counts: truth is 0, 1, or 2 where missing. */
export interface DecisionCell {
  readonly label: string;
  readonly truth: 0 | 1 | 2;
  readonly decision: 0 | 1;
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
}

/** One group's sums over a file; an error is prediction minus truth. */
export interface ErrorSums {
  readonly label: string;
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
  readonly absoluteError: number;
  readonly squaredError: number;
}

/** What became of one attribute: its cells or sums, and the rows that entered none. */
export interface FileReduction<Part> {
  readonly parts: readonly Part[];
  readonly nDropped: number;
}

/** States of a label or decision in SQL; the last is a value that is neither. */
const MISSING_STATE = 2;
const BAD_STATE = 3;

/**
 * Counts a file's rows per group, true label and decision in one scan, without
 * loading them; several attributes share the scan.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} for an unreadable file, an unknown column, or a value that is not 0 or 1
 */
export async function countDecisionsInFile(
  path: string,
  request: DecisionRequest,
): Promise<FileReduction<DecisionCell>[]> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const { sampleWeight, yTrue } = request;
      if (sampleWeight !== undefined) await prepareWeights(session, file, sampleWeight);
      const groups = await groupRows(session, file, {
        ...request,
        select: {
          truth: yTrue === undefined ? String(MISSING_STATE) : labelState(file, yTrue, request),
          decision: decisionState(file, request),
          ...(sampleWeight === undefined ? {} : { weight: numberExpression(file, sampleWeight) }),
        },
        keys: ['truth', sampleWeight === undefined ? 'decision' : unlessWeightMissing('decision', MISSING_STATE)],
        sums: sampleWeight === undefined ? ['count(*)'] : ['count(*)', 'sum(weight)', 'sum(weight * weight)'],
      });
      await assertDecisions(session, file, request, groups.flat());
      return groups.map((rows) =>
        reduction(rows, (label, [t, d], [count = 0, weight = count, squaredWeight = count]) =>
          d === MISSING_STATE
            ? undefined
            : { label, truth: t as 0 | 1 | 2, decision: d as 0 | 1, count, weight, squaredWeight },
        ),
      );
    }),
  );
}

/**
 * Sums a file's prediction errors per group in one scan, without loading rows.
 * @throws {DataValidationError} for an unreadable file, an unknown column, text or infinities
 */
export async function sumErrorsInFile(
  path: string,
  request: FileRequest & { readonly yTrue: string },
): Promise<FileReduction<ErrorSums>[]> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const { sampleWeight, yPred, yTrue } = request;
      for (const name of [yPred, yTrue]) await assertNumbers(session, file, name);
      if (sampleWeight !== undefined) await prepareWeights(session, file, sampleWeight);
      await useOneThread(session);
      const groups = await groupRows(session, file, {
        ...request,
        select: {
          error: `${numberExpression(file, yPred)} - ${numberExpression(file, yTrue)}`,
          weight: sampleWeight === undefined ? '1.0' : numberExpression(file, sampleWeight),
        },
        keys: [unlessWeightMissing('CASE WHEN error IS NULL OR isnan(error) THEN 0 ELSE 1 END', 0)],
        sums: [
          'count(*)',
          'kahan_sum(weight)',
          'kahan_sum(weight * weight)',
          'kahan_sum(weight * abs(error))',
          'kahan_sum(weight * error * error)',
        ],
      });
      return groups.map((rows) =>
        reduction(
          rows,
          (label, [isKnown], [count = 0, weight = 0, squaredWeight = 0, absoluteError = 0, squaredError = 0]) =>
            isKnown === 0 ? undefined : { label, count, weight, squaredWeight, absoluteError, squaredError },
        ),
      );
    }),
  );
}

function reduction<Part>(
  rows: readonly GroupedRow[],
  toPart: (label: string, keys: readonly number[], sums: readonly number[]) => Part | undefined,
): FileReduction<Part> {
  let nDropped = 0;
  const parts = rows.flatMap(({ label, keys, sums }) => {
    const part = label === undefined ? undefined : toPart(label, keys, sums);
    if (part !== undefined) return [part];
    nDropped += sums[0] ?? 0;
    return [];
  });
  return { parts, nDropped };
}

/** Sums of fractions depend on their order, and threads on the moment: one thread gives the same digits every time. */
async function useOneThread(session: SqlSession): Promise<void> {
  await session.rows('SET threads = 1');
}

async function prepareWeights(session: SqlSession, file: DataFile, name: string): Promise<void> {
  await useOneThread(session);
  await assertNumbers(session, file, name);
  const found = await firstWhere(session, file, name, `${numberExpression(file, name)} < 0`);
  if (found === undefined) return;
  throw new DataValidationError(
    `Column '${name}' must hold weights of 0 or more, but row ${found.row} holds ${found.value}.`,
    {
      context: { column: name, ...found },
      suggestion: 'Mend or empty that weight.',
    },
  );
}

function unlessWeightMissing(key: string, missing: number): string {
  return `CASE WHEN weight IS NULL OR isnan(weight) THEN ${String(missing)} ELSE ${key} END`;
}

/** A column's values as numbers; text that is none is missing here and refused by {@link assertNumbers}. */
function numberExpression(file: DataFile, name: string): string {
  const column = quoteIdentifier(name);
  return isNumeric(columnKind(file, name))
    ? `CAST(${column} AS DOUBLE)`
    : `TRY_CAST(${textExpression(name)} AS DOUBLE)`;
}

function textExpression(name: string): string {
  return `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
}

/** 0, 1, missing or bad. */
function decisionState(file: DataFile, request: DecisionRequest): string {
  const { yPred, scoreThreshold } = request;
  if (scoreThreshold === undefined) return labelState(file, yPred, request);
  const score = numberExpression(file, yPred);
  return caseOf(
    [
      [`${quoteIdentifier(yPred)} IS NULL OR isnan(${score})`, MISSING_STATE],
      [`${score} IS NULL OR isinf(${score})`, BAD_STATE],
      [`${score} >= ${String(scoreThreshold)}`, 1],
    ],
    0,
  );
}

/** 0, 1, missing or bad, as the host's reading of labels has it. */
function labelState(file: DataFile, name: string, { positiveLabel }: DecisionRequest): string {
  const kind = columnKind(file, name);
  const column = quoteIdentifier(name);
  const isMissing = kind === 'fraction' ? `${column} IS NULL OR isnan(CAST(${column} AS DOUBLE))` : `${column} IS NULL`;
  if (positiveLabel !== undefined) {
    return caseOf(
      [
        [isMissing, MISSING_STATE],
        [equalsLabel(file, name, positiveLabel), 1],
      ],
      0,
    );
  }
  const text = `lower(${textExpression(name)})`;
  const [zero, one] = isNumeric(kind)
    ? [`${column} = 0`, `${column} = 1`]
    : [`${text} IN ('0', '0.0', 'false')`, `${text} IN ('1', '1.0', 'true')`];
  return caseOf(
    [
      [one, 1],
      [zero, 0],
      [isMissing, MISSING_STATE],
    ],
    BAD_STATE,
  );
}

function caseOf(branches: readonly (readonly [condition: string, state: number])[], otherwise: number): string {
  const whens = branches.map(([condition, state]) => `WHEN ${condition} THEN ${String(state)}`);
  return `CASE ${whens.join(' ')} ELSE ${String(otherwise)} END`;
}

function equalsLabel(file: DataFile, name: string, label: string): string {
  if (!isNumeric(columnKind(file, name))) return `${textExpression(name)} = ${quoteLiteral(label)}`;
  const number = label.trim() === '' ? NaN : Number(label);
  return Number.isFinite(number) ? `${quoteIdentifier(name)} = ${String(number)}` : 'false';
}

async function assertDecisions(
  session: SqlSession,
  file: DataFile,
  request: DecisionRequest,
  rows: readonly GroupedRow[],
): Promise<void> {
  const { yTrue, yPred, positiveLabel, scoreThreshold } = request;
  const hasState = (key: number, state: number): boolean => rows.some((row) => row.keys[key] === state);
  if (yTrue !== undefined && hasState(0, BAD_STATE)) {
    throw await notBinaryInFile(session, file, yTrue, labelState(file, yTrue, request));
  }
  if (hasState(1, BAD_STATE)) {
    if (scoreThreshold !== undefined) await assertNumbers(session, file, yPred);
    throw await notBinaryInFile(session, file, yPred, decisionState(file, request));
  }
  if (positiveLabel === undefined) return;
  // Without a single positive, a label is mistyped or means nothing in that column.
  const labelled = yTrue !== undefined && !hasState(0, 1) && (hasState(0, 0) || hasState(0, 1)) ? yTrue : undefined;
  if (labelled !== undefined) throw await unknownLabel(session, file, labelled, positiveLabel);
  if (scoreThreshold !== undefined || hasState(1, 1) || !hasState(1, 0)) return;
  const known = yTrue === undefined ? [] : await distinctLabels(session, file, yTrue);
  const predicted = await distinctLabels(session, file, yPred);
  // A model may decide for no one, if it speaks the language of the true labels.
  if (!predicted.every((label) => known.includes(label))) throw await unknownLabel(session, file, yPred, positiveLabel);
}

async function distinctLabels(session: SqlSession, file: DataFile, name: string): Promise<string[]> {
  const text = textExpression(name);
  const rows = await session.rows(
    `SELECT DISTINCT ${text} AS label FROM ${file.relation} WHERE ${text} IS NOT NULL ORDER BY label LIMIT 50`,
  );
  return rows.map(([label]) => String(label));
}

async function unknownLabel(
  session: SqlSession,
  file: DataFile,
  name: string,
  label: string,
): Promise<DataValidationError> {
  const labels = await distinctLabels(session, file, name);
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  return new DataValidationError(`No row of '${file.path}' holds the positive label '${label}' in column '${name}'.`, {
    context: { column: name, positiveLabel: label, labels },
    suggestion: `The labels of '${name}' are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.`,
  });
}

async function notBinaryInFile(
  session: SqlSession,
  file: DataFile,
  name: string,
  state: string,
): Promise<DataValidationError> {
  const found = await firstWhere(session, file, name, `${String(BAD_STATE)} = ${state}`);
  const value = isNumeric(columnKind(file, name)) ? Number(found?.value) : found?.value;
  return notBinary(`Column '${name}'`, `in row ${found?.row ?? ''}`, value);
}

/** @throws {DataValidationError} where a value is text, or infinite */
async function assertNumbers(session: SqlSession, file: DataFile, name: string): Promise<void> {
  const number = numberExpression(file, name);
  const kind = columnKind(file, name);
  if (kind === 'integer') return;
  const isText = `${number} IS NULL AND ${quoteIdentifier(name)} IS NOT NULL`;
  const found = await firstWhere(session, file, name, `(${isText}) OR isinf(${number})`);
  if (found === undefined) return;
  const isInfinite = Math.abs(Number(found.value)) === Infinity || /^[-+]?inf/i.test(found.value);
  throw new DataValidationError(
    `Column '${name}' should hold ${isInfinite ? 'finite ' : ''}numbers, but row ${found.row} holds '${found.value}'.`,
    { context: { column: name, ...found }, suggestion: 'Mend or empty that value, or name another column.' },
  );
}

/** The first row (from 1, without the header) that fulfils a condition, with its value as text; undefined where none does. */
async function firstWhere(
  session: SqlSession,
  file: DataFile,
  name: string,
  condition: string,
): Promise<{ row: string; value: string } | undefined> {
  // Most often there is none, which a plain scan tells soonest.
  const any = await session.rows(`SELECT 1 FROM ${file.relation} WHERE ${condition} LIMIT 1`);
  if (any.length === 0) return undefined;
  // The condition is computed inside, where the file's own names mean its columns.
  const [found] = await session.rows(
    `SELECT CAST(place AS VARCHAR), shown FROM (
       SELECT row_number() OVER () AS place, ${textExpression(name)} AS shown, (${condition}) AS holds FROM ${file.relation}
     ) WHERE holds ORDER BY place LIMIT 1`,
  );
  return found === undefined ? undefined : { row: String(found[0]), value: String(found[1]) };
}
