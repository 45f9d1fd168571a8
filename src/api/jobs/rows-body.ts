import type { ValidateRowsInput } from '../../integration/validate-rows.ts';
import { findTooLong, parseValidateRows, type ValidateRowsBody } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/**
 * Reads a body of arrays.
 * @throws {ServiceProblem} 413 for an array that is too long
 * @throws {ConfigValidationError} for fields at fault
 */
export function readRowsBody(value: unknown, mostItems: number): ValidateRowsInput {
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
