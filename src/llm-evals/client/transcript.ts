import type { OutcomeName } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { Completion, FailureKind, FinishReason } from './llm-client.ts';

/** The kind of an outcome's value: yes or no as 1 or 0, a number, or a label. */
export type OutcomeKind = OutcomeName;

/** What was read from an answer: a value, or the reason why there is none. */
export type OutcomeReading =
  | { readonly kind: OutcomeKind; readonly value: number | string }
  | { readonly kind: OutcomeKind; readonly unread: string };

/** The reason why a request has no answer. */
export interface AnswerFailure {
  /**
   * The kind of failure. `not_sent` means that the run ended before the request was sent. `no_answer` means that a row
   * of collected answers is empty.
   */
  readonly kind: FailureKind | 'not_sent' | 'no_answer';
  /** The message, without secrets. */
  readonly message: string;
}

/** The result of one request: a line of the transcript file. */
export interface AnswerRecord {
  /** The SHA-256 of the request's identity; see `requestKey`. */
  readonly key: string;
  /** The client's id. */
  readonly model: string;
  readonly prompt: string;
  readonly repeat: number;
  /**
   * The model's answers to the earlier turns of a conversation, in order.
   * @defaultValue none
   */
  readonly turns?: readonly string[] | undefined;
  /** The text of the answer. If there is no answer, it is null and `error` states the reason. */
  readonly text: string | null;
  readonly error: AnswerFailure | null;
  readonly finishReason: FinishReason | null;
  /** The refusal flag of the provider; null if the provider does not report one. */
  readonly isRefusal: boolean | null;
  /** The number of input tokens; null if the provider does not report it. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cached: boolean;
  readonly latencyMillis: number;
  /** The number of requests sent; 0 if the answer was cached or recorded. */
  readonly attempts: number;
}

/** The input of an evaluator: a planned prompt and the result of its request. */
export interface Transcript extends PlannedPrompt, AnswerRecord {
  /** The declared outcomes and custom metrics of the answer, by name. Omitted if none applies. */
  readonly readings?: Readonly<Record<string, OutcomeReading>> | undefined;
}

/** Returns the record of a request. Missing fields are set to null, false or 0. */
export function answerRecord(
  { key, prompt, repeat }: Pick<AnswerRecord, 'key' | 'prompt' | 'repeat'>,
  given: Pick<AnswerRecord, 'model'> & Partial<AnswerRecord>,
): AnswerRecord {
  return Object.freeze({
    ...{ key, prompt, repeat, text: null, error: null, finishReason: null, isRefusal: null },
    ...{ inputTokens: null, outputTokens: null, cached: false, latencyMillis: 0, attempts: 0, ...given },
  });
}

/** Converts a completion to the fields of a record. */
export function completionFields(completion: Completion): Partial<AnswerRecord> {
  const { text, finishReason, isRefusal = null, usage, cached, latencyMillis, turns } = completion;
  const { inputTokens = null, outputTokens = null } = usage ?? {};
  const conversation = turns === undefined ? {} : { turns };
  return { text, finishReason, isRefusal, inputTokens, outputTokens, cached, latencyMillis, ...conversation };
}

/** Returns the completion of a record that has a text. */
export function completionOf(record: AnswerRecord, text: string): Completion {
  const { finishReason, isRefusal, inputTokens, outputTokens, cached, latencyMillis, turns } = record;
  const usage = inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
  const flag = isRefusal === null ? {} : { isRefusal };
  const conversation = turns === undefined ? {} : { turns };
  return { text, finishReason: finishReason ?? 'other', ...flag, usage, cached, latencyMillis, ...conversation };
}
