import { formatCount } from '../../internal/format.ts';
import { parseObject } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import type { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';

/** The counts of a tracker at one point in time. */
export interface CountedSoFar {
  readonly events: number;
  readonly labels: number;
  /** The number of events with a group. An event counts once for each attribute. */
  readonly grouped: number;
}

/** Returns the current counts of a tracker. */
export function countedSoFar(tracker: RealTimeFairnessTracker): CountedSoFar {
  return {
    events: tracker.nEvents,
    labels: tracker.stream.lateLabels,
    grouped: tracker.labelCoverage().reduce((total, { n }) => total + n, 0),
  };
}

/** The first line of a stream that is not blank, and the number of this line. */
export interface FirstLine {
  readonly number: number;
  readonly text: string;
}

/** What a run has read of a stream. */
interface LinesRead {
  /** The number of lines, also blank ones. */
  readonly lines: number;
  /** The first non-blank line; undefined if there was none. */
  readonly first: FirstLine | undefined;
}

/**
 * Checks that at least one event of a stream was counted. Without this check, a run that counted nothing would look
 * safe because it has no alarms.
 * @throws {DataValidationError} if nothing was counted; the error says what the first line lacks
 */
export function assertLinesCounted(
  request: MonitorRequest,
  tracker: RealTimeFairnessTracker,
  before: CountedSoFar,
  { lines, first }: LinesRead,
): void {
  const now = countedSoFar(tracker);
  // A resumed run may find nothing new.
  if (first === undefined && now.events > 0) return;
  if (first === undefined) throw request.kafka === undefined ? noLines(lines) : noMessages(request);
  if (now.labels > before.labels) return;
  if (now.events === before.events) throw nothingIn(first, request);
  if (now.grouped > before.grouped || hasZeroWeights(tracker)) return;
  throw missingField(first, sensitiveOf(request), 'and no event has a group') ?? noGroup('event', request);
}

/**
 * Checks that at least one row of a file was counted.
 * @throws {DataValidationError} if nothing was counted; the error names the empty column
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

/** Returns the error for a stream at a broker without a message. */
export function noMessages({ topic, redisStream }: MonitorRequest): DataValidationError {
  const [what, option] =
    redisStream === undefined ? [`topic '${topic ?? ''}'`, '--topic'] : [`stream '${redisStream}'`, '--redis-stream'];
  return new DataValidationError(`The ${what} had no messages to read, and no event was counted.`, {
    code: 'empty-data',
    context: { topic, redisStream },
    suggestion: `Check ${option}, --from and --consumer-group, and the program that writes the messages.`,
  });
}

function noLines(lines: number): DataValidationError {
  const found = lines === 0 ? 'no lines' : `only blank lines (${formatCount(lines)})`;
  return new DataValidationError(`The input had ${found}, and no event was counted.`, {
    code: 'empty-data',
    context: { lines },
    suggestion: 'Check the program before the pipe, or give a file with --csv.',
  });
}

function nothingIn(first: FirstLine, request: MonitorRequest): DataValidationError {
  if (parseObject(first.text) === undefined) return noObject(first);
  return missingField(first, [request.yPred], 'and no event was counted') ?? noPrediction('event', request);
}

function noObject({ number, text }: FirstLine): DataValidationError {
  const looksLikeCsv = /^[^{[]*[,;\t|]/.test(text);
  return new DataValidationError(`Line ${String(number)} is not a JSON object, and no event was counted.`, {
    code: 'invalid-value',
    context: { line: number },
    suggestion: looksLikeCsv
      ? 'The line looks like CSV. Save the data as a file and use --csv.'
      : 'Write one JSON object per line, as in {"approved": 1, "sex": "female"}.',
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
    code: 'invalid-value',
    context: { line: number, field: missing, fields },
    suggestion: fields.length === 0 ? 'The line has no fields.' : suggestNames(missing, fields, 'fields of that line'),
  });
}

function noPrediction(what: string, { yPred }: MonitorRequest): DataValidationError {
  return new DataValidationError(`No ${what} has a value of '${yPred}' that can be counted.`, {
    code: 'empty-data',
    context: { column: yPred },
    suggestion: 'Check that the columns of decisions (--y-pred) and of weights are filled.',
  });
}

function noGroup(what: string, request: MonitorRequest): DataValidationError {
  const columns = sensitiveOf(request);
  return new DataValidationError(`No ${what} has a group in ${columns.map((name) => `'${name}'`).join(' or ')}.`, {
    code: 'empty-data',
    context: { columns },
    suggestion: 'Check that the sensitive columns are filled.',
  });
}

const sensitiveOf = ({ attributes }: MonitorRequest): string[] => [...new Set(attributes.flat())];

/** Returns whether there were events of weight 0. Such events have groups but add nothing to the sums. */
function hasZeroWeights({ faults: problems }: RealTimeFairnessTracker): boolean {
  return (problems['zero_weight'] ?? 0) > 0;
}
