import { DataValidationError } from '../../exceptions/index.ts';
import { FINISH_REASONS } from '../cache/completion-json.ts';
import type { FinishReason } from '../client/llm-client.ts';
import type { AnswerFailure, AnswerRecord } from '../client/transcript.ts';

/** How a line of {@link recordToLine} begins; a line cut short begins with a part of it. */
export const LINE_BEGINNING = '{"key":"';

/** An {@link AnswerRecord} on the wire. */
interface AnswerRecordJson {
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
  readonly repeat: number;
  readonly text: string | null;
  readonly error: AnswerFailure | null;
  readonly finish_reason: FinishReason | null;
  readonly is_refusal: boolean | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached: boolean;
  readonly latency_millis: number;
  readonly attempts: number;
}

/** A record as the wire has it. */
function recordToJson(record: AnswerRecord): AnswerRecordJson {
  const { key, model, prompt, repeat, text, error } = record;
  return {
    ...{ key, model, prompt, repeat, text },
    error: error === null ? null : { kind: error.kind, message: error.message },
    finish_reason: record.finishReason,
    is_refusal: record.isRefusal,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    cached: record.cached,
    latency_millis: record.latencyMillis,
    attempts: record.attempts,
  };
}

/**
 * A record as a line, with its end: one that {@link recordFromFields} takes. An answer was paid for, so
 * that a field beside it that is none (an unknown reason, a count below 0) is left out rather than refused.
 * @throws {DataValidationError} for a record without a key, a prompt, a repeat, or either a text or an error
 */
export function recordToLine(record: AnswerRecord): string {
  const json = recordToJson(record);
  const line = typeof recordFromFields(asFields(json)) === 'string' ? repaired(json) : json;
  const broken = recordFromFields(asFields(line));
  if (typeof broken !== 'string') return `${JSON.stringify(line)}\n`;
  throw new DataValidationError(`The record cannot be written to a transcript: ${broken}.`, {
    code: 'unwritable-file',
    context: { argument: 'record' },
    suggestion: 'Give a record with key, prompt, repeat, and either a text or an error.',
  });
}

type Fields = Readonly<Record<string, unknown>>;

function asFields(json: AnswerRecordJson): Fields {
  return json as unknown as Fields;
}

/** Each field that a line may leave out, where it holds no such thing, as if nothing were known of it. */
function repaired(json: AnswerRecordJson): AnswerRecordJson {
  const broken = OPTIONAL.filter(([field, , holds]) => !holds(asFields(json)[field])).map(([field]) => field);
  const neutral: Fields = {
    ...{ model: '', finish_reason: json.text === null ? null : 'other', is_refusal: null },
    ...{ input_tokens: null, output_tokens: null, cached: false, latency_millis: 0, attempts: 0 },
    error: repairedProblem(json.error),
  };
  return { ...json, ...Object.fromEntries(broken.map((field) => [field, neutral[field]])) };
}

/** null for what is no error at all. */
function repairedProblem(given: unknown): Fields | null {
  if (typeof given !== 'object' || given === null) return null;
  const { kind, message } = given as Fields;
  return {
    kind: isText(kind) ? kind : 'malformed',
    message: isText(message) ? message : 'The message is unknown.',
  };
}

type Check = readonly [field: string, required: string, holds: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value) && isAmount(value);
const orNull =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || holds(value);

/** What every line must have. */
const REQUIRED: readonly Check[] = [
  ['key', 'text', isText],
  ['prompt', 'text', isText],
  ['repeat', 'a whole number of at least 0', isInteger],
  ['text', 'text or null', orNull(isText)],
];

/** What a line may leave out. */
const OPTIONAL: readonly Check[] = [
  ['model', 'text', isText],
  ['error', 'an object with kind and message, or null', orNull(isProblem)],
  ['finish_reason', `one of ${FINISH_REASONS.join(', ')}, or null`, orNull(isFinishReason)],
  ['is_refusal', 'true, false or null', orNull(isBoolean)],
  ['input_tokens', 'a number or null', orNull(isAmount)],
  ['output_tokens', 'a number or null', orNull(isAmount)],
  ['cached', 'true or false', isBoolean],
  ['latency_millis', 'a number', isAmount],
  ['attempts', 'a whole number', isInteger],
];

/** The record that the fields of a line are, or what is wrong with them. */
export function recordFromFields(fields: Fields): AnswerRecord | string {
  const broken =
    REQUIRED.find(([field, , holds]) => !holds(fields[field])) ??
    OPTIONAL.find(([field, , holds]) => fields[field] !== undefined && !holds(fields[field]));
  if (broken !== undefined) return `its ${broken[0]} should be ${broken[1]}, not ${shown(fields[broken[0]])}`;
  const json = fields as unknown as Partial<AnswerRecordJson> &
    Pick<AnswerRecordJson, 'key' | 'prompt' | 'repeat' | 'text'>;
  const { key, model = '', prompt, repeat, text, error = null } = json;
  if ((text === null) === (error === null)) return 'it should have either a text or an error';
  return Object.freeze({
    ...{ key, model, prompt, repeat, text },
    error: error === null ? null : Object.freeze({ kind: error.kind, message: error.message }),
    finishReason: json.finish_reason ?? null,
    isRefusal: json.is_refusal ?? null,
    inputTokens: json.input_tokens ?? null,
    outputTokens: json.output_tokens ?? null,
    cached: json.cached ?? false,
    latencyMillis: json.latency_millis ?? 0,
    attempts: json.attempts ?? 0,
  });
}

function isFinishReason(value: unknown): boolean {
  return FINISH_REASONS.some((reason) => reason === value);
}

function isProblem(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    isText(value.kind) &&
    'message' in value &&
    isText(value.message)
  );
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
