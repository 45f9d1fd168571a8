import { DataValidationError } from '../exceptions/index.ts';
import { notBinary } from '../table/index.ts';
import { columnKind, type DataFile, isNumeric } from './data-file.ts';
import {
  BAD_STATE,
  type DecisionRequest,
  decisionState,
  labelState,
  numberExpression,
  textExpression,
} from './decision-sql.ts';
import type { SqlSession } from './duckdb.ts';
import type { GroupedRow } from './group-by.ts';
import { quoteIdentifier } from './sql.ts';

/**
 * Checks what was counted: every value 0, 1 or missing, and a positive label that occurs.
 * @throws {DataValidationError} with the first row at fault, or the labels there are
 */
export async function assertDecisions(
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
  if (yTrue !== undefined && !hasState(0, 1) && hasState(0, 0))
    throw await unknownLabel(session, file, yTrue, positiveLabel);
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
export async function assertNumbers(session: SqlSession, file: DataFile, name: string): Promise<void> {
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

/** @throws {DataValidationError} where a weight is text, infinite or negative */
export async function assertWeights(session: SqlSession, file: DataFile, name: string): Promise<void> {
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
