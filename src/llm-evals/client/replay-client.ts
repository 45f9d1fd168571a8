import { CacheMissError, DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { clientError, refuseCancelled } from './client-error.ts';
import type { LLMClient } from './llm-client.ts';
import { redactKeys, redactSecrets } from './secrets.ts';
import { type AnswerRecord, completionOf } from './transcript.ts';

/** Options of {@link createReplayClient}. */
export interface ReplayClientOptions {
  /**
   * The client's id.
   * @defaultValue 'replay:' and the model of the records, or 'replay:records' if there are several
   */
  readonly id?: string | undefined;
}

const REPLAY_CLIENT_OPTION_NAMES: OptionNames<ReplayClientOptions> = { id: true };

/**
 * Creates a client that returns recorded answers by prompt and repeat, and sends no requests.
 *
 * If a repeat was not recorded, the call fails with a cache miss. The answer of another repeat is not used. A recorded
 * failure is thrown again. If a prompt failed and was answered later, the client returns the answer. If several answers
 * to a request were recorded, the client returns the last one.
 * @throws {DataValidationError} if two answers to the same prompt and repeat are from different models or params. In
 * this case, the client cannot choose an answer
 * @example
 * ```ts
 * import { createReplayClient } from 'evenhand/llm-evals';
 *
 * const record = {
 *   key: '', model: 'openai:a-model', prompt: 'Hello', repeat: 0, text: 'Hello to you.', error: null,
 *   finishReason: 'stop', isRefusal: null, inputTokens: 1, outputTokens: 4, cached: false, latencyMillis: 210, attempts: 1,
 * } as const;
 * const client = createReplayClient([record]);
 * const { text, cached } = await client.complete('Hello');
 * console.log(client.id, text, cached);
 * // replay:openai:a-model Hello to you. true
 * ```
 */
export function createReplayClient(records: Iterable<AnswerRecord>, options: ReplayClientOptions = {}): LLMClient {
  assertKnownOptions('createReplayClient', options, REPLAY_CLIENT_OPTION_NAMES);
  const { byRequest, models } = index(records);
  const id = redactSecrets(options.id ?? `replay:${models.size === 1 ? ([...models][0] ?? '') : 'records'}`);
  return Object.freeze<LLMClient>({
    id,
    // eslint-disable-next-line @typescript-eslint/require-await -- what it throws must be a rejection
    async complete(prompt, { repeat = 0, signal } = {}) {
      refuseCancelled(id, signal);
      const record = byRequest.get(requestName({ prompt, repeat }));
      if (record?.text === null && record.error !== null && record.error.kind !== 'not_sent') throw failAgain(record);
      if (record === undefined || record.text === null) throw miss(prompt, repeat, byRequest);
      return Object.freeze({ ...completionOf(record, redactKeys(record.text)), cached: true });
    },
  });
}

/**
 * Builds a key for a prompt and a repeat. The repeat comes first in the key, because a prompt may contain any
 * character.
 */
export function requestName({ prompt, repeat }: Pick<AnswerRecord, 'prompt' | 'repeat'>): string {
  return `${String(repeat)} ${prompt}`;
}

function index(records: Iterable<AnswerRecord>): { byRequest: Map<string, AnswerRecord>; models: Set<string> } {
  const byRequest = new Map<string, AnswerRecord>();
  const models = new Set<string>();
  let position = 0;
  for (const record of records) {
    const name = requestName(record);
    const known = byRequest.get(name);
    if (known !== undefined) refuseRival(known, record, position);
    // A later failure does not replace an answer.
    if (record.text !== null || known === undefined || known.text === null) byRequest.set(name, record);
    models.add(record.model);
    position++;
  }
  return { byRequest, models };
}

function refuseRival(known: AnswerRecord, record: AnswerRecord, position: number): void {
  if (known.text === null || record.text === null) return;
  if (known.key === record.key || known.text === record.text) return;
  const what =
    known.model === record.model ? 'requested with other params' : `by ${known.model} and by ${record.model}`;
  throw new DataValidationError(
    `The records contain two different answers to the same prompt and repeat, ${redactSecrets(what)}. The second answer is at index ${String(position)}: ${beginningOf(record.prompt)}.`,
    {
      context: { argument: 'records', index: position, repeat: record.repeat },
      suggestion: 'Use the records of one model and one configuration.',
    },
  );
}

/**
 * Creates an error that is neither retryable nor fatal. Another attempt would find the same record, but other prompts
 * may have answers.
 */
function failAgain({ error }: AnswerRecord): Error {
  const kind = error === null || error.kind === 'not_sent' || error.kind === 'no_answer' ? 'malformed' : error.kind;
  return clientError(kind, redactSecrets(`Recorded: ${error?.message ?? ''}`), { isRetryable: false, isFatal: false });
}

function miss(prompt: string, repeat: number, known: ReadonlyMap<string, AnswerRecord>): CacheMissError {
  const isKnownPrompt = repeat > 0 && known.has(requestName({ prompt, repeat: 0 }));
  const what = isKnownPrompt ? `answer ${String(repeat)} (from 0) to the prompt` : 'answer to the prompt';
  return new CacheMissError(`The records have no ${what} ${beginningOf(prompt)}.`, {
    context: { repeat, promptStart: redactSecrets(prompt.slice(0, MAX_SHOWN)) },
    suggestion: isKnownPrompt
      ? 'Lower repeats to the recorded number, or record more answers.'
      : 'Use the templates and dimensions of the recorded run.',
  });
}

const MAX_SHOWN = 60;

/** Shortens a prompt for an error. */
function beginningOf(prompt: string): string {
  const line = redactSecrets(prompt).replaceAll(/\s+/g, ' ').trim();
  return `'${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line}'`;
}
