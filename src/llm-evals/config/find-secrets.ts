import { isMapping } from '../../internal/values.ts';
import { formatPath, type KeyPath, type PathProblem } from '../../io/config-text/path-problem.ts';
import { API_PROVIDERS, variablesOf } from '../client/provider-hosts.ts';
import { looksLikeSecret, REDACTED, redactKeys } from '../client/secrets.ts';

/** Matches the names of keys that contain a secret. The names are in lower case, without spaces and punctuation. */
const SECRET_KEY =
  /(?:(?:api|access|secret|private|auth|client|subscription)key|secret|password|passwd|passphrase|authorization|bearer|credentials?)$|^(?:key|auth|(?:api|auth|access|bearer|session|refresh)?token)$/;

/** Mappings whose keys are chosen by the user. */
const OWN_NAMES = new Set(['prompttemplates', 'counterfactual', 'prices']);

/**
 * Finds every value of a configuration that looks like a secret, or whose key has the name of a secret. The returned
 * problems do not contain the secret.
 */
export function findSecrets(root: unknown): PathProblem[] {
  const named = isMapping(root) ? API_PROVIDERS.find((provider) => provider === root['provider']) : undefined;
  const keys = 'OPENAI_API_KEY, ANTHROPIC_API_KEY or EVENHAND_LLM_API_KEY';
  const variable = named === undefined ? keys : variablesOf(named)[0];
  const suggestion = `Remove it and set the environment variable ${variable}. If other people have seen the key, revoke it.`;
  // Answers of models are data, which may quote texts that look like keys.
  const { answers: _, ...checked } = isMapping(root) ? root : { answers: undefined };
  return secretsIn(isMapping(root) ? checked : root, [], new Set()).map((problem) => ({ ...problem, suggestion }));
}

type SecretProblem = Omit<PathProblem, 'suggestion'>;

/**
 * @param above the enclosing values, which are needed to detect cycles. A mapping that was created in code may contain
 * itself
 */
function secretsIn(value: unknown, path: KeyPath, above: ReadonlySet<unknown>): SecretProblem[] {
  if (typeof value === 'string')
    return holdsSecret(value) ? [problem(path, 'value', 'contains a text that looks like a key')] : [];
  if (typeof value !== 'object' || value === null || above.has(value)) return [];
  const around = new Set([...above, value]);
  if (Array.isArray(value)) return value.flatMap((item, index) => secretsIn(item, [...path, index], around));
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    if (holdsSecret(key)) return [problem(here, 'key', 'has a key that looks like a secret')];
    if (isHeader(here)) return secretsInHeader(key, inner, here);
    if (isSecretName(here)) return [problem(here, 'key', 'a configuration must not contain keys')];
    return secretsIn(inner, here, around);
  });
}

/** Returns whether a path leads to a header of the provider `http`. */
function isHeader(path: KeyPath): boolean {
  return path.length === 3 && plain(path[0]) === 'http' && plain(path[1]) === 'headers';
}

/** Matches the names of headers that usually contain a key. */
const SECRET_HEADER = /auth|key|token|secret|cookie|session|password|credential/i;

/** Matches the value of a header whose key comes from a variable, with the name of a scheme: `Bearer ${NAME}`. */
const FROM_VARIABLE = /^(?:[A-Za-z][A-Za-z-]{0,19} +)?\$\{[A-Za-z_]\w*\}$/;

/** Finds a key in a header. The key of a header such as authorization must come from a variable. */
function secretsInHeader(name: string, value: unknown, path: KeyPath): SecretProblem[] {
  if (typeof value !== 'string') return [];
  if (holdsSecret(value)) return [problem(path, 'value', 'contains a text that looks like a key')];
  if (!SECRET_HEADER.test(name) || FROM_VARIABLE.test(value)) return [];
  return [
    problem(path, 'value', 'must name a variable, as in ${EVENHAND_LLM_API_KEY} or Bearer ${EVENHAND_LLM_API_KEY}'),
  ];
}

function holdsSecret(text: string): boolean {
  return looksLikeSecret(text) || redactKeys(text) !== text;
}

function plain(key: string | number | undefined): string {
  return String(key)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
}

function isSecretName(path: KeyPath): boolean {
  // A target has the keys of a configuration.
  const keys = plain(path[0]) === 'targets' ? path.slice(2) : path;
  return (keys.length <= 1 || !OWN_NAMES.has(plain(keys[0]))) && SECRET_KEY.test(plain(path.at(-1)));
}

function problem(path: KeyPath, at: 'key' | 'value', message: string): SecretProblem {
  return {
    path,
    at,
    message: `${formatPath(concealedPath(path))}: ${message}; keys are read only from environment variables`,
  };
}

/** Redacts the secrets in a path. */
export function concealedPath(path: KeyPath): KeyPath {
  return path.map((part) => (typeof part === 'string' && holdsSecret(part) ? REDACTED : part));
}
