import { assertKnownOptions } from '../internal/arguments.ts';
import { findFiles } from '../io/find-files.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate-values.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import type { GateRequest } from './gates.ts';
import { type FileValidation, type KindStatistics, measureAttributes, neededStatistics } from './measure-attributes.ts';
import { smallFileStatistics } from './small-file-statistics.ts';
import { inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';

export type { GateVerdict } from './gates.ts';
export type { AttributeMetrics, FileValidation } from './measure-attributes.ts';

/**
 * Measures the decisions (or predictions, or scores) in one or several files for every requested attribute and applies
 * the gate. The rows are not loaded into memory.
 *
 * For decisions, demographic parity is always measured. If there are true labels, equalized odds is measured too.
 * `metric` adds other metrics. If a regression metric (such as `mae_parity_difference`) is named, predictions are read
 * as numbers, and only the named metrics are measured. With `control`, groups are also compared within each level of a
 * feature. A gap that changes its sign within the levels gives a warning.
 * @param bounds limits on the cost, and a signal that stops the work; by default there are none
 * @throws {DataValidationError} if a file or its values cannot be read, or it has more groups than the bounds allow
 * @throws {ValueError} if a metric is unknown, or its columns were not named
 */
export async function validateFile(
  source: DataPaths | FileSource,
  input: ValidateInput,
  bounds: ValidateBounds = {},
): Promise<FileValidation> {
  assertKnownOptions('validateFile', bounds, VALIDATE_BOUNDS_NAMES);
  const request = parseBy(validateSchema, input, 'validateFile');
  const measured = { ...request, ...gateRequestOf(request), hasControl: request.control !== undefined };
  const byKind: KindStatistics[] = [];
  const kinds = neededStatistics(measured);
  const files = await findFiles(source, request.decimal);
  if (bounds.maxGroups !== undefined) {
    const { assertFewGroups } = await import('../io/assert-few-groups.ts');
    await assertFewGroups(files, countedAttributes(request), bounds.maxGroups);
  }
  for (const needed of kinds) {
    bounds.signal?.throwIfAborted();
    const small = await smallFileStatistics(files, needed, request);
    byKind.push([needed.kind, small ?? (await scan(files, needed, request, bounds))]);
  }
  return inTurns(measureAttributes(measured, byKind, bounds), bounds.signal);
}

/** Computes statistics with DuckDB, which is loaded only if it is needed. */
const scan: typeof import('./file-statistics.ts').fileStatistics = async (...request) =>
  (await import('./file-statistics.ts')).fileStatistics(...request);

/** Returns what determines the gates of a request for a file. */
export function gateRequestOf(request: ValidateRequest): GateRequest {
  return {
    ...request,
    names: request.attributes.map((attribute) => attribute.join(INTERSECTION_SEPARATOR)),
    hasTruth: request.yTrue !== undefined,
    hasPredictions: request.yPred !== undefined,
    hasScores: request.score !== undefined,
  };
}

/** Lists each attribute twice: by itself, and crossed with the control feature. */
function countedAttributes({ attributes, control = [] }: ValidateRequest): readonly (readonly string[])[] {
  if (control.length === 0) return attributes;
  return [...attributes, ...attributes.map((attribute) => [...new Set([...control, ...attribute])])];
}
