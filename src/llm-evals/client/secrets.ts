/** Environment variables of a process, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variables that contain keys of providers. */
const KEY_VARIABLES: readonly string[] = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'OLLAMA_API_KEY',
  'VLLM_API_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'EVENHAND_LLM_API_KEY',
];

/** The prefix of the variables that the headers of the provider `http` may use. */
const OWN_PREFIX = 'EVENHAND_LLM_';

/** Variables with the prefix that contain no secrets. */
const NO_SECRETS = new Set(['EVENHAND_LLM_ALLOW_LIVE', 'EVENHAND_LLM_BASE_URL', 'EVENHAND_LLM_VARIABLES']);

/**
 * Returns whether the headers of the provider `http` may use a variable: its name starts with `EVENHAND_LLM_`, or
 * `EVENHAND_LLM_VARIABLES` lists it. Without this rule, a configuration file could send any variable to a server.
 */
export function isUsableVariable(name: string, env: Environment): boolean {
  return isUsable(name, listedVariables(env));
}

function isUsable(name: string, listed: readonly string[]): boolean {
  return !NO_SECRETS.has(name) && (name.startsWith(OWN_PREFIX) || listed.includes(name));
}

function listedVariables(env: Environment): string[] {
  return (env['EVENHAND_LLM_VARIABLES'] ?? '').split(',').map((name) => name.trim());
}

/** Lists the variables whose values are keys. The values of other variables are not treated as keys. */
function keyVariables(env: Environment): readonly string[] {
  const listed = listedVariables(env);
  return [...KEY_VARIABLES, ...[...Object.keys(env), ...listed].filter((name) => isUsable(name, listed))];
}

/** The replacement of a secret. */
export const REDACTED = '[redacted]';

/**
 * The minimum length of a key. Shorter values are placeholders such as `none` and `ollama`. Redacting a placeholder
 * would damage answers that contain the same word.
 */
const SHORTEST_KEY = 8;

/**
 * Matches the prefixes of providers' keys, followed by enough characters to exclude names: `sk-learn` is not a key.
 * Asterisks are allowed because providers show keys with asterisks. Lookaheads are bounded here and below, so that long
 * texts are processed quickly.
 */
const KEY_LIKE =
  /(?<![A-Za-z0-9])(?:(?:sk|rk|xai|pplx|nvapi)-(?=[\w*-]{0,200}[\d*])[\w*-]{12,}|(?:gsk|hf|r8|ghp|gho|ghs|github_pat)_\w{16,}|AIza[\w-]{20,}|A[KS]IA[A-Z0-9]{16}|eyJ[\w-]{8,2000}\.[\w-]{8,}\.[\w-]*)/;

/** Matches `Bearer` with the following text, unless that text is an ordinary word. */
const BEARER = /\bbearer\s+(?:(?=[\w.~+/*-]{0,200}[\d_.~+/*-])[\w.~+/*-]{6,}|\w{16,})=*/i;

/** Matches a header or a field that contains a key, including its value. */
const KEY_FIELD =
  /\b((?:x-|x-goog-)?api[-_]?key|authorization)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;}]{4,}/i;

/** Matches a user and a password in an address: `https://user:password@`. */
const CREDENTIALS_IN_ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,400}@/i;

/**
 * Redacts secrets in a text: the values of the variables with keys (`OPENAI_API_KEY`, `EVENHAND_LLM_…` and so on), plain, URL-encoded or in base64, and every text that
 * looks like a key (`sk-…`, `Bearer …`, `x-api-key: …`, a password in an address).
 *
 * Use this function for messages. Because the function may also redact text that is not secret, use {@link redactKeys}
 * for answers. Values with fewer than 8 characters are not treated as keys.
 * @example
 * ```ts
 * import { redactSecrets } from 'evenhand/llm-evals';
 *
 * console.log(redactSecrets('wrong key: key-of-mine-1234', { OPENAI_API_KEY: 'key-of-mine-1234' }));
 * // wrong key: [redacted]
 * console.log(redactSecrets('sent Authorization: Bearer abc.def.123'));
 * // sent Authorization: [redacted]
 * ```
 */
export function redactSecrets(text: string, env: Environment = process.env): string {
  return redactKeyLike(redactKeys(text, env));
}

/** Redacts the values of the variables with keys, and leaves the rest of the text unchanged. */
export function redactKeys(text: string, env: Environment = process.env): string {
  return redactorOf(env)(text);
}

/** Returns {@link redactKeys} for an environment that does not change. */
export function redactorOf(env: Environment): (text: string) => string {
  // Longer forms come first, so that a form that contains another form is replaced completely.
  const forms = [...new Set(keyVariables(env).flatMap((variable) => formsOf(env[variable] ?? '')))].sort(
    (a, b) => b.length - a.length,
  );
  return (text) => forms.reduce((redacted, form) => redacted.replaceAll(form, REDACTED), text);
}

/** Redacts all texts that look like a key. */
function redactKeyLike(text: string): string {
  const everywhere = (pattern: RegExp): RegExp => new RegExp(pattern, `${pattern.flags}g`);
  return text
    .replaceAll(everywhere(KEY_FIELD), `$1$2${REDACTED}`)
    .replaceAll(everywhere(BEARER), REDACTED)
    .replaceAll(everywhere(KEY_LIKE), REDACTED)
    .replaceAll(everywhere(CREDENTIALS_IN_ADDRESS), `$1${REDACTED}@`);
}

/** Lists the forms in which a server may return a key. */
function formsOf(value: string): string[] {
  const key = value.trim();
  if (key.length < SHORTEST_KEY) return [];
  const encoded = encodeURIComponent(key);
  const lowerEncoded = encoded.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
  return [value, key, encoded, lowerEncoded, JSON.stringify(key).slice(1, -1), ...base64Forms(key)];
}

/**
 * Returns the parts of a base64 text that depend only on a key inside the encoded text. There is one part for each
 * position of the key modulo three. The first and the last character are left out, because they depend on neighbouring
 * bytes.
 */
function base64Forms(key: string): string[] {
  const bytes = Buffer.from(key);
  return [0, 1, 2].flatMap((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const own = all.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/**
 * Returns whether a value of a configuration looks like a key, and is therefore rejected. A value looks like a key if
 * it has the prefix of a provider's key, the form of a key in a header or an address, or a run of at least 24 letters
 * and digits in a random order. Digests (40 or 64 hexadecimal digits) and `${VARIABLE}` do not count.
 * @example
 * ```ts
 * import { looksLikeSecret } from 'evenhand/llm-evals';
 *
 * console.log(looksLikeSecret('sk-proj-4f9aB27cQ1xV8sT0'), looksLikeSecret('Llama-3.3-70B-Instruct-Turbo'));
 * // true false
 * ```
 */
export function looksLikeSecret(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if ([KEY_LIKE, CREDENTIALS_IN_ADDRESS].some((pattern) => pattern.test(value))) return true;
  if (/\bbearer\s+(?=\S{0,200}\d)[\w.~+/-]{16,}/i.test(value)) return true;
  return (value.match(/[A-Za-z0-9]{24,}/g) ?? []).some(isScrambled);
}

/**
 * Returns whether a run of characters switches between lower-case letters, capitals and digits as often as random text.
 */
function isScrambled(run: string): boolean {
  if (/^[0-9a-f]+$/i.test(run) && (run.length === 40 || run.length === 64)) return false;
  const kinds = run
    .replaceAll(/[0-9]+/g, '0')
    .replaceAll(/[a-z]+/g, 'a')
    .replaceAll(/[A-Z]+/g, 'A');
  return /[0-9]/.test(run) && kinds.length >= 7;
}
