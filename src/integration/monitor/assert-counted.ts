import { parseObject } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import type { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';

/** How much a tracker had counted at some moment. */
export interface CountedSoFar {
  readonly events: number;
  readonly labels: number;
  /** Events with a group, once for each attribute. */
  readonly grouped: number;
}

/** What was counted until now. */
export function countedSoFar(tracker: RealTimeFairnessTracker): CountedSoFar {
  return {
    events: tracker.nEvents,
    labels: tracker.stream.lateLabels,
    grouped: tracker.labelCoverage().reduce((total, { n }) => total + n, 0),
  };
}

/** A line of a stream that is not blank, and its number. */
export interface FirstLine {
  readonly number: number;
  readonly text: string;
}

/**
 * Checks that a stream brought something to count: a watch over nothing would look like safety.
 * @param first its first line that is not blank; undefined where there was none
 * @throws {DataValidationError} saying what the line lacks
 */
export function assertLinesCounted(
  request: MonitorRequest,
  tracker: RealTimeFairnessTracker,
  before: CountedSoFar,
  first: FirstLine | undefined,
): void {
  const now = countedSoFar(tracker);
  if (first === undefined || now.labels > before.labels) return;
  if (now.events === before.events) throw nothingIn(first, request);
  if (now.grouped > before.grouped || hasZeroWeights(tracker)) return;
  throw missingField(first, sensitiveOf(request), 'and no event has a group') ?? noGroup('event', request);
}

/**
 * The same of a file.
 * @throws {DataValidationError} saying which column has nothing
 */
export function assertRowsCounted(
  request: MonitorRequest,
  tracker: RealTimeFairnessTracker,
  before: CountedSoFar,
  path: string,
): void {
  const now = countedSoFar(tracker);
  if (now.events === before.events) throw noPrediction(`row of '${path}'`, request);
  if (now.grouped === before.grouped && !hasZeroWeights(tracker)) throw noGroup(`row of '${path}'`, request);
}

function nothingIn(first: FirstLine, request: MonitorRequest): DataValidationError {
  if (parseObject(first.text) === undefined) return noObject(first);
  return missingField(first, [request.yPred], 'and no event was counted') ?? noPrediction('event', request);
}

function noObject({ number, text }: FirstLine): DataValidationError {
  const looksLikeCsv = /^[^{[]*[,;\t|]/.test(text);
  return new DataValidationError(`Line ${String(number)} is no JSON object, and no event was counted.`, {
    context: { line: number },
    suggestion: looksLikeCsv
      ? 'It looks like CSV: save it as a file and use --csv.'
      : 'Give one JSON object a line: {"approved": 1, "sex": "female"}.',
  });
}

function missingField(
  { number, text }: FirstLine,
  names: readonly string[],
  consequence: string,
): DataValidationError | undefined {
  const fields = Object.keys(parseObject(text) ?? {});
  const missing = names.find((name) => !fields.includes(name));
  if (missing === undefined) return undefined;
  return new DataValidationError(`Line ${String(number)} has no field '${missing}', ${consequence}.`, {
    context: { line: number, field: missing, fields },
    suggestion: fields.length === 0 ? 'It has no field at all.' : suggestNames(missing, fields, 'fields of that line'),
  });
}

function noPrediction(what: string, { yPred }: MonitorRequest): DataValidationError {
  return new DataValidationError(`No ${what} holds a value of '${yPred}' that can be counted.`, {
    context: { column: yPred },
    suggestion: 'Check that the column of decisions (--y-pred) and that of weights are filled.',
  });
}

function noGroup(what: string, request: MonitorRequest): DataValidationError {
  const columns = sensitiveOf(request);
  return new DataValidationError(`No ${what} has a group in ${columns.map((name) => `'${name}'`).join(' or ')}.`, {
    context: { columns },
    suggestion: 'Check that the sensitive columns are filled.',
  });
}

const sensitiveOf = ({ attributes }: MonitorRequest): string[] => [...new Set(attributes.flat())];

/** Events of weight 0 have their groups and add nothing to any sum. */
function hasZeroWeights({ faults }: RealTimeFairnessTracker): boolean {
  return (faults['zero_weight'] ?? 0) > 0;
}
