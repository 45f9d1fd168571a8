import { DataValidationError } from '../exceptions/index.ts';
import { INTERSECTION_SEPARATOR, MISSING_LABEL, type NanPolicy, notBinary } from '../table/index.ts';
import { columnKind, type DataFile, queryDataFile, type StoredKind } from './data-file.ts';
import { type SqlSession, withDuckDb } from './duckdb.ts';
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
      const truth = request.yTrue === undefined ? String(MISSING_STATE) : labelState(file, request.yTrue, request);
      const weight = weightExpression(file, request);
      const select = `${truth} AS truth, ${decisionState(file, request)} AS decision, ${weight} AS weight`;
      const decision = request.sampleWeight === undefined ? 'decision' : unlessWeightMissing('decision', MISSING_STATE);
      const rows = await groupBy(
        session,
        file,
        request,
        select,
        ['truth', decision],
        ['count(*)', 'sum(weight)', 'sum(weight * weight)', 'min(weight)'],
      );
      assertWeights(request, rows);
      await assertDecisions(session, file, request, rows);
      return request.attributes.map((_, index) =>
        reduction(rows, index, ({ label, keys: [t, d], sums: [count = 0, w = 0, w2 = 0] }) => {
          if (d === MISSING_STATE) return undefined;
          return { label, truth: t as 0 | 1 | 2, decision: d as 0 | 1, count, weight: w, squaredWeight: w2 };
        }),
      );
    }),
  );
}

/**
 * Sums a file's prediction errors per group in one scan, without loading rows.
 * Sums are compensated (Kahan), so that the order of threads does not show.
 * @throws {DataValidationError} for an unreadable file, an unknown column, text or infinities
 */
export async function sumErrorsInFile(
  path: string,
  request: FileRequest & { readonly yTrue: string },
): Promise<FileReduction<ErrorSums>[]> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      for (const name of [request.yPred, request.yTrue]) await assertNumbers(session, file, name);
      const error = `CAST(${quoteIdentifier(request.yPred)} AS DOUBLE) - CAST(${quoteIdentifier(request.yTrue)} AS DOUBLE)`;
      const select = `${error} AS error, ${weightExpression(file, request)} AS weight`;
      const known = unlessWeightMissing('CASE WHEN error IS NULL OR isnan(error) THEN 0 ELSE 1 END', 0);
      const rows = await groupBy(
        session,
        file,
        request,
        select,
        [known],
        [
          'count(*)',
          'kahan_sum(weight)',
          'kahan_sum(weight * weight)',
          'kahan_sum(weight * abs(error))',
          'kahan_sum(weight * error * error)',
          'min(weight)',
        ],
      );
      assertWeights(request, rows);
      return request.attributes.map((_, index) =>
        reduction(rows, index, ({ label, keys: [isKnown], sums: [count = 0, w = 0, w2 = 0, abs = 0, squared = 0] }) =>
          isKnown === 0
            ? undefined
            : { label, count, weight: w, squaredWeight: w2, absoluteError: abs, squaredError: squared },
        ),
      );
    }),
  );
}

/** One row of a grouped result. */
interface GroupedRow {
  /** The attribute that the row belongs to. */
  readonly attribute: number;
  /** The group's label, or undefined where a part of it is missing and such rows are left out. */
  readonly label: string | undefined;
  readonly keys: readonly number[];
  readonly sums: readonly number[];
}

async function groupBy(
  session: SqlSession,
  file: DataFile,
  request: FileRequest,
  select: string,
  keys: readonly string[],
  sums: readonly string[],
): Promise<GroupedRow[]> {
  const names = [...new Set(request.attributes.flat())];
  const kinds = names.map((name) => columnKind(file, name));
  const place = (name: string): string => `g${String(names.indexOf(name))}`;
  const keyNames = keys.map((_, index) => `k${String(index)}`);
  const sets = request.attributes.map((attribute) => `(${[...attribute.map(place), ...keyNames].join(', ')})`);
  const inner = [...names.map((name) => `${quoteIdentifier(name)} AS ${place(name)}`), select].join(', ');
  const outer = [
    ...names.map((name, index) => `CAST(${place(name)} AS ${kinds[index] === 'number' ? 'DOUBLE' : 'VARCHAR'})`),
    ...names.map((name) => `GROUPING(${place(name)})`),
    ...keyNames.map((name) => `CAST(${name} AS INTEGER)`),
    ...sums.map((sum) => `CAST(${sum} AS DOUBLE)`),
  ].join(', ');
  // The keys are computed once, below the grouping, so that they can be named in every grouping set.
  const keyed = `SELECT *, ${keys.map((key, index) => `${key} AS k${String(index)}`).join(', ')} FROM (SELECT ${inner} FROM ${file.relation})`;
  const rows = await session.rows(`SELECT ${outer} FROM (${keyed}) GROUP BY GROUPING SETS (${sets.join(', ')})`);
  return rows.map((row) => {
    const values = row.slice(0, names.length);
    const isLeftOut = row.slice(names.length, 2 * names.length).map(Number);
    const numbers = row.slice(2 * names.length).map((value) => (value === null ? NaN : Number(value)));
    return {
      attribute: request.attributes.findIndex((attribute) =>
        names.every((name, index) => attribute.includes(name) === (isLeftOut[index] === 0)),
      ),
      label: labelOf(
        values.filter((_, index) => isLeftOut[index] === 0),
        request.nanPolicy,
      ),
      keys: numbers.slice(0, keys.length),
      sums: numbers.slice(keys.length),
    };
  });
}

function labelOf(parts: readonly unknown[], nanPolicy: NanPolicy): string | undefined {
  const isMissing = (part: unknown): boolean => part === null || Number.isNaN(part);
  if (nanPolicy === 'exclude' && parts.some(isMissing)) return undefined;
  return parts.map((part) => (isMissing(part) ? MISSING_LABEL : String(part))).join(INTERSECTION_SEPARATOR);
}

function reduction<Part>(
  rows: readonly GroupedRow[],
  attribute: number,
  toPart: (row: GroupedRow & { readonly label: string }) => Part | undefined,
): FileReduction<Part> {
  let nDropped = 0;
  const parts = rows
    .filter((row) => row.attribute === attribute)
    .flatMap((row) => {
      const { label } = row;
      const part = label === undefined ? undefined : toPart({ ...row, label });
      if (part !== undefined) return [part];
      nDropped += row.sums[0] ?? 0;
      return [];
    });
  return { parts, nDropped };
}

function decisionState(file: DataFile, request: DecisionRequest): string {
  const { yPred, scoreThreshold } = request;
  if (scoreThreshold === undefined) return labelState(file, yPred, request);
  const score = quoteIdentifier(yPred);
  if (columnKind(file, yPred) !== 'number') {
    return `CASE WHEN ${score} IS NULL THEN ${String(MISSING_STATE)} ELSE ${String(BAD_STATE)} END`;
  }
  const isMissing = `${score} IS NULL OR isnan(CAST(${score} AS DOUBLE))`;
  return `CASE WHEN ${isMissing} THEN ${String(MISSING_STATE)} WHEN ${score} >= ${String(scoreThreshold)} THEN 1 ELSE 0 END`;
}

/** 0, 1, missing or bad, as the host's reading of labels has it. */
function labelState(file: DataFile, name: string, { positiveLabel }: DecisionRequest): string {
  const kind = columnKind(file, name);
  const column = quoteIdentifier(name);
  if (positiveLabel !== undefined) {
    const isPositive = equalsLabel(column, kind, positiveLabel);
    return `CASE WHEN ${column} IS NULL THEN ${String(MISSING_STATE)} WHEN ${isPositive} THEN 1 ELSE 0 END`;
  }
  const otherwise = {
    boolean: String(MISSING_STATE),
    number: `CASE WHEN ${column} IS NULL OR isnan(CAST(${column} AS DOUBLE)) THEN ${String(MISSING_STATE)} ELSE ${String(BAD_STATE)} END`,
    text: `CASE WHEN ${column} IS NULL THEN ${String(MISSING_STATE)} ELSE ${String(BAD_STATE)} END`,
  }[kind];
  const [zero, one] = {
    boolean: [`NOT ${column}`, column],
    number: [`${column} = 0`, `${column} = 1`],
    text: [`lower(${column}) IN ('0', '0.0', 'false')`, `lower(${column}) IN ('1', '1.0', 'true')`],
  }[kind] as [string, string];
  return `CASE WHEN ${one} THEN 1 WHEN ${zero} THEN 0 ELSE ${otherwise} END`;
}

function equalsLabel(column: string, kind: StoredKind, label: string): string {
  if (kind !== 'number') return `CAST(${column} AS VARCHAR) = ${quoteLiteral(label)}`;
  return Number.isFinite(Number(label)) && label.trim() !== '' ? `${column} = ${String(Number(label))}` : 'false';
}

function weightExpression(file: DataFile, { sampleWeight }: FileRequest): string {
  if (sampleWeight === undefined) return '1.0';
  const kind = columnKind(file, sampleWeight);
  if (kind === 'number') return `CAST(${quoteIdentifier(sampleWeight)} AS DOUBLE)`;
  throw new DataValidationError(`Column '${sampleWeight}' should hold weights, but holds text.`, {
    context: { column: sampleWeight },
  });
}

function unlessWeightMissing(key: string, missing: number): string {
  return `CASE WHEN weight IS NULL OR isnan(weight) THEN ${String(missing)} ELSE ${key} END`;
}

/** The least weight of each group is the last of its sums. */
function assertWeights({ sampleWeight }: FileRequest, rows: readonly GroupedRow[]): void {
  const negative = rows.map((row) => row.sums.at(-1) ?? 0).find((least) => least < 0);
  if (negative === undefined || sampleWeight === undefined) return;
  throw new DataValidationError(
    `Column '${sampleWeight}' must hold weights of 0 or more, but holds ${String(negative)}.`,
    {
      context: { column: sampleWeight, value: negative },
    },
  );
}

async function assertDecisions(
  session: SqlSession,
  file: DataFile,
  request: DecisionRequest,
  rows: readonly GroupedRow[],
): Promise<void> {
  const { yTrue, yPred, positiveLabel, scoreThreshold } = request;
  const hasBad = (key: number): boolean => rows.some((row) => row.keys[key] === BAD_STATE);
  const isBad = `${String(BAD_STATE)} = `;
  if (yTrue !== undefined && hasBad(0))
    throw await badValue(session, file, yTrue, isBad + labelState(file, yTrue, request));
  if (hasBad(1)) {
    const bad = await badValue(session, file, yPred, isBad + decisionState(file, request));
    throw scoreThreshold === undefined ? bad : notANumber(yPred, bad.context['index'], bad.context['value']);
  }
  const isSeen = rows.some((row) => row.keys.includes(1));
  const isLabelled = rows.some((row) => row.keys[1] !== MISSING_STATE);
  if (positiveLabel === undefined || scoreThreshold !== undefined || isSeen || !isLabelled) return;
  const labels = await session.rows(
    `SELECT DISTINCT CAST(${quoteIdentifier(yPred)} AS VARCHAR) AS label FROM ${file.relation} WHERE label IS NOT NULL ORDER BY label LIMIT 8`,
  );
  throw new DataValidationError(`No row of '${file.path}' holds the positive label '${positiveLabel}'.`, {
    context: { positiveLabel },
    suggestion: `The labels of '${yPred}' are ${labels.map(([label]) => `'${String(label)}'`).join(', ')}.`,
  });
}

async function badValue(
  session: SqlSession,
  file: DataFile,
  name: string,
  condition: string,
): Promise<DataValidationError> {
  const { index, value } = await firstWhere(session, file, name, condition);
  return notBinary(`Column '${name}'`, index, value);
}

async function assertNumbers(session: SqlSession, file: DataFile, name: string): Promise<void> {
  const column = quoteIdentifier(name);
  if (columnKind(file, name) !== 'number') {
    const { index, value } = await firstWhere(session, file, name, `${column} IS NOT NULL`);
    throw notANumber(name, index, value);
  }
  const isInfinite = `isinf(CAST(${column} AS DOUBLE))`;
  const [[count] = [0]] = await session.rows(
    `SELECT CAST(count(*) AS DOUBLE) FROM ${file.relation} WHERE ${isInfinite}`,
  );
  if (count === 0) return;
  const { index } = await firstWhere(session, file, name, isInfinite);
  throw new DataValidationError(`Column '${name}' must be finite, but holds an infinity at index ${String(index)}.`, {
    context: { column: name, index },
  });
}

function notANumber(name: string, index: unknown, value: unknown): DataValidationError {
  return new DataValidationError(
    `Column '${name}' should hold numbers, but row ${String(Number(index) + 1)} holds '${String(value)}'.`,
    {
      context: { column: name, index, value },
      suggestion: 'Mend or empty that value, or name another column.',
    },
  );
}

/** The first row (from 0) that fulfils a condition, with its value; for errors only. */
async function firstWhere(
  session: SqlSession,
  file: DataFile,
  name: string,
  condition: string,
): Promise<{ index: number; value: unknown }> {
  const column = quoteIdentifier(name);
  const numbered = `SELECT row_number() OVER () - 1 AS position, ${column} FROM ${file.relation}`;
  const shown = columnKind(file, name) === 'number' ? `CAST(${column} AS DOUBLE)` : `CAST(${column} AS VARCHAR)`;
  const [row = [0, null]] = await session.rows(
    `SELECT CAST(position AS DOUBLE), ${shown} FROM (${numbered}) WHERE ${condition} ORDER BY position LIMIT 1`,
  );
  return { index: Number(row[0]), value: row[1] };
}
