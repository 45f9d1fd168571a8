import { DependencyError } from '../../exceptions/index.ts';
import { importOptional, installCommand } from '../../internal/packages.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** A prompt, with the messages of a conversation if there are any. */
interface AskedText {
  readonly prompt: string;
  readonly messages?: readonly { readonly content: string | null }[] | undefined;
}

/** Counts the input tokens of requests. */
export interface TokenCounter {
  /**
   * Returns the input tokens of a request: the prompt or all messages of the conversation, the system prompt, and the
   * roles and markers. Messages without content are not counted.
   */
  readonly inputTokens: (request: AskedText) => number;
  /** The encoding that counts the tokens, such as `o200k_base`; null if the tokens are estimated. */
  readonly encoding: string | null;
  /** The command that installs the tokenizer of the model; null if it is installed, or if there is none. */
  readonly install: string | null;
}

/** The parts of a configuration that determine the tokens of a request. */
export type TokenConfig = Pick<LLMEvalConfig, 'provider' | 'model' | 'systemPrompt'>;

type Encoding = 'o200k_base' | 'cl100k_base';

/** The encodings of OpenAI's models, by the beginnings of their names. The first match counts. */
const ENCODINGS: readonly (readonly [names: RegExp, encoding: Encoding])[] = [
  [/^(?:gpt-4o|gpt-4\.[15]|gpt-5|chatgpt-4o|o[134](?:-|$))/, 'o200k_base'],
  [/^(?:gpt-4|gpt-3\.5-turbo)(?:-|$)/, 'cl100k_base'],
];

/** Returns the encoding of a model; undefined if no tokenizer of the model is known. */
function encodingOf({ provider, model }: TokenConfig): Encoding | undefined {
  if (provider !== 'openai' && provider !== 'openai_responses') return undefined;
  // A fine-tuned model has the name ft:<base model>:<organization>:….
  const base = /^ft:([^:]+)/.exec(model)?.[1] ?? model;
  return ENCODINGS.find(([names]) => names.test(base))?.[1];
}

/**
 * The tokens of a message for its role and markers, in OpenAI's chat format. If the tokens are estimated, each message
 * of a conversation after the first needs as many.
 */
const MESSAGE_TOKENS = 4;

/** The tokens with which OpenAI's chat format starts the answer. */
const ANSWER_TOKENS = 3;

/**
 * The tokens that each request needs for roles and markers if the tokens are estimated. This number is slightly above
 * that of OpenAI's chat format, so that costs are not underestimated.
 */
const FRAME_TOKENS = 8;

/**
 * Returns the counter for the requests of a configuration. For OpenAI's models, the tokens are counted with the optional
 * package `gpt-tokenizer` if it is installed. Otherwise, they are estimated.
 */
export async function tokenCounter(config: TokenConfig): Promise<TokenCounter> {
  const { systemPrompt } = config;
  const encoding = encodingOf(config);
  const count = encoding === undefined ? null : await loadTokenizer(encoding);
  if (encoding === undefined || count === null) {
    return estimatingCounter(systemPrompt, encoding === undefined ? null : installCommand('gpt-tokenizer'));
  }
  const system = systemPrompt === null ? 0 : MESSAGE_TOKENS + count(systemPrompt);
  const always = ANSWER_TOKENS + MESSAGE_TOKENS + system;
  return { inputTokens: (request) => always + textTokens(request, count), encoding, install: null };
}

/** Returns a counter that estimates the tokens, without a tokenizer. */
export function estimatingCounter(systemPrompt: string | null, install: string | null = null): TokenCounter {
  const always = FRAME_TOKENS + estimateTokens(systemPrompt ?? '');
  return { inputTokens: (request) => always + textTokens(request, estimateTokens), encoding: null, install };
}

/** Returns the tokens of a prompt or of all messages, and those for the roles of the messages after the first. */
function textTokens({ prompt, messages }: AskedText, count: (text: string) => number): number {
  if (messages === undefined) return count(prompt);
  const texts = messages.reduce((sum, { content }) => sum + count(content ?? ''), 0);
  return texts + MESSAGE_TOKENS * (messages.length - 1);
}

/** The part of a module of `gpt-tokenizer` that is used. */
interface TokenizerModule {
  readonly countTokens: (text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }) => number;
}

/** Loads the tokenizer of an encoding. Returns null if the package is not installed. */
async function loadTokenizer(encoding: Encoding): Promise<((text: string) => number) | null> {
  try {
    const { countTokens } = (await importOptional('gpt-tokenizer', 'to count tokens', () =>
      encoding === 'o200k_base'
        ? import('gpt-tokenizer/encoding/o200k_base')
        : import('gpt-tokenizer/encoding/cl100k_base'),
    )) as TokenizerModule;
    // In a prompt, <|endoftext|> is text, as the provider reads it.
    return (text) => countTokens(text, { disallowedSpecial: new Set() });
  } catch (error) {
    if (error instanceof DependencyError) return null;
    throw error;
  }
}
