import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { FailureKind, FinishReason } from './llm-client.ts';

/** The reason why there is no answer. */
export interface AnswerFailure {
  /** `not_sent`: a budget was spent, or the run was stopped, before the request. */
  readonly kind: FailureKind | 'not_sent';
  /** Without secrets. */
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
  /** null if there is no answer; then `error` states the reason. */
  readonly text: string | null;
  readonly error: AnswerFailure | null;
  readonly finishReason: FinishReason | null;
  /** The provider's refusal flag; null if it does not report one. */
  readonly isRefusal: boolean | null;
  /** null if the provider does not report it. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cached: boolean;
  readonly latencyMillis: number;
  /** The number of requests sent; 0 for a known answer. */
  readonly attempts: number;
}

/** An answer as an evaluator receives it: the planned prompt and its result. */
export interface Transcript extends PlannedPrompt, AnswerRecord {}
