import { DataValidationError } from '../../exceptions/index.ts';
import { camelFields, snakeFields, type SnakeFields } from '../../internal/arguments.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import { isAmount } from '../client/client-error.ts';
import { FINISH_REASONS } from '../client/llm-client.ts';
import { type AnswerRecord, answerRecord } from '../client/transcript.ts';

/**
 * The beginning of every line that {@link recordToLine} returns. A truncated line starts with this text or consists of
 * a part of it.
 */
export const LINE_BEGINNING = '{"key":"';

/** The JSON form of an {@link AnswerRecord}. */
type AnswerRecordJson = SnakeFields<AnswerRecord>;

/** Returns the field `turns` for a record with earlier turns; other records do not have this field. */
function turnsField(turns: readonly string[] | undefined): Pick<AnswerRecord, 'turns'> {
  return turns === undefined || turns.length === 0 ? {} : { turns };
}

/** Returns the JSON form of a record. */
function recordToJson(record: AnswerRecord): AnswerRecordJson {
  const { key, model, prompt, repeat, turns, text, error, finishReason, isRefusal } = record;
  const { inputTokens, outputTokens, cached, latencyMillis, attempts } = record;
  const failure = error && { kind: error.kind, message: error.message };
  return snakeFields({
    ...{ key, model, prompt, repeat, ...turnsField(turns), text, error: failure, finishReason, isRefusal },
    ...{ inputTokens, outputTokens, cached, latencyMillis, attempts },
  });
}

/**
 * Returns a record as a line of JSON with a line feed. {@link recordFromFields} can read the line. An invalid optional
 * field (an unknown reason, a negative count) does not cause an error, because the answer has been paid for. The
 * invalid value is replaced with a neutral value.
 * @throws {DataValidationError} if the record lacks a key, a prompt, a repeat, or either a text or an error
 */
export function recordToLine(record: AnswerRecord): string {
  const json = recordToJson(record);
  const line = typeof recordFromFields(json) === 'string' ? repaired(json) : json;
  const broken = recordFromFields(line);
  if (typeof broken !== 'string') return `${JSON.stringify(line)}\n`;
  throw new DataValidationError(`The record cannot be written to a transcript: ${broken}.`, {
    code: 'unwritable-file',
    context: { argument: 'record' },
    suggestion: 'Pass a record with key, prompt, repeat, and either a text or an error.',
  });
}

/** Returns the record with neutral values in place of its invalid optional fields. */
function repaired(json: AnswerRecordJson): AnswerRecordJson {
  const broken = OPTIONAL.filter(([field, , holds]) => !holds((json as Mapping)[field]));
  const neutral = {
    ...Object.fromEntries(OPTIONAL.map(([field, , , value]) => [field, value])),
    finish_reason: json.text === null ? null : 'other',
    error: repairedProblem(json.error),
  };
  return { ...json, ...Object.fromEntries(broken.map(([field]) => [field, (neutral as Mapping)[field]])) };
}

/** Replaces the invalid fields of an error. Returns null for a value that is not an error. */
function repairedProblem(given: unknown): Mapping | null {
  if (typeof given !== 'object' || given === null) return null;
  const { kind, message } = given as Mapping;
  return {
    kind: isText(kind) ? kind : 'malformed',
    message: isText(message) ? message : 'The message is unknown.',
  };
}

type Check = readonly [field: string, required: string, holds: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value) && isAmount(value);
const orNull =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || holds(value);

/** The required fields of a line, each with a description and a check. */
const REQUIRED: readonly Check[] = [
  ['key', 'text', isText],
  ['prompt', 'text', isText],
  ['repeat', 'a whole number of at least 0', isInteger],
  ['text', 'text or null', orNull(isText)],
];

/** The optional fields of a line, each with a description, a check and a default. */
const OPTIONAL: readonly (readonly [...Check, missing: unknown])[] = [
  ['model', 'text', isText, ''],
  ['turns', 'a list of texts', (value) => Array.isArray(value) && value.every(isText), []],
  ['error', 'an object with kind and message, or null', orNull(isProblem), null],
  ['finish_reason', `one of ${FINISH_REASONS.join(', ')}, or null`, orNull(isFinishReason), null],
  ['is_refusal', 'true, false or null', orNull(isBoolean), null],
  ['input_tokens', 'a number or null', orNull(isAmount), null],
  ['output_tokens', 'a number or null', orNull(isAmount), null],
  ['cached', 'true or false', isBoolean, false],
  ['latency_millis', 'a number', isAmount, 0],
  ['attempts', 'a whole number', isInteger, 0],
];

/** Returns the record for the fields of a line. If the fields are invalid, returns a description of the problem. */
export function recordFromFields(fields: Mapping): AnswerRecord | string {
  const broken =
    REQUIRED.find(([field, , holds]) => !holds(fields[field])) ??
    OPTIONAL.find(([field, , holds]) => fields[field] !== undefined && !holds(fields[field]));
  if (broken !== undefined) return `its ${broken[0]} should be ${broken[1]}, not ${shown(fields[broken[0]])}`;
  const optional = OPTIONAL.map(([field, , , missing]) => [field, fields[field] ?? missing]);
  const required = REQUIRED.map(([field]) => [field, fields[field]]);
  const record = camelFields(Object.fromEntries([...required, ...optional]) as AnswerRecordJson) as AnswerRecord;
  const { text, error } = record;
  if ((text === null) === (error === null)) return 'it should have either a text or an error';
  const failure = error && Object.freeze({ kind: error.kind, message: error.message });
  const { turns, ...others } = record;
  return answerRecord(record, { ...others, ...turnsField(turns), error: failure });
}

function isFinishReason(value: unknown): boolean {
  return FINISH_REASONS.some((reason) => reason === value);
}

function isProblem(value: unknown): boolean {
  return isMapping(value) && isText(value['kind']) && isText(value['message']);
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
