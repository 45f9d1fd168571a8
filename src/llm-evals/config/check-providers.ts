import { ValueError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import type { Mapping } from '../../internal/values.ts';
import { type KeyPath, type PathProblem, problemAt } from '../../io/config-text/path-problem.ts';
import type { LLMEvalDocument } from '../../schemas/llm-eval/llm-eval-document.ts';
import {
  BODY_PLACEHOLDERS,
  DEFAULT_BODY,
  encodingOf,
  isJsonTemplate,
  placeholdersInBody,
} from '../client/http-template.ts';
import { parseJsonPath } from '../../internal/json-path.ts';

type Fields = Partial<LLMEvalDocument>;
type HttpSection = NonNullable<LLMEvalDocument['http']>;

/**
 * Checks the sections of the providers `http` and `command`, and that only these providers have them.
 * @param document all fields of the configuration, including invalid fields
 */
export function checkProviders(fields: Fields, document: Mapping): PathProblem[] {
  return [
    ...checkOwner(fields, document, 'http'),
    ...checkOwner(fields, document, 'command'),
    ...(fields.http === undefined ? [] : [...checkHttp(fields.http), ...checkSent(fields, fields.http)]),
    ...checkCommand(fields),
  ];
}

/** Checks that the key of a provider is present, and that no other provider has it. */
function checkOwner({ provider, ...fields }: Fields, document: Mapping, name: 'http' | 'command'): PathProblem[] {
  if (provider === undefined) return [];
  const isGiven = document[name] !== undefined;
  if (provider === name) {
    if (!isGiven) return [problemAt([name], `is missing; the provider ${name} needs it`, `Add the key '${name}'.`)];
    return fields.base_url === undefined
      ? []
      : [problemAt(['base_url'], `is not used by the provider ${name}`, 'Remove it.', 'key')];
  }
  if (!isGiven) return [];
  return [problemAt([name], `is used only by the provider ${name}`, `Set provider: ${name}, or remove it.`, 'key')];
}

function checkHttp(http: HttpSection): PathProblem[] {
  return [
    ...checkUrl(http.url),
    ...Object.keys(http.headers ?? {}).flatMap(checkHeader),
    ...checkBody(http),
    ...(['answer_path', 'input_tokens_path', 'output_tokens_path'] as const).flatMap((name) =>
      checkPath(['http', name], http[name]),
    ),
    ...checkUsage(http),
  ];
}

/** Checks the address. Messages do not show the address, because it may contain a key. */
function checkUrl(given: string): PathProblem[] {
  const path = ['http', 'url'];
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    const suggestion = 'For example: https://app.example.org/chat.';
    return [problemAt(path, 'must be a URL that starts with http:// or https://', suggestion)];
  }
  if (url.username !== '' || url.password !== '') {
    return [problemAt(path, 'must not contain a user or password', 'Remove the part before the @.')];
  }
  if (given.includes('#')) return [problemAt(path, 'must not have a fragment', 'Remove the part that begins with #.')];
  const secret = [...url.searchParams.keys()].find((name) =>
    /key|token|secret|password|sig(?:nature)?$|auth/i.test(name),
  );
  if (secret === undefined) return [];
  const suggestion = 'Send it in a header: headers: { authorization: "Bearer ${EVENHAND_LLM_API_KEY}" }.';
  return [problemAt(path, `must not have the parameter '${secret}', which usually contains a key`, suggestion)];
}

/** Headers that the client sets itself, or that change how the request is transferred. */
const FORBIDDEN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function checkHeader(name: string): PathProblem[] {
  const path = ['http', 'headers', name];
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return [problemAt(path, 'is not the name of a header', 'Use letters, digits and -.', 'key')];
  }
  if (!FORBIDDEN_HEADERS.has(name.toLowerCase())) return [];
  return [problemAt(path, 'cannot be set', 'Remove it: the client sets it.', 'key')];
}

function checkBody({ body = DEFAULT_BODY, headers = {} }: HttpSection): PathProblem[] {
  const path = ['http', 'body'];
  const used = placeholdersInBody(body);
  const unknown = [...used].filter((name) => !BODY_PLACEHOLDERS.some((known) => known === name));
  if (unknown.length > 0) {
    return unknown.map((name) => problemAt(path, `has the unknown placeholder {{${name}}}`, suggestNames(name, BODY_PLACEHOLDERS, 'placeholders'))); // prettier-ignore
  }
  if (!used.has('prompt') && !used.has('messages')) {
    return [
      problemAt(path, 'does not contain the prompt', 'Write {{prompt}} or {{messages}} where the prompt belongs.'),
    ];
  }
  const encoding = encodingOf(headers);
  if (encoding !== 'json' && typeof body !== 'string') {
    return [problemAt(path, 'must be a text, because the header content-type is not JSON', 'Write the body as text, or remove the header.')]; // prettier-ignore
  }
  if (encoding !== 'json' || isJsonTemplate(body)) return [];
  const suggestion =
    'Write quotes around {{prompt}}, {{system}} and {{model}}, and none around {{messages}}, {{params}} and {{max_tokens}}. For another format, set the header content-type.';
  return [problemAt(path, 'is not JSON after its placeholders are filled', suggestion)];
}

function checkPath(path: KeyPath, text: string | undefined): PathProblem[] {
  try {
    if (text !== undefined) parseJsonPath(text);
    return [];
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return [problemAt(path, error.message.replace(/\.$/, ''), error.suggestion ?? '')];
  }
}

function checkUsage({ input_tokens_path: input, output_tokens_path: output }: HttpSection): PathProblem[] {
  if ((input === undefined) === (output === undefined)) return [];
  const [given, missing] = input === undefined ? (['output', 'input'] as const) : (['input', 'output'] as const);
  const message = `is set without ${missing}_tokens_path`;
  return [problemAt(['http', `${given}_tokens_path`], message, 'Set both paths, or neither.', 'key')];
}

/** Checks that the body contains the system prompt and the params, which would otherwise have no effect. */
function checkSent(fields: Fields, { body = DEFAULT_BODY }: HttpSection): PathProblem[] {
  const used = placeholdersInBody(body);
  const needs = (field: KeyPath, placeholders: readonly string[]): PathProblem[] => {
    if (placeholders.some((name) => used.has(name))) return [];
    const words = placeholders.map((name) => `{{${name}}}`).join(' or ');
    return [
      problemAt(field, 'is not sent, because http.body does not contain it', `Write ${words} in http.body.`, 'key'),
    ];
  };
  return [
    ...(fields.system_prompt === undefined ? [] : needs(['system_prompt'], ['system', 'messages'])),
    ...paramNames(fields).flatMap((name) => needs(['params', name], ['params'])),
  ];
}

/** Lists the params, without `max_tokens`: it also limits the estimated cost, so it has an effect if it is not sent. */
function paramNames({ params = {} }: Fields): readonly string[] {
  return Object.keys(params).filter((name) => name !== 'max_tokens');
}

/** Checks that a program receives the system prompt and the params, which it would otherwise not know. */
function checkCommand(fields: Fields): PathProblem[] {
  const { provider, command_input: input, command } = fields;
  if (provider !== 'command' || command === undefined) {
    return input === 'json' && provider !== 'command'
      ? [problemAt(['command_input'], 'is used only by the provider command', 'Remove it.', 'key')]
      : [];
  }
  if (input !== 'text') return [];
  const given: KeyPath[] = [
    ...(fields.system_prompt === undefined ? [] : [['system_prompt']]),
    ...paramNames(fields).map((name) => ['params', name]),
  ];
  const message = 'is not sent, because the program reads only the prompt';
  return given.map((path) => problemAt(path, message, 'Set command_input: json, or remove it.', 'key'));
}
