import { setMaxListeners } from 'node:events';

import { LLMClientError } from '../../exceptions/index.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import { messageOf } from '../../internal/values.ts';
import { clientError } from '../client/client-error.ts';
import type { ClientFailure, Completion, FailureKind } from '../client/llm-client.ts';
import { redactSecrets } from '../client/secrets.ts';
import { type AnswerFailure, type AnswerRecord, answerRecord, completionFields } from '../client/transcript.ts';
import { messagesOfTurn, type PlannedMessage, renderConversation, turnCount } from '../plan/conversation.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { attemptOnce } from './attempt.ts';
import { Budget, requireAmount, type StopReason, type TokenCeiling } from './budget.ts';
import { Pace } from './pace.ts';
import { ProblemLog } from './problem-log.ts';
import { asksTooLong, problemOf, RetryPolicy, withLongWait } from './retry-policy.ts';
import type { RunSettings, RunSummary } from './run-options.ts';

/**
 * A run ends if this number of requests failed and no request was answered. The remaining requests would then probably
 * fail too.
 */
const FIRST_FAILURES = 10;

/** A run ends if the server asks this number of consecutive requests to wait longer than an hour. */
const LONG_WAITS = 10;

/**
 * The maximum time for which a request waits before it checks the rate again. The rate may change during longer waits.
 */
const MAX_NAP_MILLIS = 1000;

/** Failures after which the provider may still charge the request. */
const MAYBE_CHARGED: readonly string[] = ['timeout', 'network', 'malformed', 'cancelled'];

/** The outcome of an attempt. */
type Attempt = { readonly completion: Completion } | { readonly problem: ClientFailure; readonly error: unknown };

/** The outcome of a turn of a conversation, or of a prompt: the answer, or the failure of the last attempt. */
type TurnOutcome = { readonly latencyMillis: number; readonly attempts: number } & (
  { readonly completion: Completion } | { readonly failure: AnswerFailure }
);

/** Returns the request of the next turn of a conversation. Its messages contain the answers to the earlier turns. */
function turnOf(request: LLMRequest, messages: readonly PlannedMessage[], turns: readonly string[]): LLMRequest {
  const next = messagesOfTurn(messages, turns);
  return { ...request, prompt: renderConversation(next), messages: next };
}

/**
 * Returns the record of a conversation that the end of the run interrupted. It keeps the answers that have been paid
 * for, so that a later run can continue the conversation.
 */
function unfinished(request: LLMRequest, model: string, turns: readonly string[], attempts: number): AnswerRecord {
  const message = `The run ended after ${String(turns.length)} of ${String(turnCount(request.messages))} turns of the conversation.`;
  const error = Object.freeze({ kind: 'not_sent', message } as const);
  return answerRecord(request, { turns: Object.freeze([...turns]), model, error, attempts });
}

/** Runs requests; see runRequests. */
export class RequestRun {
  readonly #settings: RunSettings;
  readonly #requests: readonly LLMRequest[];
  readonly #budget: Budget;
  readonly #pace = new Pace();
  readonly #problems = new ProblemLog();
  readonly #random: Random;
  /** Aborted when no new requests may start. */
  readonly #halt = new AbortController();
  /** Aborted when the requests in flight must also end. */
  readonly #cancel = new AbortController();
  readonly #startedAt: number;
  #next = 0;
  #stopped: StopReason | null = null;
  #failure: { readonly error: unknown } | undefined;
  /** Functions that are called when an attempt has ended. */
  #waiting: (() => void)[] = [];
  readonly #counts = {
    retries: 0,
    answered: 0,
    failed: 0,
    underWay: 0,
    maxConcurrent: 0,
    rateLimited: 0,
    longWaits: 0,
  };

  constructor(requests: readonly LLMRequest[], settings: RunSettings) {
    this.#requests = requests;
    this.#settings = settings;
    this.#budget = new Budget(settings.limits, settings.price);
    this.#random = createRandom(settings.seed);
    this.#startedAt = settings.clock.now();
  }

  async run(): Promise<RunSummary> {
    const { signal, concurrency } = this.#settings;
    // There is no maximum number of listeners, because every attempt and every wait adds a listener.
    setMaxListeners(0, this.#halt.signal, this.#cancel.signal);
    const cancel = (): void => {
      this.#stop('cancelled');
      this.#cancel.abort();
    };
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    await Promise.all(Array.from({ length: Math.min(concurrency, this.#requests.length) }, () => this.#work()));
    signal?.removeEventListener('abort', cancel);
    const summary = this.#summary();
    if (this.#failure === undefined) return summary;
    throw withSummary(this.#failure.error, summary);
  }

  /**
   * Sends requests one after another. The returned promise never rejects, so that the run waits for all workers even
   * after an error.
   */
  async #work(): Promise<void> {
    while (!this.#halt.signal.aborted) {
      const request = this.#requests[this.#next++];
      if (request === undefined) return;
      try {
        const record = await this.#ask(request);
        if (record !== null) await this.#keep(record);
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  /**
   * Sends a request until it is answered or has finally failed. A conversation is sent turn by turn. If the run is
   * stopped before this happens, returns null, or a record with the turns that are answered.
   */
  async #ask(request: LLMRequest): Promise<AnswerRecord | null> {
    const client = this.#settings.clientOf(request);
    const { messages } = request;
    const turns = [...(request.turns ?? [])];
    const total = { inputTokens: 0, outputTokens: 0, attempts: 0, latencyMillis: 0, hasUsage: true };
    for (;;) {
      const next = messages === undefined ? request : turnOf(request, messages, turns);
      const outcome = await this.#askTurn(next).catch(async (error: unknown) => {
        // The run ends with this error, but the answers to earlier turns are kept.
        if (turns.length > 0) await this.#keep(unfinished(request, client.id, turns, total.attempts));
        throw error;
      });
      if (outcome === null) return turns.length === 0 ? null : unfinished(request, client.id, turns, total.attempts);
      total.attempts += outcome.attempts;
      total.latencyMillis += outcome.latencyMillis;
      const conversation = messages === undefined ? {} : { turns: Object.freeze([...turns]) };
      if ('failure' in outcome) {
        const { failure, latencyMillis } = outcome;
        const { attempts } = total;
        return answerRecord(request, { ...conversation, model: client.id, error: failure, latencyMillis, attempts });
      }
      const { completion } = outcome;
      total.hasUsage &&= completion.usage !== null;
      total.inputTokens += completion.usage?.inputTokens ?? 0;
      total.outputTokens += completion.usage?.outputTokens ?? 0;
      if (turns.length + 1 < turnCount(messages)) {
        turns.push(completion.text);
        continue;
      }
      const fields = completionFields(completion);
      // The usage of a conversation that continues an earlier run covers the turns of this run.
      const { inputTokens, outputTokens, latencyMillis, attempts } = total;
      const usage = total.hasUsage ? { inputTokens, outputTokens } : { inputTokens: null, outputTokens: null };
      const sums = messages === undefined ? { attempts } : { ...usage, latencyMillis, attempts };
      return answerRecord(request, { ...fields, ...conversation, model: client.id, ...sums });
    }
  }

  /** Sends one turn until it is answered or has finally failed. Returns null if the run is stopped before this. */
  async #askTurn(request: LLMRequest): Promise<TurnOutcome | null> {
    const { estimateTokens, clock, retry } = this.#settings;
    const ceiling = requireCeiling(estimateTokens(request));
    const policy = new RetryPolicy(retry, this.#random);
    for (let attempts = 1; ; attempts++) {
      if (!(await this.#admit(ceiling))) return null;
      if (attempts > 1) this.#counts.retries++;
      const startedAt = clock.now();
      const attempt = await this.#attempt(request, ceiling, startedAt);
      if ('completion' in attempt) {
        const { completion } = attempt;
        const { latencyMillis } = completion;
        return { completion, latencyMillis, attempts: completion.cached ? attempts - 1 : attempts };
      }
      const { problem, error } = attempt;
      if (this.#cancel.signal.aborted) return null;
      if (problem.isFatal) throw error;
      const waitMillis = policy.waitAfter(problem);
      if (waitMillis === null) {
        const message = redactSecrets(messageOf(withLongWait(error, problem)));
        const failure = Object.freeze({ kind: problem.kind, message });
        return { failure, latencyMillis: clock.now() - startedAt, attempts };
      }
      this.#problems.wait(waitMillis, clock.now(), problem);
      if (!(await this.#pause(waitMillis))) return null;
    }
  }

  /** Waits until an attempt may start, and reserves its maximum usage. Returns false if the run is stopped. */
  async #admit(ceiling: TokenCeiling): Promise<boolean> {
    const { clock } = this.#settings;
    while (!this.#halt.signal.aborted) {
      const now = clock.now();
      const waitMillis = this.#pace.waitMillis(now);
      if (now + waitMillis >= this.#deadline) {
        this.#stop('minutes');
      } else if (waitMillis > 0) {
        await clock.sleep(Math.min(waitMillis, MAX_NAP_MILLIS), this.#halt.signal);
      } else {
        const verdict = this.#budget.reserve(ceiling);
        if (verdict === null) {
          this.#pace.start(now);
          return true;
        }
        if (verdict === 'later') await this.#nextEnd();
        else this.#stop(verdict);
      }
    }
    return false;
  }

  async #attempt(request: LLMRequest, ceiling: TokenCeiling, startedAt: number): Promise<Attempt> {
    const { prompt, messages, params, repeat } = request;
    const conversation = messages === undefined ? {} : { messages: messagesOfTurn(messages, []) };
    this.#counts.maxConcurrent = Math.max(this.#counts.maxConcurrent, ++this.#counts.underWay);
    try {
      const client = this.#settings.clientOf(request);
      const completion = await attemptOnce({ ...this.#settings, client }, prompt, {
        ...conversation,
        ...{ params, repeat, signal: this.#cancel.signal },
      });
      this.#noteAnswer(completion, ceiling);
      return { completion };
    } catch (error) {
      const problem = problemOf(error);
      this.#settleProblem(problem, ceiling);
      if (problem === undefined) throw error;
      this.#noteProblem(problem, error, startedAt);
      return { problem, error };
    } finally {
      this.#counts.underWay--;
      this.#wake();
    }
  }

  #noteAnswer({ cached, usage }: Completion, ceiling: TokenCeiling): void {
    if (cached) {
      this.#budget.undo(ceiling);
      return;
    }
    this.#counts.longWaits = 0;
    this.#pace.succeeded(this.#settings.clock.now());
    if (usage === null) this.#budget.settleUncounted(ceiling);
    else this.#budget.settle(ceiling, usage);
  }

  #settleProblem(problem: ClientFailure | undefined, ceiling: TokenCeiling): void {
    if (problem !== undefined && MAYBE_CHARGED.includes(problem.kind)) this.#budget.settleUncounted(ceiling);
    else this.#budget.settleFree(ceiling);
  }

  #noteProblem(problem: ClientFailure, error: unknown, startedAt: number): void {
    const now = this.#settings.clock.now();
    this.#problems.note(problem, withLongWait(error, problem));
    if (problem.kind === 'rate_limit') this.#counts.rateLimited++;
    if (asksTooLong(problem)) {
      // The run does not wait for such a long time, so the other requests keep their rate.
      this.#counts.longWaits++;
      return;
    }
    if (problem.kind === 'rate_limit') this.#pace.limited(startedAt, now);
    if (problem.isRetryable && problem.retryAfterMillis !== null) this.#pace.holdUntil(now + problem.retryAfterMillis);
  }

  /** Passes the record of a request to `onAnswer`, before the worker takes the next request. */
  async #keep(record: AnswerRecord): Promise<void> {
    const { onAnswer, onProgress } = this.#settings;
    await onAnswer(record);
    // The conversation was not completed, because the run is stopped.
    if (record.error?.kind === 'not_sent') return;
    if (record.error === null) this.#counts.answered++;
    else this.#counts.failed++;
    const { answered, failed } = this.#counts;
    onProgress?.({ stage: 'asking the model', done: answered + failed, total: this.#requests.length });
    if (answered === 0 && failed === FIRST_FAILURES && this.#requests.length > FIRST_FAILURES) {
      throw allFailed(`The first ${String(FIRST_FAILURES)} requests all failed`, record);
    }
    if (record.error !== null && this.#counts.longWaits >= LONG_WAITS) {
      throw allFailed(`${String(LONG_WAITS)} requests in a row were told to wait`, record);
    }
  }

  /**
   * Waits before another attempt. The wait ends no later than the deadline of the run. Returns false if the run is
   * stopped.
   */
  async #pause(millis: number): Promise<boolean> {
    const { clock } = this.#settings;
    // The wait that the server asks for is longer than the remaining time.
    if (this.#pace.heldUntil >= this.#deadline) this.#stop('minutes');
    const until = Math.min(clock.now() + millis, this.#deadline);
    while (clock.now() < until && !this.#halt.signal.aborted) {
      await clock.sleep(until - clock.now(), this.#halt.signal);
    }
    return !this.#halt.signal.aborted;
  }

  get #deadline(): number {
    const { minutes } = this.#settings.limits;
    return minutes === null ? Infinity : this.#startedAt + minutes * 60_000;
  }

  /** Returns a promise that is fulfilled when an attempt ends or when no new requests may start. */
  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #stop(reason: StopReason): void {
    if (this.#halt.signal.aborted) return;
    this.#stopped = reason;
    this.#halt.abort();
    this.#wake();
  }

  /** Stops the run with an error. The first error is thrown at the end. Requests in flight may still be answered. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#halt.abort();
    this.#wake();
  }

  #summary(): RunSummary {
    const { retries, answered, failed, maxConcurrent, rateLimited } = this.#counts;
    return Object.freeze({
      ...this.#budget.spent,
      ...{ retries, answered, failed, notSent: this.#requests.length - answered - failed },
      seconds: (this.#settings.clock.now() - this.#startedAt) / 1000,
      ...{ stopped: this.#stopped, maxConcurrent, rateLimited, lastFailure: this.#problems.last },
    });
  }
}

function requireCeiling({ input, outputCeiling, account }: TokenCeiling): TokenCeiling {
  return {
    account,
    input: requireAmount('estimateTokens().input', input),
    outputCeiling: requireAmount('estimateTokens().outputCeiling', outputCeiling),
  };
}

function allFailed(what: string, { error }: AnswerRecord): LLMClientError {
  const { kind, message } = error as { kind: FailureKind; message: string };
  return clientError(kind, `${what}, the last with: ${message}`, {
    ...{ isRetryable: false, isFatal: true },
    suggestion:
      'Check the model, base_url and params, and the status of the provider. Failed requests can be sent again.',
  });
}

/** Adds the summary of a run to the context of a client's error. */
function withSummary(error: unknown, summary: RunSummary): unknown {
  if (!(error instanceof LLMClientError)) return error;
  const { message, context, suggestion } = error;
  return new LLMClientError(message, {
    context: { ...context, summary },
    ...(suggestion === undefined ? {} : { suggestion }),
    cause: error,
  });
}
