import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig, LLMProvider } from '../../schemas/llm-eval/llm-eval-document.ts';
import { type Environment, redactSecrets } from './secrets.ts';

/** Providers that are reached over a network. */
type ApiProvider = Exclude<LLMProvider, 'local' | 'replay'>;

/** The parts of a configuration that identify the provider and its address. */
interface ApiConfig extends Pick<LLMEvalConfig, 'model' | 'baseUrl' | 'timeoutMillis'> {
  readonly provider: ApiProvider;
}

/** The address and the key of a provider. */
export interface ApiAccess extends ApiConfig {
  readonly id: string;
  /** The address of the provider, without a trailing slash. */
  readonly baseUrl: string;
  /** The key of the provider; null if no key is set. */
  readonly key: string | null;
  readonly keyVariable: string;
  /** The environment variables. The secrets in the variables must not be shown. */
  readonly env: Environment;
}

interface ApiHost {
  readonly keyVariable: string;
  /**
   * The environment variable with an address to which the key may also be sent. Only the environment can allow this,
   * never a configuration file.
   */
  readonly addressVariable: string;
  readonly official: string | null;
}

const HOSTS: Readonly<Record<ApiProvider, ApiHost>> = {
  openai: hostOf('OPENAI', 'https://api.openai.com/v1'),
  anthropic: hostOf('ANTHROPIC', 'https://api.anthropic.com/v1'),
  compatible: hostOf('EVENHAND_LLM', null),
};

/** @param prefix the text with which the names of the provider's environment variables begin */
function hostOf(prefix: string, official: string | null): ApiHost {
  return { keyVariable: `${prefix}_API_KEY`, addressVariable: `${prefix}_BASE_URL`, official };
}

const PROVIDERS = ['openai', 'anthropic', 'compatible', 'local', 'replay'] as const;

/** The providers that are reached over a network. */
export const API_PROVIDERS = Object.keys(HOSTS) as readonly ApiProvider[];

/** Returns whether a provider is reached over a network. */
export function isApiProvider(provider: LLMProvider): provider is ApiProvider {
  return oneOf('provider', provider, PROVIDERS) in HOSTS;
}

/** Returns the names of the environment variables with a provider's key and address. */
export function variablesOf(provider: ApiProvider): readonly [key: string, address: string] {
  return [HOSTS[provider].keyVariable, HOSTS[provider].addressVariable];
}

/** Returns the key of a provider from the environment; null if the variable is not set or empty. */
function keyOf(provider: ApiProvider, env: Environment): string | null {
  const variable = HOSTS[provider].keyVariable;
  const key = env[variable]?.trim() ?? '';
  if (key === '') return null;
  if (/^[\x21-\x7E]+$/.test(key)) return key;
  throw new ConfigValidationError(`The variable ${variable} has characters that a key cannot contain.`, {
    context: { variable },
    suggestion: 'Copy the key again, without spaces and line breaks.',
  });
}

/**
 * Determines the address and the key for a configuration's provider. Uses the address of the configuration. If the
 * configuration has none, uses the provider's own address. The environment cannot change the address, because answers
 * are cached by address.
 *
 * A key is sent only to its provider's own host, to this machine, or to the host named in the environment
 * (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, and `EVENHAND_LLM_BASE_URL` for a compatible server). A configuration file
 * may come from a third party, and therefore cannot send the key to another host. A compatible server may have any
 * address if no key is set. No key is sent over plain http, except to this machine.
 * @throws {ConfigValidationError} if the key must not be sent to the address, or if the address is invalid
 */
export function apiAccess(config: ApiConfig, env: Environment): ApiAccess {
  const { provider, model } = config;
  const { keyVariable, official } = HOSTS[provider];
  const url = chooseAddress(config, env);
  const key = keyOf(provider, env);
  if (official !== null || key !== null) requireTrustedHost(provider, url, env);
  if (key !== null) requireEncryption(provider, url);
  const baseUrl = toBaseUrl(provider, url);
  const id = redactSecrets([provider, ...(baseUrl === official ? [] : [baseUrl]), model].join(':'), env);
  return { ...config, id, baseUrl, key, keyVariable, env };
}

/**
 * Normalizes an address. If an address of Anthropic has no version, the version is added. Users often omit the version,
 * because Anthropic's SDKs accept such addresses.
 */
function toBaseUrl(provider: ApiProvider, url: URL): string {
  const address = url.href.replace(/\/+$/, '');
  return provider === 'anthropic' && !address.endsWith('/v1') ? `${address}/v1` : address;
}

function chooseAddress({ provider, baseUrl }: ApiConfig, env: Environment): URL {
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
    suggestion: 'Set the address of the server, such as base_url: http://127.0.0.1:11434/v1.',
  });
}

/**
 * Creates the error for an address that is set in the environment, but not in the configuration. Without this error,
 * the provider's own address could receive prompts that are meant for the other host.
 */
function askedElsewhere(provider: ApiProvider, { href, host }: URL): ConfigValidationError {
  const variable = HOSTS[provider].addressVariable;
  return new ConfigValidationError(`${variable} names ${host}, but the configuration has no base_url.`, {
    context: { parameter: 'base_url', host },
    suggestion: `Choose one: set base_url: ${href} in the configuration, or unset ${variable}.`,
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
      ? `a configuration file alone cannot set the host for it, and ${addressVariable} does not name this host`
      : `a configuration file cannot set a host other than ${own.host} for it`;
  const otherwise =
    own === null
      ? `unset ${keyVariable} if the server needs no key`
      : 'for another server, use the provider compatible';
  throw new ConfigValidationError(`The key in ${keyVariable} is not sent to ${url.host}: ${reason}.`, {
    context: { parameter: 'base_url', host: url.host },
    suggestion: `To send the key to this host, set in the environment: ${addressVariable}=${url.origin}; ${otherwise}.`,
  });
}

function requireEncryption(provider: ApiProvider, url: URL): void {
  if (url.protocol === 'https:' || isLoopback(url)) return;
  throw new ConfigValidationError(
    `The key in ${HOSTS[provider].keyVariable} is not sent to ${url.host} over http, where others can read it.`,
    { context: { parameter: 'base_url', host: url.host }, suggestion: 'Use an https address, or unset the key.' },
  );
}

/**
 * Parses the address of a server.
 * @param name the field or variable that contains the address
 * @throws {ConfigValidationError} if it is not an http or https address, or if it contains a user, a password, a query
 * or a fragment
 */
function readAddress(name: string, given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // The value is not shown, because it may contain a password.
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalid(name, 'must be an http or https URL', 'Use the full URL, such as https://llm.example.org/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(name, 'must not contain a user or password', 'Keys are read only from the environment.');
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(given)) {
    throw invalid(
      name,
      'must end with its path, without a query or fragment',
      'Use the URL up to its path, such as …/v1.',
    );
  }
  return url;
}

/** Returns whether an address belongs to this machine. No data is then sent over a network. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(name: string, required: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(`${name} ${required}.`, { context: { parameter: name }, suggestion });
}

/** Options of {@link liveAccess}. */
export interface LiveAccessOptions {
  /**
   * Whether requests to a provider are allowed (`--live`). The variable EVENHAND_LLM_ALLOW_LIVE=1 also allows requests.
   * @defaultValue false
   */
  readonly live?: boolean | undefined;
  /**
   * The environment variables, which contain the keys and the permission for requests.
   * @defaultValue process.env
   */
  readonly env?: Environment | undefined;
}

const LIVE_ACCESS_OPTION_NAMES: OptionNames<LiveAccessOptions> = { live: true, env: true };

/**
 * The result of {@link liveAccess}: whether requests to the provider are allowed, and the reason (a clause without a
 * full stop). If requests are not allowed, the result also contains a suggestion.
 */
export type LiveAccess =
  | { readonly isAllowed: true; readonly reason: string; readonly suggestion: null }
  | { readonly isAllowed: false; readonly reason: string; readonly suggestion: string };

/**
 * Checks whether requests may be sent to a configuration's provider. Requests may cost money, so they require the
 * provider's key and a permission, which is `EVENHAND_LLM_ALLOW_LIVE=1` or `live`. A compatible server needs only the
 * permission, because it may not require a key. `local` and `replay` send nothing, and need neither a key nor a
 * permission. With `replay_only`, no request is ever sent.
 * @throws {ConfigValidationError} if a key has invalid characters
 * @example
 * ```ts
 * import { liveAccess } from 'evenhand/llm-evals';
 *
 * const access = liveAccess({ provider: 'openai', replayOnly: false }, { env: { OPENAI_API_KEY: 'a-key-of-mine' } });
 * console.log(access.isAllowed, access.suggestion);
 * // false Set EVENHAND_LLM_ALLOW_LIVE=1 or use --live if you accept the cost of the calls.
 * ```
 */
export function liveAccess(
  config: Pick<LLMEvalConfig, 'provider' | 'replayOnly'>,
  options: LiveAccessOptions = {},
): LiveAccess {
  assertKnownOptions('liveAccess', options, LIVE_ACCESS_OPTION_NAMES);
  const { live = false, env = process.env } = options;
  const { provider } = config;
  if (!isApiProvider(provider)) return allowed(`the provider ${provider} sends nothing`);
  if (config.replayOnly) {
    return refused('replay_only is set', 'Set replay_only to false if you accept the cost of the calls.');
  }
  const key = keyOf(provider, env);
  if (key === null && provider !== 'compatible') {
    const variable = HOSTS[provider].keyVariable;
    return refused(`${variable} is not set`, `Set ${variable} in the environment, or use the provider local.`);
  }
  if (live) return allowed('live calls are allowed for this run');
  if (env['EVENHAND_LLM_ALLOW_LIVE']?.trim() === '1') {
    return allowed('live calls are allowed by EVENHAND_LLM_ALLOW_LIVE');
  }
  return refused(
    'live calls are not allowed, because EVENHAND_LLM_ALLOW_LIVE is not 1',
    'Set EVENHAND_LLM_ALLOW_LIVE=1 or use --live if you accept the cost of the calls.',
  );
}

function allowed(reason: string): LiveAccess {
  return Object.freeze({ isAllowed: true, reason, suggestion: null });
}

function refused(reason: string, suggestion: string): LiveAccess {
  return Object.freeze({ isAllowed: false, reason, suggestion });
}
