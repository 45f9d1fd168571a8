import { createHash } from 'node:crypto';

import { fillOptions, type FilledOptions } from '../../internal/arguments.ts';
import { refuseCancelled } from './client-error.ts';
import type { LLMClient } from './llm-client.ts';
import { redactSecrets } from './secrets.ts';

/**
 * The possible first, middle and last sentences of an answer. The sentences mention no person, and they do not refuse.
 */
export const OPENINGS: readonly string[] = [
  'Here is a short answer.',
  'Thank you for the question.',
  'There are several ways to look at this.',
  'It helps to begin with what is known.',
  'I can offer a few general points.',
  'This depends on details that the question leaves open.',
  'A plain answer comes first, and the reasons after it.',
  'Let us take this one step at a time.',
];

/** See {@link OPENINGS}. */
export const MIDDLES: readonly string[] = [
  'Collect the facts, compare them with what is needed, and write down what is missing.',
  'Most of what matters here can be learned, and practice counts for more than talent.',
  'A list of the main points, with one example for each, is a good way to start.',
  'The same steps work in most cases: plan, try, check the result, and adjust.',
  'Ask those who know the matter well, and compare what they say.',
  'It is worth setting a clear aim first, and a date on which to look at it again.',
  'Records of the work so far show best what should come next.',
  'I would want to know more before I judge, since one description rarely says enough.',
  'Experience, training and time are what such work usually takes.',
  'Two or three options should be compared before one is chosen.',
  'Be careful with quick conclusions, as the context may change them.',
  'A conversation about expectations early on saves effort later.',
];

/** See {@link OPENINGS}. */
export const CLOSINGS: readonly string[] = [
  'I hope that this is of use.',
  'Tell me more, and I can be more specific.',
  'For a decision of weight, consult a specialist.',
  'With some patience this should work out well.',
  'Adjust this to the situation at hand.',
  'That would be a sound beginning.',
  'If anything is unclear, please ask.',
  'Others may see it differently, and with good reasons.',
];

const DEFAULT_MODEL = 'stub';

/** Options of {@link createLocalClient}. */
export interface LocalClientOptions {
  /**
   * The model name in the id. Models with different names give different answers.
   * @defaultValue 'stub'
   */
  readonly model?: string | undefined;
}

/**
 * Creates a stub client that uses no network and no model, so that a configuration can be tested without a key. Results
 * with the stub say nothing about a model. The answers are general sentences, chosen by the SHA-256 of the prompt and
 * the repeat. The answers differ between prompts by chance, and no group has an advantage. The same model,
 * prompt and repeat give the same answer everywhere.
 *
 * For a question with the options (a), (b), …, the answer is one of the options. Params are ignored. The number of
 * tokens is estimated as a quarter of the number of characters.
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
  const { model } = fillOptions<FilledOptions<LocalClientOptions>>('createLocalClient', options, {
    model: DEFAULT_MODEL,
  });
  const id = redactSecrets(`local:${model}`);
  return Object.freeze<LLMClient>({
    id,
    // eslint-disable-next-line @typescript-eslint/require-await -- what it throws must be a rejection
    async complete(prompt, { repeat = 0, signal } = {}) {
      refuseCancelled(id, signal);
      // Models with another name have other answers, so that a comparison of models can be tested.
      const asked = `${model === DEFAULT_MODEL ? '' : `${model}\n`}${String(repeat)}\n${prompt}`;
      const text = answerTo(prompt, createHash('sha256').update(asked).digest());
      const usage = { inputTokens: Math.ceil(prompt.length / 4), outputTokens: Math.ceil(text.length / 4) };
      return Object.freeze({ text, finishReason: 'stop', usage, cached: false, latencyMillis: 0 });
    },
  });
}

/** Chooses an answer from the digest of a prompt. Each choice uses different bytes of the digest. */
function answerTo(prompt: string, digest: Buffer): string {
  const pick = <T>(choices: readonly T[], offset: number): T =>
    choices[digest.readUInt32BE(offset) % choices.length] as T;
  const options = optionsOf(prompt);
  if (options.length >= 2) return pick(options, 0);
  return [pick(OPENINGS, 0), pick(MIDDLES, 4), pick(CLOSINGS, 8)].join(' ');
}

/** Finds the options (a), (b), … of a question. Each option is returned with its letter. */
function optionsOf(prompt: string): readonly string[] {
  const found = [...prompt.matchAll(/\(([a-e])\)[^\S\n]*(.*?)(?=[^\S\n]*\([a-e]\)|\n|$)/g)].map(
    ([, letter = '', text = '']) => ({ letter, text }),
  );
  const isInOrder = found.every(({ letter, text }, index) => letter === 'abcde'[index] && text.trim() !== '');
  return isInOrder ? found.map(({ letter, text }) => `(${letter}) ${text.trim()}`) : [];
}
