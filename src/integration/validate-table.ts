import { classNamesOf } from '../metrics/metric-rows.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate-values.ts';
import { INTERSECTION_SEPARATOR, type Table } from '../table/index.ts';
import type { GateRequest } from './gates.ts';
import {
  type FileValidation,
  type KindStatistics,
  measureAttributes,
  type MeasureRequest,
  type NeededStatistics,
  neededStatistics,
  type OutcomeClasses,
  withCounted,
  withoutSmall,
} from './measure-attributes.ts';
import { SEEN_SCORES } from './reading-notes.ts';
import { countTable, scoresOf } from './table-statistics.ts';
import { inTurns } from './validate-bounds.ts';

/**
 * Measures the decisions (or predictions, or scores) in a table for every requested attribute, and applies the gates.
 * The result equals that of `validateFile` for the file from which the table was read. This function needs nothing but
 * JavaScript, so a browser can run it.
 * @param signal stops the work
 * @throws {DataValidationError} if values cannot be used, or a column is unknown
 * @throws {ValueError} if a metric is unknown, or its columns were not named
 */
export async function validateTable(
  table: Table,
  input: Omit<ValidateInput, 'backend' | 'counts'>,
  signal?: AbortSignal,
): Promise<FileValidation> {
  const request = parseBy(validateSchema, { ...input, backend: 'native' }, 'validateTable');
  const measured = measureRequestOf(request);
  const byKind: KindStatistics[] = [];
  for (const needed of neededStatistics(measured)) {
    signal?.throwIfAborted();
    byKind.push([needed.kind, await countTable(table, needed, request, classesOf(table, needed, request))]);
  }
  const { score, minCell } = request;
  const scores = score === undefined || minCell !== undefined ? undefined : firstScores(table, score, request);
  const validation = await inTurns(measureAttributes(measured, byKind, { scores }), signal);
  return withCounted(validation, { request, statistics: withoutSmall(byKind, request.minCell) });
}

/** Returns the first scores, as of a file: notes need no more, and reading millions again takes seconds in a browser. */
function firstScores(table: Table, score: string, request: ValidateRequest): Float64Array {
  const first = Int32Array.from({ length: Math.min(table.rowCount, SEEN_SCORES) }, (_, row) => row);
  return scoresOf(table.select([score]).take(first), score, request);
}

function classesOf(
  table: Table,
  { needsTruth }: NeededStatistics,
  { average, yPred = '', yTrue, naValues }: ValidateRequest,
): OutcomeClasses | undefined {
  if (average === undefined) return undefined;
  const predictions = table.column(yPred);
  const predicted = classNamesOf({ yPred: predictions, naValues });
  if (!needsTruth || yTrue === undefined) return { all: predicted, predicted };
  return { all: classNamesOf({ yPred: predictions, yTrue: table.column(yTrue), naValues }), predicted };
}

/** Returns the metrics and options of a request for a file or a table. */
export function measureRequestOf(request: ValidateRequest): ValidateRequest & MeasureRequest {
  return { ...request, ...gateRequestOf(request), hasControl: request.control !== undefined };
}

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
