import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Api, answerBody, errorBody } from './llm-server-bodies.ts';

/** What the server does with one request. `echoesKey` puts the request's key into the text of the answer or error. */
export type LlmAction =
  | {
      readonly kind: 'answer';
      readonly text?: string | ((prompt: string, request: SeenLlmRequest) => string);
      /** The finish reason in the API's own words; default `stop` or `end_turn`. */
      readonly finish?: string;
      readonly hasUsage?: boolean;
      readonly echoesKey?: boolean;
    }
  /** A refusal in the API's own form: OpenAI's `message.refusal`, Anthropic's `stop_reason: refusal`. */
  | { readonly kind: 'refusal'; readonly text?: string }
  | { readonly kind: 'tool_calls' }
  | {
      readonly kind: 'error';
      readonly status: number;
      /** The error code, such as `content_filter` or `insufficient_quota`; default that of the status. */
      readonly code?: string;
      readonly message?: string;
      /** Headers such as `Retry-After`, in seconds or as an HTTP date. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly echoesKey?: boolean;
    }
  /** Any body: a string as it is, other values as JSON. */
  | { readonly kind: 'raw'; readonly body: unknown; readonly status?: number }
  /** No answer; the connection stays open. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'cut'; readonly within?: 'headers' | 'body' }
  /** Half of an answer with the headers of a complete one; HTML; an answer with other fields; endless white space. */
  | { readonly kind: 'malformed' | 'html' | 'wrong_shape' | 'endless' }
  | { readonly kind: 'redirect'; readonly to?: string };

/** The behaviour of the server. By default it is an API without errors that accepts every key. */
export interface LlmServerBehaviour {
  /** Actions for the first requests, one each; after that `otherwise`. */
  readonly script?: readonly LlmAction[];
  readonly otherwise?: LlmAction | ((request: SeenLlmRequest, index: number) => LlmAction);
  /** The valid key; null if none is required. By default any key is valid. */
  readonly key?: string | null;
  /** The rate limit. Requests above it within any second get 429 and do not consume the script. */
  readonly requestsPerSecond?: number;
  /** The `Retry-After` header of these answers. */
  readonly limitRetryAfter?: string;
  /** The delay before each answer. */
  readonly delayMillis?: number;
}

/** A request as it arrived. */
export interface SeenLlmRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** The text of the last message. */
  readonly prompt: string;
  /** The arrival time in milliseconds of a monotonic clock. */
  readonly startedAt: number;
}

export interface LlmServer {
  /** The base URL, which ends with `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly SeenLlmRequest[];
  /** The number of requests by outcome: '200', '429', 'cut', 'silent', … */
  readonly counts: Readonly<Record<string, number>>;
  /** The maximum number of concurrent requests. */
  readonly maxConcurrent: number;
  setBehaviour(behaviour: LlmServerBehaviour): void;
  close(): Promise<void>;
}

/** Starts a server on the loopback interface that implements the APIs of all providers, and an endpoint `/v1/ask`. */
export async function startLlmServer(behaviour: LlmServerBehaviour = {}): Promise<LlmServer> {
  const state = new ServerState(behaviour);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      state.take(toSeen(request, Buffer.concat(chunks).toString()), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests: state.requests,
    counts: state.counts,
    get maxConcurrent() {
      return state.maxConcurrent;
    },
    setBehaviour: (next) => {
      state.setBehaviour(next);
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

class ServerState {
  readonly requests: SeenLlmRequest[] = [];
  readonly counts: Record<string, number> = {};
  maxConcurrent = 0;
  #behaviour: LlmServerBehaviour;
  #script: LlmAction[];
  #open = 0;
  /** The times of requests that were allowed within the last second. */
  #allowed: number[] = [];

  constructor(behaviour: LlmServerBehaviour) {
    this.#behaviour = behaviour;
    this.#script = [...(behaviour.script ?? [])];
  }

  setBehaviour(behaviour: LlmServerBehaviour): void {
    this.#behaviour = behaviour;
    this.#script = [...(behaviour.script ?? [])];
  }

  take(seen: SeenLlmRequest, response: ServerResponse): void {
    const index = this.requests.push(seen) - 1;
    this.#open++;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#open);
    const action = this.#choose(seen, index);
    const result = 'status' in action ? String(action.status) : isAnswer(action) ? '200' : action.kind;
    this.counts[result] = (this.counts[result] ?? 0) + 1;
    const timer = setTimeout(() => {
      act(action, seen, response);
    }, this.#behaviour.delayMillis ?? 0);
    response.on('close', () => {
      this.#open--;
      clearTimeout(timer);
    });
  }

  #choose(seen: SeenLlmRequest, index: number): LlmAction {
    const { key, requestsPerSecond, limitRetryAfter, otherwise = { kind: 'answer' } } = this.#behaviour;
    const invalid = check(seen, key);
    if (invalid !== undefined) return invalid;
    if (requestsPerSecond !== undefined) {
      this.#allowed = this.#allowed.filter((at) => at > seen.startedAt - 1000);
      if (this.#allowed.length >= requestsPerSecond) {
        const headers = limitRetryAfter === undefined ? {} : { 'retry-after': limitRetryAfter };
        return { kind: 'error', status: 429, headers };
      }
      this.#allowed.push(seen.startedAt);
    }
    return this.#script.shift() ?? (typeof otherwise === 'function' ? otherwise(seen, index) : otherwise);
  }
}

function isAnswer({ kind }: LlmAction): boolean {
  return kind === 'answer' || kind === 'refusal' || kind === 'tool_calls';
}

/** Returns the error for a request that the real APIs would reject, regardless of the script. */
function check(seen: SeenLlmRequest, key: string | null | undefined): LlmAction | undefined {
  const api = apiOf(seen);
  if (seen.method !== 'POST' || api === undefined) return { kind: 'error', status: 404 };
  const given = givenKey(seen);
  if (key !== null && (given === '' || (key !== undefined && key !== given))) return { kind: 'error', status: 401 };
  const { body } = seen;
  const invalid = (message: string): LlmAction => ({ kind: 'error', status: 400, message });
  if (body === undefined) return invalid('We could not parse the JSON body of your request.');
  if (api === 'custom') return undefined;
  // The model is a part of the path in these two APIs.
  const isInPath = api === 'gemini' || api === 'bedrock';
  if (!isInPath && typeof body['model'] !== 'string') return invalid('you must provide a model parameter');
  const messages = messagesOf(body);
  if (!Array.isArray(messages) || messages.length === 0) return invalid('messages: at least one message is required');
  if (api === 'bedrock' && !messages.every(hasBlocks)) return invalid('content must be a list of blocks');
  if (api !== 'anthropic') return undefined;
  if (seen.headers['anthropic-version'] === undefined) return invalid('anthropic-version: header is required');
  if (typeof body['max_tokens'] !== 'number') return invalid('max_tokens: Field required');
  const isSystem = (message: { role?: unknown }) => message.role === 'system';
  if (!messages.some(isSystem)) return undefined;
  return invalid('messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter');
}

function hasBlocks({ content }: { content?: unknown }): boolean {
  return Array.isArray(content);
}

function act(action: LlmAction, seen: SeenLlmRequest, response: ServerResponse): void {
  const api = apiOf(seen) ?? 'openai';
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_011CSHoEeqs5C', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const answer = (given: Extract<LlmAction, { kind: 'answer' | 'refusal' | 'tool_calls' }>): unknown =>
    answerBody(api, seen, withText(given, seen));
  switch (action.kind) {
    case 'answer':
    case 'refusal':
    case 'tool_calls':
      send(200, answer(action));
      return;
    case 'error': {
      const { status, code, headers, echoesKey = false } = action;
      const message = action.message ?? (echoesKey ? `The key was: ${givenKey(seen)}` : undefined);
      send(status, errorBody(api, status, code, message), headers);
      return;
    }
    case 'raw':
      send(action.status ?? 200, action.body);
      return;
    case 'silent':
      return;
    case 'cut':
      if (action.within === 'body') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
        response.write('{"id":"chatcmpl-', () => response.destroy());
      } else {
        response.destroy();
      }
      return;
    case 'malformed':
      send(200, JSON.stringify(answer({ kind: 'answer' })).slice(0, 60));
      return;
    case 'html':
      send(200, '<!doctype html><html><body><h1>Please log in</h1></body></html>', { 'content-type': 'text/html' });
      return;
    case 'wrong_shape':
      send(200, { object: 'list', data: [{ id: 'a-model' }] });
      return;
    case 'endless':
      sendWithoutEnd(response);
      return;
    case 'redirect':
      response.writeHead(307, { location: action.to ?? '/elsewhere' }).end();
  }
}

function sendWithoutEnd(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const block = Buffer.alloc(1 << 16, ' ');
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more);
  more();
}

function withText(action: Extract<LlmAction, { kind: 'answer' | 'refusal' | 'tool_calls' }>, seen: SeenLlmRequest) {
  if (action.kind === 'tool_calls') return { ...action, text: '' };
  if (action.kind === 'refusal') return { ...action, text: action.text ?? "I'm sorry, but I can't help with that." };
  const text = typeof action.text === 'function' ? action.text(seen.prompt, seen) : action.text;
  const echo = action.echoesKey === true ? `Your key is ${givenKey(seen)}.` : undefined;
  return { ...action, text: text ?? echo ?? `An answer to: ${seen.prompt}` };
}

const PATHS: readonly (readonly [RegExp, Api])[] = [
  [/^\/v1\/chat\/completions$/, 'openai'],
  [/^\/v1\/messages$/, 'anthropic'],
  [/^\/v1\/responses$/, 'responses'],
  [/^\/v1\/models\/[^/]+:generateContent$/, 'gemini'],
  [/^\/v1\/model\/[^/]+\/converse$/, 'bedrock'],
  [/^\/v1\/api\/chat$/, 'ollama'],
  [/^\/v1\/ask(?:\?|$)/, 'custom'],
];

function apiOf({ path }: Pick<SeenLlmRequest, 'path'>): Api | undefined {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1];
}

function givenKey(seen: SeenLlmRequest): string {
  const api = apiOf(seen);
  if (api === 'anthropic') return String(seen.headers['x-api-key'] ?? '');
  if (api === 'gemini') return String(seen.headers['x-goog-api-key'] ?? '');
  return /^Bearer (.+)$/.exec(seen.headers.authorization ?? '')?.[1] ?? '';
}

/** Returns the messages of a request, under the name that its API gives them. */
function messagesOf(body: Readonly<Record<string, unknown>> | undefined): unknown {
  return body?.['messages'] ?? body?.['contents'] ?? body?.['input'];
}

function toSeen({ method = '', url = '', headers }: IncomingMessage, text: string): SeenLlmRequest {
  const body = parse(text);
  const messages = messagesOf(body);
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const given = body?.['prompt'];
  const prompt = last === undefined ? (typeof given === 'string' ? given : '') : textOfMessage(last);
  return { method, path: url, headers, body, prompt, startedAt: performance.now() };
}

/** Returns the text of a message: its content, or the text of its only block or part. */
function textOfMessage(message: unknown): string {
  const { content, parts } = message as { content?: unknown; parts?: unknown };
  const blocks = parts ?? content;
  if (!Array.isArray(blocks)) return typeof blocks === 'string' ? blocks : '';
  return (blocks as readonly { text?: string }[]).map(({ text = '' }) => text).join('');
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
