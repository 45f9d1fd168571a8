import { createHash } from 'node:crypto';

import { assertKnownOptions, type OptionNames } from '../../../internal/known-options.ts';
import { refuseCancelled } from '../client-error.ts';
import type { LLMClient } from '../llm-client.ts';
import { redactSecrets } from '../secrets.ts';
import { CLOSINGS, MIDDLES, OPENINGS } from './answer-bank.ts';

/** Options of {@link createLocalClient}. */
export interface LocalClientOptions {
  /**
   * A name for the id.
   * @defaultValue 'stub'
   */
  readonly model?: string | undefined;
}

const LOCAL_CLIENT_OPTION_NAMES: OptionNames<LocalClientOptions> = { model: true };

/**
 * A stub that answers without a network and without a model, so that a
 * configuration can be tried, and tested, without a key. It measures nothing:
 * its answers are general sentences, chosen by the SHA-256 of the prompt and
 * the repeat, so that they differ from prompt to prompt by chance and no group
 * has an advantage. The same prompt and repeat give the same answer everywhere.
 *
 * A question with the options (a), (b), … is answered with one of them. Params
 * are not looked at. Tokens are estimated as a quarter of the characters.
 * @example
 * ```ts
 * import { createLocalClient } from 'evenhand/llm-evals';
 *
 * const client = createLocalClient();
 * const first = await client.complete('Describe a nurse.');
 * const again = await client.complete('Describe a nurse.');
 * console.log(client.id, first.text === again.text, first.finishReason);
 * // local:stub true stop
 * ```
 */
export function createLocalClient(options: LocalClientOptions = {}): LLMClient {
  assertKnownOptions('createLocalClient', options, LOCAL_CLIENT_OPTION_NAMES);
  const { model = 'stub' } = options;
  const id = redactSecrets(`local:${model}`);
  return Object.freeze<LLMClient>({
    id,
    // eslint-disable-next-line @typescript-eslint/require-await -- what it throws must be a rejection
    async complete(prompt, { repeat = 0, signal } = {}) {
      refuseCancelled(id, signal);
      const text = answerTo(
        prompt,
        createHash('sha256')
          .update(`${String(repeat)}\n${prompt}`)
          .digest(),
      );
      const usage = { inputTokens: Math.ceil(prompt.length / 4), outputTokens: Math.ceil(text.length / 4) };
      return Object.freeze({ text, finishReason: 'stop', usage, cached: false, latencyMillis: 0 });
    },
  });
}

/** An answer chosen by a digest; each choice takes bytes of its own. */
function answerTo(prompt: string, digest: Buffer): string {
  const pick = <T>(choices: readonly T[], offset: number): T =>
    choices[digest.readUInt32BE(offset) % choices.length] as T;
  const options = optionsOf(prompt);
  if (options.length >= 2) return pick(options, 0);
  return [pick(OPENINGS, 0), pick(MIDDLES, 4), pick(CLOSINGS, 8)].join(' ');
}

/** The options (a), (b), … of a question, each with its letter. */
function optionsOf(prompt: string): readonly string[] {
  const found = [...prompt.matchAll(/\(([a-e])\)[^\S\n]*(.*?)(?=[^\S\n]*\([a-e]\)|\n|$)/g)].map(
    ([, letter = '', text = '']) => ({ letter, text }),
  );
  const isInOrder = found.every(({ letter, text }, place) => letter === 'abcde'[place] && text.trim() !== '');
  return isInOrder ? found.map(({ letter, text }) => `(${letter}) ${text.trim()}`) : [];
}
