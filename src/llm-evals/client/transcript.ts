import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { FaultKind, FinishReason } from './llm-client.ts';

/** Why there is no answer. */
export interface AnswerFault {
  /** `not_sent`: a budget was spent, or the run was stopped, before it. */
  readonly kind: FaultKind | 'not_sent';
  /** Without secrets. */
  readonly message: string;
}

/** What came of one request: a line of the transcript file. */
export interface AnswerRecord {
  /** SHA-256 of what was asked of whom; see `requestKey`. */
  readonly key: string;
  /** The client's id. */
  readonly model: string;
  readonly prompt: string;
  readonly repeat: number;
  /** null where there is no answer, and then `error` says why. */
  readonly text: string | null;
  readonly error: AnswerFault | null;
  readonly finishReason: FinishReason | null;
  /** What the provider says; null where it does not. */
  readonly isRefusal: boolean | null;
  /** null where the provider does not say. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cached: boolean;
  readonly latencyMillis: number;
  /** Requests that it took; 0 for a known answer. */
  readonly attempts: number;
}

/** An answer as an evaluator sees it: what it was asked for, and what came. */
export interface Transcript extends PlannedPrompt, AnswerRecord {}
