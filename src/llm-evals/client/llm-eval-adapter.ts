import { inspect } from 'node:util';

import { FairnessToolkitError, type LLMClientError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { cancelledError, clientError, fieldsOf, refuseCancelled, usageOf } from './client-error.ts';
import {
  type Completion,
  COMPLETION_OPTION_NAMES,
  type CompletionOptions,
  FINISH_REASONS,
  type LLMClient,
  type TokenUsage,
} from './llm-client.ts';
import { redactKeys, redactSecrets } from './secrets.ts';

/**
 * Converts the result of a function to a completion.
 * @throws {LLMClientError} of kind `function`, if the result is neither a text nor an object with a text, or if a field
 * has the wrong type
 */
function toCompletion(id: string, given: unknown, latencyMillis: number): Completion {
  const fields = typeof given === 'string' ? { text: given } : fieldsOf(given);
  if (fields === undefined) throw invalid(id, 'must return a text, or an object that contains a text', kindOf(given));
  const { text, finishReason = 'stop', isRefusal, usage = null, cached = false } = fields as Record<string, unknown>;
  if (typeof text !== 'string') throw invalid(id, 'must return an object with a string as text', kindOf(text));
  const reason = FINISH_REASONS.find((known) => known === finishReason);
  if (reason === undefined) {
    throw invalid(id, `must return one of ${FINISH_REASONS.join(', ')} as finishReason`, kindOf(finishReason));
  }
  if (isRefusal !== undefined && typeof isRefusal !== 'boolean') {
    throw invalid(id, 'must return true or false as isRefusal', kindOf(isRefusal));
  }
  const took = (fields as Record<string, unknown>)['latencyMillis'];
  return Object.freeze({
    text: redactKeys(text),
    finishReason: reason,
    ...(isRefusal === undefined ? {} : { isRefusal }),
    usage: toUsage(id, usage),
    cached: cached === true,
    latencyMillis: typeof took === 'number' && took >= 0 ? took : latencyMillis,
  });
}

function toUsage(id: string, given: unknown): TokenUsage | null {
  if (given === null) return null;
  const fields = fieldsOf(given);
  const usage = usageOf(fields?.['inputTokens'], fields?.['outputTokens']);
  if (usage !== null) return usage;
  throw invalid(id, 'must return token counts as usage: { inputTokens, outputTokens }', kindOf(given));
}

function invalid(id: string, required: string, came: string): LLMClientError {
  return clientError('function', `The function of ${id} ${required}. Got ${came} instead.`);
}

/** Describes a value for a message. Texts are not shown, because they may be long. */
function kindOf(given: unknown): string {
  if (given === null || given === undefined) return String(given);
  if (typeof given === 'number' || typeof given === 'boolean') return `the ${typeof given} ${String(given)}`;
  if (Array.isArray(given)) return 'a list';
  const kind = typeof given;
  return kind === 'object' ? 'an object' : `a ${kind === 'string' ? 'text' : kind}`;
}

/** The options passed to a function with the prompt. */
export interface AnswerOptions extends CompletionOptions {
  readonly params: NonNullable<CompletionOptions['params']>;
  readonly repeat: number;
}

/**
 * A function that answers prompts. The function returns a text, or an object with more information about the answer.
 */
export type AnswerFunction = (
  prompt: string,
  options: AnswerOptions,
) => string | Partial<Completion> | Promise<string | Partial<Completion>>;

/** Options of {@link LLMEvalAdapter}. */
export interface LLMEvalAdapterOptions {
  /**
   * Identifies the model in caches and transcripts. Change this identifier whenever the function changes.
   * @defaultValue the id of a client; 'function:' and the function's name for a function
   */
  readonly id?: string | undefined;
}

const LLM_EVAL_ADAPTER_OPTION_NAMES: OptionNames<LLMEvalAdapterOptions> = { id: true };

/**
 * Wraps a function or a client in the client interface. Examples are a model in the same process, an SDK, and a chain
 * of calls with retrieval and tools.
 *
 * The function returns a text, or `{ text, finishReason?, isRefusal?, usage? }`. An error that the function throws
 * becomes an `LLMClientError` of kind `function` with the original error as its cause. The error is retryable only if
 * its `status` is 408, 409, 429, or 500 and above. Errors of a client are passed on unchanged. A cancelled request ends
 * at once, even if the function ignores the signal. The values of environment variables with keys are redacted in
 * answers and messages.
 * @throws {ValueError} if the target is neither a function nor a client
 * @example
 * ```ts
 * import { LLMEvalAdapter } from 'evenhand/llm-evals';
 *
 * const client = new LLMEvalAdapter((prompt) => `You said: ${prompt}`, { id: 'echo' });
 * const { text, finishReason } = await client.complete('Hello.');
 * console.log(client.id, text, finishReason);
 * // echo You said: Hello. stop
 * ```
 */
export class LLMEvalAdapter implements LLMClient {
  readonly id: string;
  readonly #answer: AnswerFunction;

  constructor(target: AnswerFunction | LLMClient, options: LLMEvalAdapterOptions = {}) {
    assertKnownOptions('LLMEvalAdapter', options, LLM_EVAL_ADAPTER_OPTION_NAMES);
    this.#answer = toFunction(target);
    const name =
      typeof target === 'function' ? `function:${target.name === '' ? 'anonymous' : target.name}` : target.id;
    this.id = redactSecrets(options.id ?? name);
    Object.freeze(this);
  }

  async complete(prompt: string, options: CompletionOptions = {}): Promise<Completion> {
    assertKnownOptions('LLMEvalAdapter.complete', options, COMPLETION_OPTION_NAMES);
    const { messages, params = {}, repeat = 0, signal } = options;
    const conversation = messages === undefined ? {} : { messages };
    refuseCancelled(this.id, signal);
    const start = performance.now();
    const given = await untilCancelled(this.id, signal, async () => {
      try {
        return await this.#answer(prompt, { ...conversation, params, repeat, signal });
      } catch (cause) {
        throw toProblem(this.id, cause, signal);
      }
    });
    return toCompletion(this.id, given, Math.round(performance.now() - start));
  }
}

function toFunction(target: unknown): AnswerFunction {
  if (typeof target === 'function') return target as AnswerFunction;
  if (isClient(target)) return (prompt, options) => target.complete(prompt, options);
  const came = target === null ? 'null' : typeof target;
  throw invalidParameter('target', 'be a function that answers a prompt, or a client with id and complete', came);
}

function isClient(target: unknown): target is LLMClient {
  if (typeof target !== 'object' || target === null) return false;
  return (
    'id' in target && typeof target.id === 'string' && 'complete' in target && typeof target.complete === 'function'
  );
}

/** Waits until the work is complete or cancelled. */
async function untilCancelled<T>(id: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return work();
  let cancel = (): void => undefined;
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => {
      reject(cancelledError(id));
    };
    signal.addEventListener('abort', cancel, { once: true });
  });
  try {
    return await Promise.race([work(), cancelled]);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function toProblem(id: string, thrown: unknown, signal: AbortSignal | undefined): Error {
  if (signal?.aborted === true) return cancelledError(id);
  if (FairnessToolkitError.isInstance(thrown) && isClientError(thrown)) return thrown;
  return functionError(id, thrown);
}

/**
 * Returns whether an error is of a class that {@link LLMClient} allows clients to throw. A run reads the context of
 * such an error.
 */
function isClientError({ name, context }: FairnessToolkitError): boolean {
  if (name === 'CacheMissError') return true;
  return (
    name === 'LLMClientError' && typeof context['isRetryable'] === 'boolean' && typeof context['isFatal'] === 'boolean'
  );
}

function functionError(id: string, thrown: unknown): LLMClientError {
  const reason = redactSecrets(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 200);
  const status = statusOf(thrown);
  return clientError('function', `The function of ${id} threw: ${reason}`, {
    status,
    isRetryable: status !== null && (status >= 500 || [408, 409, 429].includes(status)),
    cause: withoutSecrets(thrown),
  });
}

/** Returns the HTTP status that SDKs set on their errors. */
function statusOf(thrown: unknown): number | null {
  if (typeof thrown !== 'object' || thrown === null || !('status' in thrown)) return null;
  const { status } = thrown;
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status < 600 ? status : null;
}

/**
 * Returns the thrown value. If the message contains a secret, returns a new error with the redacted message instead.
 */
function withoutSecrets(thrown: unknown): unknown {
  const shown = inspect(thrown, { depth: 6 });
  const redacted = redactSecrets(shown);
  if (redacted === shown) return thrown;
  return new Error(redactSecrets(thrown instanceof Error ? thrown.message : String(thrown)));
}
