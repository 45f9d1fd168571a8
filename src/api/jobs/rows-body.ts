import type { ValidateRowsInput } from '../../integration/validate-rows.ts';
import { findTooLong, parseValidateRows, type ValidateRowsBody } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { parseJson } from '../problem/parse-json.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** Fields whose numbers name groups. */
const GROUP_FIELDS: ReadonlySet<string> = new Set(['sensitive', 'control']);

/** With a positive label, the numbers of these fields name classes. */
const CLASS_FIELDS: ReadonlySet<string> = new Set([...GROUP_FIELDS, 'y_pred', 'y_true', 'positive_label']);

/**
 * Reads a body of arrays.
 * @throws {ServiceProblem} 400 for what {@link parseJson} refuses, 413 for an array that is too long
 * @throws {ConfigValidationError} for fields at fault
 */
export function readRowsBody(body: Uint8Array, mostItems: number): ValidateRowsInput {
  const value = parseJson(body, labelFieldsOf);
  const tooLong = findTooLong(value, mostItems);
  if (tooLong !== undefined) {
    throw new ServiceProblem(413, {
      detail: tooLong.detail,
      errors: [tooLong],
      suggestion: 'Upload a table instead (CSV, NDJSON or Parquet): its rows are counted without being loaded.',
    });
  }
  return rowsInputOf(parseValidateRows(value));
}

function labelFieldsOf(value: unknown): ReadonlySet<string> {
  const hasPositiveLabel = typeof value === 'object' && value !== null && 'positive_label' in value;
  return hasPositiveLabel ? CLASS_FIELDS : GROUP_FIELDS;
}

/** A parsed body as the library takes rows. */
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
