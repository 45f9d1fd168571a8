import { isMapping } from '../../internal/values.ts';
import { formatPath, type KeyPath, type PathFault } from '../../io/config-text/path-fault.ts';
import { looksLikeSecret, REDACTED, redactKeys } from '../client/secrets.ts';

/** Keys that hold a secret, as they are without capitals, spaces and marks. */
const SECRET_KEY =
  /(?:(?:api|access|secret|private|auth|client|subscription)key|secret|password|passwd|passphrase|authorization|bearer|credentials?)$|^(?:key|auth|(?:api|auth|access|bearer|session|refresh)?token)$/;

/** Mappings whose keys are names that the user gives. */
const OWN_NAMES = new Set(['prompttemplates', 'counterfactual', 'prices']);

/** Which variable each provider's key is read from. */
const VARIABLES: Readonly<Partial<Record<string, string>>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  compatible: 'EVENHAND_LLM_API_KEY',
};

/** Everywhere that a configuration holds what looks like a key, or has a place for one. What it holds is not told. */
export function findSecrets(root: unknown): PathFault[] {
  const provider = isMapping(root) ? String(root['provider']) : '';
  const variable = VARIABLES[provider] ?? 'OPENAI_API_KEY, ANTHROPIC_API_KEY or EVENHAND_LLM_API_KEY';
  const suggestion = `Take it out and set the variable ${variable}; a key that others have seen should be revoked.`;
  return secretsIn(root, [], new Set()).map((fault) => ({ ...fault, suggestion }));
}

type SecretFault = Omit<PathFault, 'suggestion'>;

/** @param above what the value stands in: code may give a mapping that holds itself */
function secretsIn(value: unknown, path: KeyPath, above: ReadonlySet<unknown>): SecretFault[] {
  if (typeof value === 'string') return holdsSecret(value) ? [fault(path, 'value', 'holds what looks like a key')] : [];
  if (typeof value !== 'object' || value === null || above.has(value)) return [];
  const around = new Set([...above, value]);
  if (Array.isArray(value)) return value.flatMap((item, index) => secretsIn(item, [...path, index], around));
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    if (holdsSecret(key)) return [fault(here, 'key', 'has a key that looks like a secret')];
    if (isSecretName(here)) return [fault(here, 'key', 'no key belongs in a configuration')];
    return secretsIn(inner, here, around);
  });
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
  return (path.length === 1 || !OWN_NAMES.has(plain(path[0]))) && SECRET_KEY.test(plain(path.at(-1)));
}

function fault(path: KeyPath, at: 'key' | 'value', message: string): SecretFault {
  return { path, at, message: `${formatPath(concealedPath(path))}: ${message}; keys are read from variables only` };
}

/** A path that can be shown. */
export function concealedPath(path: KeyPath): KeyPath {
  return path.map((part) => (typeof part === 'string' && holdsSecret(part) ? REDACTED : part));
}
