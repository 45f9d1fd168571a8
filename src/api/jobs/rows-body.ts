import type { ValidateRowsInput } from '../../integration/validate-rows.ts';
import { findTooLong, parseValidateRows, type ValidateRowsBody } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { parseJson } from '../problem/parse-json.ts';
import { fieldProblem } from '../problem/service-problem.ts';

/** The fields whose numbers are group names. */
const GROUP_FIELDS: ReadonlySet<string> = new Set(['sensitive', 'control']);

/** The fields whose numbers are class names if there is a positive label. */
const CLASS_FIELDS: ReadonlySet<string> = new Set([...GROUP_FIELDS, 'y_pred', 'y_true', 'positive_label']);

/**
 * Reads a body of arrays.
 * @throws {ServiceProblem} 400 if {@link parseJson} rejects it, 413 if an array is too long
 * @throws {ConfigValidationError} if fields are invalid
 */
export function readRowsBody(body: Uint8Array, maxItems: number): ValidateRowsInput {
  const value = parseJson(body, labelFieldsOf);
  const tooLong = findTooLong(value, maxItems);
  if (tooLong !== undefined) {
    const suggestion = 'Upload a table instead (CSV, NDJSON or Parquet): its rows are counted without being loaded.';
    throw fieldProblem(413, tooLong.pointer, tooLong.detail, suggestion);
  }
  return rowsInputOf(parseValidateRows(value));
}

function labelFieldsOf(value: unknown): ReadonlySet<string> {
  const hasPositiveLabel = typeof value === 'object' && value !== null && 'positive_label' in value;
  return hasPositiveLabel ? CLASS_FIELDS : GROUP_FIELDS;
}

/** Converts a parsed body to the input of the library. */
function rowsInputOf(body: ValidateRowsBody): ValidateRowsInput {
  return {
    ...measureOptionsOf(body),
    yPred: body.y_pred,
    yScore: body.y_score,
    yTrue: body.y_true,
    sensitive: body.sensitive,
    intersections: body.intersections,
    sampleWeight: body.sample_weight,
    control: body.control,
  };
}
