import { createHash } from 'node:crypto';

import { ValueError } from '../../exceptions/index.ts';
import type { LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';

/** The identity of a model. Answers of models with different identities are cached separately. */
export interface ModelIdentity {
  readonly provider: string;
  /** The address of the provider; null for the default address, or if the provider has no address. */
  readonly baseUrl: string | null;
  readonly model: string;
  /**
   * What else determines the answers: the endpoint of the provider `http`, or the program of the provider `command`.
   * @defaultValue none; the key then does not contain it
   */
  readonly target?: unknown;
}

/** All inputs that determine an answer. Secrets are not included. */
export interface RequestIdentity extends ModelIdentity {
  readonly prompt: string;
  /**
   * The messages of a conversation. The content of the model's turns is null.
   * @defaultValue none; the key then contains only the prompt
   */
  readonly messages?: readonly { readonly role: string; readonly content: string | null }[] | undefined;
  readonly params: LLMParams;
  /** The index of the answer, from 0, if several answers to the same prompt are requested. */
  readonly repeat: number;
}

/**
 * Computes the key of an answer: the SHA-256 digest of a JSON object, as 64 hexadecimal digits. The object has the
 * fields `base_url`, `model`, `params`, `prompt`, `provider` and `repeat` and, for conversations and own endpoints,
 * `messages` and `target`. The JSON of the object has no spaces, and the keys are sorted at every depth. Undefined
 * parameters are omitted. The order of the parameters does not matter.
 * @throws {ValueError} if the parameters contain a value that JSON does not support, such as NaN, a function or an
 * instance of a class
 * @example
 * ```ts
 * import { requestKey } from 'evenhand/llm-evals';
 *
 * const asked = { provider: 'openai', baseUrl: null, model: 'gpt-4o-mini', prompt: 'Hello', repeat: 0 };
 * const key = requestKey({ ...asked, params: { temperature: 0, seed: 1 } });
 * console.log(key.length, key === requestKey({ ...asked, params: { seed: 1, temperature: 0 } }));
 * // 64 true
 * ```
 */
export function requestKey(request: RequestIdentity): string {
  const { provider, baseUrl, model, target, prompt, messages, params, repeat } = request;
  // Undefined fields are omitted, so the keys of other prompts stay valid.
  const content = canonicalJson({ provider, base_url: baseUrl, model, target, prompt, messages, params, repeat });
  return createHash('sha256').update(content, 'utf8').digest('hex');
}

/**
 * Returns a function that computes the keys of requests to one model. It writes the parameters only once.
 * @throws {ValueError} if the parameters contain a value that JSON does not support
 */
export function requestKeys(
  { provider, baseUrl, model, target }: ModelIdentity,
  params: LLMParams,
): (request: Pick<RequestIdentity, 'prompt' | 'messages' | 'repeat'>) => string {
  // The fields are in the order of their names: base_url, messages, model, params, prompt, provider, repeat, target.
  const address = canonicalJson({ base_url: baseUrl }).slice(0, -1);
  const before = canonicalJson({ model, params }).slice(1, -1);
  const after = canonicalJson({ provider }).slice(1, -1);
  const end = target === undefined ? '}' : `,${canonicalJson({ target }).slice(1)}`;
  return ({ prompt, messages, repeat }) => {
    const start = messages === undefined ? address : `${address},${canonicalJson({ messages }).slice(1, -1)}`;
    const own = `"prompt":${JSON.stringify(prompt)},${after},"repeat":${canonicalJson(repeat)}`;
    return createHash('sha256').update(`${start},${before},${own}${end}`, 'utf8').digest('hex');
  };
}

/**
 * Serializes a value as canonical JSON: without spaces, with the keys of every object in the order of their UTF-16 code
 * units, and without undefined fields.
 * @throws {ValueError} if JSON does not support a value, such as NaN, an infinity, a function, a big integer, a class
 * instance or a circular reference
 */
export function canonicalJson(value: unknown): string {
  return write(value, '', []);
}

function write(value: unknown, position: string, above: readonly object[]): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== 'object') throw refused(position, typeof value === 'number' ? String(value) : typeof value);
  if (above.includes(value)) throw refused(position, 'a circular reference');
  const path = [...above, value];
  if (Array.isArray(value)) {
    return `[${value.map((entry, index) => write(entry, `${position}[${String(index)}]`, path)).join(',')}]`;
  }
  if (!isPlain(value)) throw refused(position, `an instance of ${value.constructor.name}`);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    // Sorting by locale would differ between machines.
    .sort(([first], [second]) => (first < second ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${write(field, `${position}.${key}`, path)}`).join(',')}}`;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function refused(location: string, kind: string): ValueError {
  const where = location === '' ? 'The value' : `The field ${location.replace(/^\./, '')}`;
  return new ValueError(
    `${where} must be text, a finite number, true, false, null, a list or a plain object. Got ${kind} instead.`,
    {
      context: { place: location, kind },
      suggestion: 'Use parameters that JSON supports.',
    },
  );
}
