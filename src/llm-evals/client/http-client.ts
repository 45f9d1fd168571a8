import { ConfigValidationError } from '../../exceptions/index.ts';
import type { HttpEndpointConfig, LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { parseJsonPath, valueAtPath } from '../../internal/json-path.ts';
import { addressInEnvironment } from './access.ts';
import { isLoopback, readAddress, requireEncryption } from './address.ts';
import { questionOf, unexpectedFields } from './api-client.ts';
import { clientError, fieldsOf, refuseCancelled, usageOf } from './client-error.ts';
import { withSystemMessage } from './dialects/api-dialect.ts';
import { type BodyValues, encodingOf, fillBody, placeholdersInBody } from './http-template.ts';
import type { Completion, CompletionOptions, LLMClient } from './llm-client.ts';
import { type Endpoint, excerptOf, readJson, sendText, type TextAnswer } from './post-json.ts';
import { keyIn } from './provider-hosts.ts';
import { type Environment, isUsableVariable, redactorOf, redactSecrets } from './secrets.ts';

/** The parts of a configuration that define the client of an endpoint. */
interface HttpClientConfig extends Pick<LLMEvalConfig, 'model' | 'timeoutMillis'> {
  readonly http: HttpEndpointConfig;
}

/** Matches the name of a variable in the value of a header. */
const HEADER_VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;

/** The variable that names the host to which keys may be sent. */
const HOST_VARIABLE = 'EVENHAND_LLM_BASE_URL';

/**
 * Creates a client for any HTTP endpoint. The body and the headers of its requests, and the position of the answer in
 * the responses, are part of the configuration. The client makes one attempt for each prompt.
 *
 * Values from variables are sent only to this machine or to the host that `EVENHAND_LLM_BASE_URL` names, and never over
 * plain http to another machine. Without variables, any host is allowed, because the requests contain only the
 * prompts.
 * @throws {ConfigValidationError} if the address or a path is invalid, or if a variable must not be sent to the address
 */
export function createHttpClient(config: HttpClientConfig, env: Environment): LLMClient {
  const { http, model, timeoutMillis } = config;
  const url = readAddress('http.url', http.url, true);
  const names = variablesIn(http);
  assertTrusted(url, names, env);
  const id = redactSecrets(`http:${url.origin}${url.pathname}:${model}`, env);
  const base = { id, env, timeoutMillis, method: http.method, address: url.href };
  const keyVariable = names[0] ?? 'a header';
  const read = readerOf(http, redactorOf(env));
  const encoding = encodingOf(http.headers);
  return Object.freeze<LLMClient>({
    id,
    async complete(prompt, options = {}) {
      refuseCancelled(id, options.signal);
      const body = fillBody(http.body, valuesOf(config, prompt, options), encoding);
      // The variables are read at the first request, because no key is needed if all answers are cached.
      const endpoint: Endpoint = { ...base, keyVariable, headers: headersOf(http, id, env) };
      return read(endpoint, await sendText(endpoint, body, options.signal));
    },
  });
}

/** Lists the variables that the headers use. */
function variablesIn({ headers }: Pick<HttpEndpointConfig, 'headers'>): string[] {
  const values = Object.values(headers);
  return [...new Set(values.flatMap((value) => [...value.matchAll(HEADER_VARIABLE)].map(([, name]) => String(name))))];
}

/** Throws if the values of variables must not be sent to an address. */
function assertTrusted(url: URL, names: readonly string[], env: Environment): void {
  const [first] = names;
  if (first === undefined) return;
  const unusable = names.find((name) => !isUsableVariable(name, env));
  if (unusable !== undefined) throw notUsable(unusable);
  if (!isLoopback(url) && addressInEnvironment(HOST_VARIABLE, env)?.origin !== url.origin) {
    throw new ConfigValidationError(
      `The key in ${first} is not sent to ${url.host}: a configuration file alone cannot set the host for it, and ${HOST_VARIABLE} does not name this host.`,
      {
        context: { parameter: 'http.url', host: url.host },
        suggestion: `To send the key to this host, set in the environment: ${HOST_VARIABLE}=${url.origin}.`,
      },
    );
  }
  requireEncryption(first, 'http.url', url);
}

function notUsable(name: string): ConfigValidationError {
  return new ConfigValidationError(
    `The headers use the variable ${name}, but a configuration may use only variables whose name starts with EVENHAND_LLM_, and variables that the environment lists in EVENHAND_LLM_VARIABLES.`,
    {
      context: { parameter: 'http.headers', variable: name },
      suggestion: `Rename the variable to EVENHAND_LLM_API_KEY, or set EVENHAND_LLM_VARIABLES=${name} in the environment.`,
    },
  );
}

/** Returns the headers of a request, in lower case, with the values of variables. */
function headersOf({ headers }: HttpEndpointConfig, id: string, env: Environment): Record<string, string> {
  const valueOf = (_: string, name: string): string => {
    const value = keyIn(name, env);
    if (value !== null) return value;
    throw clientError('auth', `A header of ${id} needs the variable ${name}, which is not set.`, {
      suggestion: `Set ${name} in the environment; keys are read only from there.`,
    });
  };
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), value.replaceAll(HEADER_VARIABLE, valueOf)]),
  );
}

/** Returns the values of the placeholders of a body. */
function valuesOf({ http, model }: HttpClientConfig, prompt: string, options: CompletionOptions): BodyValues {
  const question = questionOf(prompt, options);
  const { system, messages, maxTokens, rest } = question;
  // A body with a placeholder of its own for the system prompt would contain the system prompt twice.
  const isSeparate = placeholdersInBody(http.body).has('system');
  return {
    prompt,
    system: system ?? '',
    messages: isSeparate ? messages : withSystemMessage(question),
    model,
    max_tokens: maxTokens,
    params: { ...rest, ...(maxTokens === null ? {} : { max_tokens: maxTokens }) },
  };
}

/** Returns a function that reads the answer of a response. */
function readerOf(
  { answerPath, inputTokensPath, outputTokensPath }: HttpEndpointConfig,
  redact: (text: string) => string,
): (endpoint: Endpoint, answer: TextAnswer) => Completion {
  const [path, input, output] = [answerPath, inputTokensPath, outputTokensPath].map((each) =>
    each === null ? null : parseJsonPath(each),
  );
  return (endpoint, answer) => {
    const needsJson = [path, input, output].some((each) => each !== null && each !== undefined);
    const json = needsJson ? readJson(endpoint, answer) : undefined;
    const text = path ? answerIn(endpoint, answer, valueAtPath(json, path), json, answerPath ?? '') : plainText(endpoint, answer); // prettier-ignore
    const usage = input && output ? usageOf(valueAtPath(json, input), valueAtPath(json, output)) : null;
    const { latencyMillis } = answer;
    return Object.freeze({ text: redact(text), finishReason: 'stop', usage, cached: false, latencyMillis });
  };
}

function answerIn(endpoint: Endpoint, { status }: TextAnswer, value: unknown, json: unknown, path: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (fieldsOf(fieldsOf(json)?.['error']) !== undefined) throw unexpectedFields(endpoint, status, json);
  const found =
    value === undefined ? 'nothing' : value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  const shown = excerptOf(JSON.stringify(json), endpoint.env);
  throw clientError('malformed', `${endpoint.id} returned ${found} instead of a text at ${path}: ${shown}.`, {
    status,
    suggestion: 'Set http.answer_path to the JSON path of the answer, such as $.answer.',
  });
}

/** A page is not an answer: a login page of a gateway would otherwise be scored. */
function plainText(endpoint: Endpoint, { text, contentType, status }: TextAnswer): string {
  const isPage = /\bhtml\b/i.test(contentType ?? '') || /^\s*<!doctype html|^\s*<html/i.test(text);
  if (!isPage) return text;
  throw clientError('malformed', `${endpoint.id} returned an HTML page: ${excerptOf(text, endpoint.env)}.`, {
    status,
    suggestion: 'Check http.url. A login page or a proxy may have answered.',
  });
}
