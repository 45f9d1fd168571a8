import { readFile } from 'node:fs/promises';

import type { ValidateRowsInput } from '../../integration/validate-rows.ts';
import { camelFields } from '../../internal/arguments.ts';
import { isMapping } from '../../internal/values.ts';
import { parseRows, ROW_FIELDS, type SentRows, type TableJobKind } from '../../schemas/table-jobs.ts';
import { findTooLong, parseValidateRows } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { parseJson } from '../problem/parse-json.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import type { JobOf, JobOutcome } from './job.ts';

/** The fields in which a number is the name of a group. */
const GROUP_FIELDS: ReadonlySet<string> = new Set(['sensitive', 'control']);

/** The fields in which a number is the name of a group or a class, if the request has a positive label. */
const CLASS_FIELDS: ReadonlySet<string> = new Set([...GROUP_FIELDS, 'y_pred', 'y_true', 'positive_label']);

/**
 * Reads a JSON body that contains the rows as arrays.
 * @throws {ServiceProblem} 400 if {@link parseJson} rejects it, 413 if an array is too long
 * @throws {ConfigValidationError} if fields are invalid
 */
export function readRowsBody(bytes: Uint8Array, maxItems: number): ValidateRowsInput {
  const value = parseJson(bytes, labelFieldsOf);
  const tooLong = findTooLong(value, maxItems);
  if (tooLong !== undefined) {
    const suggestion = 'Upload a table instead (CSV, NDJSON or Parquet): its rows are counted without being loaded.';
    throw fieldProblem(413, tooLong.pointer, tooLong.detail, suggestion);
  }
  const body = parseValidateRows(value);
  const { yPred, yScore, yTrue, sensitive, intersections, sampleWeight, cluster, strata, control } = camelFields(body);
  const outcomes = { yPred, yScore, yTrue, sampleWeight, cluster, strata };
  return { ...measureOptionsOf(body), ...outcomes, sensitive, intersections, control };
}

function labelFieldsOf(value: unknown): ReadonlySet<string> {
  const hasPositiveLabel = typeof value === 'object' && value !== null && 'positive_label' in value;
  return hasPositiveLabel ? CLASS_FIELDS : GROUP_FIELDS;
}

/** The parts of a JSON body with tables. */
interface TablesBody {
  /** The fields that are not rows. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The rows by the names of their fields. */
  readonly tables: Readonly<Record<string, SentRows>>;
}

/**
 * Reads a JSON body of `POST /predict`, `/calibrate`, `/ab-test` or `/train`.
 * @throws {ServiceProblem} 400 if the body is not JSON, 413 if it has too many rows
 * @throws {ConfigValidationError} if rows are not valid
 */
export function readTablesBody(kind: TableJobKind, bytes: Uint8Array, maxItems: number): TablesBody {
  const names = Object.keys(ROW_FIELDS[kind]);
  const value = parseJson(bytes, () => new Set(names));
  if (!isMapping(value)) throw fieldProblem(422, '', 'The body must be an object of fields.', 'Send a JSON object.');
  assertFewRows(value, names, maxItems);
  const isRows = (name: string): boolean => names.includes(name) || (kind === 'predict' && name === 'model');
  return {
    options: Object.fromEntries(Object.entries(value).filter(([name]) => !isRows(name))),
    tables: parseRows(kind, value),
  };
}

/**
 * Returns the run that a JSON body of `POST /predict` names as its model.
 * @throws {ServiceProblem} 400 if the body is not JSON, 422 if it names no model
 */
export function namedModel(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  const model = isMapping(body) ? body['model'] : undefined;
  if (typeof model === 'string' && model !== '') return model;
  const detail = `model must be the run_id of a training; it is ${model === undefined ? 'missing' : 'not a text'}.`;
  throw fieldProblem(422, '/model', detail, 'Train a model with POST /train, or send its ZIP archive in a form.');
}

/** Runs {@link namedModel} on a body in a file. */
export async function runNamedModel({ path }: JobOf<'named-model'>): Promise<JobOutcome> {
  return { body: JSON.stringify({ model: namedModel(await readFile(path)) }), files: [] };
}

function assertFewRows(body: Readonly<Record<string, unknown>>, names: readonly string[], maxItems: number): void {
  for (const name of names) {
    const rows = body[name];
    const lists: unknown[] = Array.isArray(rows) ? [rows] : isMapping(rows) ? Object.values(rows) : [];
    const long = lists.find((list) => Array.isArray(list) && list.length > maxItems);
    if (!Array.isArray(long)) continue;
    const detail = `${name} has ${String(long.length)} rows, but at most ${String(maxItems)} are allowed.`;
    throw fieldProblem(413, `/${name}`, detail, 'Send the rows as a file.');
  }
}
