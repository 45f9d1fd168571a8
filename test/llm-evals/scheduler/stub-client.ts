import { LLMClientError } from '../../../src/exceptions/index.ts';
import type {
  ClientFailure,
  Completion,
  CompletionOptions,
  FailureKind,
  LLMClient,
} from '../../../src/llm-evals/client/llm-client.ts';
import type { AnswerRecord } from '../../../src/llm-evals/client/transcript.ts';
import type { LLMRequest } from '../../../src/llm-evals/plan/planned-prompt.ts';
import type { RunRequestsOptions } from '../../../src/llm-evals/scheduler/run-options.ts';
import { VirtualClock } from './virtual-clock.ts';

const RETRYABLE: readonly FailureKind[] = ['rate_limit', 'server', 'timeout', 'network', 'malformed'];
const FATAL: readonly FailureKind[] = ['auth', 'not_found', 'quota'];

/** Returns an error as clients throw it. */
export function problem(kind: FailureKind, retryAfterMillis: number | null = null): LLMClientError {
  const context: ClientFailure = {
    ...{ kind, status: null, retryAfterMillis },
    isRetryable: RETRYABLE.includes(kind),
    isFatal: FATAL.includes(kind),
  };
  return new LLMClientError(`a failure: ${kind}`, { context: { ...context }, suggestion: 'fix it' });
}

export const ANSWER: Completion = {
  text: 'yes',
  finishReason: 'stop',
  usage: { inputTokens: 10, outputTokens: 20 },
  cached: false,
  latencyMillis: 100,
};

/** A call that the client received. */
export interface SeenCall {
  readonly prompt: string;
  readonly at: number;
  readonly options: CompletionOptions;
}

type Reaction = Error | Partial<Completion>;

/**
 * Answers in virtual time, after `latencyMillis`, by a function of the prompt, its number of tries and the call's
 * index.
 */
export class StubClient implements LLMClient {
  readonly id = 'stub';
  readonly calls: SeenCall[] = [];
  maxConcurrent = 0;
  #underWay = 0;
  readonly #tries = new Map<string, number>();
  readonly #clock: VirtualClock;
  readonly #react: (prompt: string, tries: number, index: number) => Reaction;
  readonly #latencyMillis: number;

  constructor(
    clock: VirtualClock,
    react: (prompt: string, tries: number, index: number) => Reaction,
    latencyMillis = 100,
  ) {
    this.#clock = clock;
    this.#react = react;
    this.#latencyMillis = latencyMillis;
  }

  async complete(prompt: string, options: CompletionOptions = {}): Promise<Completion> {
    const index = this.calls.push({ prompt, at: this.#clock.now(), options }) - 1;
    const tries = (this.#tries.get(prompt) ?? 0) + 1;
    this.#tries.set(prompt, tries);
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#underWay);
    await this.#clock.sleep(this.#latencyMillis, options.signal);
    this.#underWay--;
    if (options.signal?.aborted === true) throw problem('cancelled');
    const reaction = this.#react(prompt, tries, index);
    if (reaction instanceof Error) throw reaction;
    return { ...ANSWER, ...reaction };
  }
}

export function someRequests(count: number): LLMRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    key: index.toString(16).padStart(64, '0'),
    prompt: `prompt ${index}`,
    repeat: 0,
    params: {},
  }));
}

/** Returns the differences between consecutive times. */
export function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] as number));
}

/** Returns options for a run in virtual time, with the records that it collects. */
export function virtualRun(
  react: (prompt: string, tries: number, index: number) => Reaction,
  { latencyMillis = 100, ...options }: Partial<RunRequestsOptions> & { latencyMillis?: number } = {},
) {
  const clock = new VirtualClock();
  const client = new StubClient(clock, react, latencyMillis);
  const records: AnswerRecord[] = [];
  const startedAt = clock.now();
  return {
    clock,
    client,
    records,
    /** The times of the calls since the beginning. */
    times: () => client.calls.map(({ at }) => at - startedAt),
    options: {
      client,
      clock,
      estimateTokens: () => ({ input: 10, outputCeiling: 20 }),
      onAnswer: (record: AnswerRecord) => {
        records.push(record);
      },
      ...options,
    } satisfies RunRequestsOptions,
  };
}
