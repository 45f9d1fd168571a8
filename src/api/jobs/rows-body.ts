import type { ValidateRowsInput } from '../../integration/validate-rows.ts';
import { camelFields } from '../../internal/arguments.ts';
import { findTooLong, parseValidateRows } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { parseJson } from '../problem/parse-json.ts';
import { fieldProblem } from '../problem/service-problem.ts';

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
  const { yPred, yScore, yTrue, sensitive, intersections, sampleWeight, control } = camelFields(body);
  return { ...measureOptionsOf(body), yPred, yScore, yTrue, sensitive, intersections, sampleWeight, control };
}

function labelFieldsOf(value: unknown): ReadonlySet<string> {
  const hasPositiveLabel = typeof value === 'object' && value !== null && 'positive_label' in value;
  return hasPositiveLabel ? CLASS_FIELDS : GROUP_FIELDS;
}
