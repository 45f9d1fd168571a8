import { ConfigValidationError } from '../../../exceptions/index.ts';
import { oneOf } from '../../../internal/one-of.ts';
import type { LLMEvalConfig, LLMProvider } from '../../../schemas/llm-eval/llm-eval-config.ts';
import { type Environment, redactSecrets } from '../secrets.ts';
import { isLoopback, readAddress } from './address.ts';

/** What of a configuration says who answers, and where. */
type ProviderConfig = Pick<LLMEvalConfig, 'provider' | 'model' | 'baseUrl' | 'timeoutMillis'>;

/** Providers that are asked over a network. */
type ApiProvider = Exclude<LLMProvider, 'local' | 'replay'>;

/** Where a provider is asked, and with which key. */
export interface ApiAccess {
  readonly provider: ApiProvider;
  readonly model: string;
  readonly id: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** null where none is set. */
  readonly key: string | null;
  readonly keyVariable: string;
  readonly timeoutMillis: number;
  /** What must not be shown, as variables. */
  readonly env: Environment;
}

interface ApiHost {
  readonly keyVariable: string;
  /** Where the environment, and no file, may send the key. */
  readonly addressVariable: string;
  readonly official: string | null;
}

const HOSTS: Readonly<Record<ApiProvider, ApiHost>> = {
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    addressVariable: 'OPENAI_BASE_URL',
    official: 'https://api.openai.com/v1',
  },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    addressVariable: 'ANTHROPIC_BASE_URL',
    official: 'https://api.anthropic.com/v1',
  },
  compatible: { keyVariable: 'EVENHAND_LLM_API_KEY', addressVariable: 'EVENHAND_LLM_BASE_URL', official: null },
};

const PROVIDERS = ['openai', 'anthropic', 'compatible', 'local', 'replay'] as const;

/** The providers that are asked over a network. */
export const API_PROVIDERS = Object.keys(HOSTS) as readonly ApiProvider[];

/** Whether a provider is asked over a network. */
export function isApiProvider(provider: LLMProvider): provider is ApiProvider {
  return oneOf('provider', provider, PROVIDERS) in HOSTS;
}

/** Returns the names of the variables with a provider's key and address. */
export function variablesOf(provider: ApiProvider): readonly [key: string, address: string] {
  return [HOSTS[provider].keyVariable, HOSTS[provider].addressVariable];
}

/** The variable with a provider's key. */
export function keyVariableOf(provider: ApiProvider): string {
  return HOSTS[provider].keyVariable;
}

/** A provider's key from the environment; null where it is not set or empty. */
export function keyOf(provider: ApiProvider, env: Environment): string | null {
  const variable = keyVariableOf(provider);
  const key = env[variable]?.trim() ?? '';
  if (key === '') return null;
  if (/^[\x21-\x7E]+$/.test(key)) return key;
  throw new ConfigValidationError(`The variable ${variable} has characters that no key has.`, {
    context: { variable },
    suggestion: 'Copy the key again, without spaces and line breaks.',
  });
}

/**
 * Where a configuration's provider is asked: at the configuration's address, or
 * the provider's own. It alone decides, since answers are cached by it.
 *
 * A key goes to its provider's own host, to this machine, or to the host that
 * the environment names (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, and
 * `EVENHAND_LLM_BASE_URL` for a compatible server): a configuration file, which
 * may come from elsewhere, cannot send it to another. A compatible server without
 * a key may be anywhere. No key goes over plain http, except to this machine.
 * @throws {ConfigValidationError} for an address that may not have the key, or is none
 */
export function apiAccess(config: ProviderConfig & { readonly provider: ApiProvider }, env: Environment): ApiAccess {
  const { provider, model, timeoutMillis } = config;
  const { keyVariable, official } = HOSTS[provider];
  const url = chooseAddress(config, env);
  const key = keyOf(provider, env);
  if (official !== null || key !== null) requireTrustedHost(provider, url, env);
  if (key !== null) requireEncryption(provider, url);
  const baseUrl = toBaseUrl(provider, url);
  const id = redactSecrets([provider, ...(baseUrl === official ? [] : [baseUrl]), model].join(':'), env);
  return { provider, model, id, baseUrl, key, keyVariable, timeoutMillis, env };
}

/** Anthropic's own address is often given without the version, as its SDKs take it. */
function toBaseUrl(provider: ApiProvider, url: URL): string {
  const address = url.href.replace(/\/+$/, '');
  return provider === 'anthropic' && !address.endsWith('/v1') ? `${address}/v1` : address;
}

function chooseAddress(
  { provider, baseUrl }: ProviderConfig & { readonly provider: ApiProvider },
  env: Environment,
): URL {
  const { official } = HOSTS[provider];
  if (baseUrl !== null) return readAddress('base_url', baseUrl);
  if (official === null) throw needsAddress(provider);
  const named = addressOfEnvironment(provider, env);
  if (named === null || named.origin === new URL(official).origin) return new URL(official);
  throw askedElsewhere(provider, named);
}

function needsAddress(provider: ApiProvider): ConfigValidationError {
  return new ConfigValidationError(`The provider ${provider} needs a base_url.`, {
    context: { parameter: 'base_url' },
    suggestion: 'Name where the server answers, as in base_url: http://127.0.0.1:11434/v1.',
  });
}

/**
 * Neither the provider nor the environment's host would be right: one gets what was not meant for it,
 * and answers of the other would be cached under the provider's own name.
 */
function askedElsewhere(provider: ApiProvider, { href, host }: URL): ConfigValidationError {
  const variable = HOSTS[provider].addressVariable;
  return new ConfigValidationError(`${variable} names ${host}, and the configuration no base_url.`, {
    context: { parameter: 'base_url', host },
    suggestion: `Say which is meant: base_url: ${href} in the configuration, or unset ${variable}.`,
  });
}

function addressOfEnvironment(provider: ApiProvider, env: Environment): URL | null {
  const { addressVariable } = HOSTS[provider];
  const value = env[addressVariable]?.trim() ?? '';
  return value === '' ? null : readAddress(addressVariable, value);
}

function requireTrustedHost(provider: ApiProvider, url: URL, env: Environment): void {
  const { official, addressVariable, keyVariable } = HOSTS[provider];
  const own = official === null ? null : new URL(official);
  if (isLoopback(url) || [own, addressOfEnvironment(provider, env)].some((known) => known?.origin === url.origin)) {
    return;
  }
  const reason =
    own === null
      ? `a configuration file alone cannot name the host for it, and ${addressVariable} does not name this one`
      : `a configuration file cannot name another host than ${own.host} for it`;
  const otherwise =
    own === null
      ? `unset ${keyVariable} if it needs none`
      : 'for a server of another maker use the provider compatible';
  throw new ConfigValidationError(`The key in ${keyVariable} is not sent to ${url.host}: ${reason}.`, {
    context: { parameter: 'base_url', host: url.host },
    suggestion: `If this host is to have the key, say so in the environment: ${addressVariable}=${url.origin}; ${otherwise}.`,
  });
}

function requireEncryption(provider: ApiProvider, url: URL): void {
  if (url.protocol === 'https:' || isLoopback(url)) return;
  throw new ConfigValidationError(
    `The key in ${keyVariableOf(provider)} is not sent to ${url.host} over http, where others can read it.`,
    { context: { parameter: 'base_url', host: url.host }, suggestion: 'Use an https address, or unset the key.' },
  );
}
