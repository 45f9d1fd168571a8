import { assertKnownOptions } from '../internal/arguments.ts';
import { assertFewGroups } from '../io/assert-few-groups.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate-values.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { fileStatistics } from './file-statistics.ts';
import { type FileValidation, type KindStatistics, measureAttributes, neededStatistics } from './measure-attributes.ts';
import { inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';

export type { AttributeMetrics, FileValidation, GateVerdict } from './measure-attributes.ts';

/**
 * Measures the decisions (or predictions, or scores) in a file for every
 * attribute asked for, without loading the rows, and puts the result before
 * the gate.
 *
 * Demographic parity is always measured of decisions, and equalized odds too
 * where there are true labels; `metric` adds any other. A metric of numbers
 * (`mae_parity_difference`, say) takes the predictions as numbers and stands
 * alone. With `control` groups are also compared inside the levels of a
 * feature, and a gap that changes its sign there is a warning.
 * @param bounds what it may cost, and what stops it; nothing bounds it where they are left out
 * @throws {DataValidationError} for an unreadable file or unusable values, or more groups than the bounds allow
 * @throws {ValueError} for an unknown metric, or one whose columns were not named
 */
export async function validateFile(
  path: string,
  input: ValidateInput,
  bounds: ValidateBounds = {},
): Promise<FileValidation> {
  assertKnownOptions('validateFile', bounds, VALIDATE_BOUNDS_NAMES);
  const request = parseBy(validateSchema, input, 'validateFile');
  const measured = {
    ...request,
    names: request.attributes.map((attribute) => attribute.join(INTERSECTION_SEPARATOR)),
    hasTruth: request.yTrue !== undefined,
    hasPredictions: request.yPred !== undefined,
    hasScores: request.score !== undefined,
  };
  const byKind: KindStatistics[] = [];
  const kinds = neededStatistics(measured);
  if (bounds.mostGroups !== undefined) await assertFewGroups(path, countedAttributes(request), bounds.mostGroups);
  for (const needed of kinds) {
    bounds.signal?.throwIfAborted();
    byKind.push([needed.kind, await fileStatistics(path, needed, request)]);
  }
  return inTurns(measureAttributes(measured, byKind, bounds), bounds.signal);
}

/** Each attribute by itself, and crossed with the control feature. */
function countedAttributes({ attributes, control = [] }: ValidateRequest): readonly (readonly string[])[] {
  if (control.length === 0) return attributes;
  return [...attributes, ...attributes.map((attribute) => [...new Set([...control, ...attribute])])];
}
