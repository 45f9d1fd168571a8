import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { isLoopback, readAddress, requireEncryption } from './address.ts';
import { type ApiProvider, credentialsOf, hasKey, HOSTS, isApiProvider, keyIn, PROVIDERS } from './provider-hosts.ts';
import { type Environment, redactSecrets } from './secrets.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

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
  /** The credentials that sign the requests to Amazon Bedrock; null for other providers, or if they are not set. */
  readonly credentials: AwsCredentials | null;
  /** The name of the variable with the key, for messages. */
  readonly keyVariable: string;
  /** Whether requests may be sent without a key. */
  readonly isKeyOptional: boolean;
  /** The environment variables. The secrets in the variables must not be shown. */
  readonly env: Environment;
}

/**
 * Determines the address and the key for a configuration's provider. Uses the address of the configuration. If the
 * configuration has none, uses the provider's own address. The environment cannot change the address, because answers
 * are cached by address.
 *
 * A key is sent only to its provider's own host, to this machine, or to the host named in the environment
 * (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and so on, and `EVENHAND_LLM_BASE_URL` for a compatible server). A
 * configuration file may come from a third party, and therefore cannot send the key to another host. A compatible
 * server, Ollama and vLLM may have any address if no key is set. No key is sent over plain http, except to this
 * machine.
 * @throws {ConfigValidationError} if the key must not be sent to the address, or if the address is invalid
 */
export function apiAccess(config: ApiConfig, env: Environment): ApiAccess {
  const { provider, model } = config;
  const { keyVariable, keyWords, isKeyOptional: isOptional } = HOSTS[provider];
  const url = chooseAddress(config, env);
  const key = keyIn(keyVariable, env);
  // A bearer token takes precedence over credentials, as in the SDKs of AWS.
  const credentials = key === null ? credentialsOf(provider, env) : null;
  const isSecret = key !== null || credentials !== null;
  if (!isOptional || isSecret) requireTrustedHost(provider, url, env);
  if (isSecret) requireEncryption(keyWords, 'base_url', url);
  const baseUrl = toBaseUrl(provider, url);
  const isDefault = config.baseUrl === null || baseUrl === officialOf(provider, env);
  const id = redactSecrets([provider, ...(isDefault ? [] : [baseUrl]), model].join(':'), env);
  return { ...config, id, baseUrl, key, credentials, keyVariable: keyWords, isKeyOptional: isOptional, env };
}

/** Returns the default address of a provider; null if there is none, or if it cannot be determined. */
function officialOf(provider: ApiProvider, env: Environment): string | null {
  try {
    return HOSTS[provider].official(env);
  } catch {
    return null;
  }
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
  if (baseUrl !== null) return readAddress('base_url', baseUrl);
  const official = HOSTS[provider].official(env);
  if (official === null) throw needsAddress(provider);
  const named = addressInEnvironment(HOSTS[provider].addressVariable, env);
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

/** Returns the address in an environment variable; null if the variable is not set or empty. */
export function addressInEnvironment(variable: string, env: Environment): URL | null {
  const value = env[variable]?.trim() ?? '';
  return value === '' ? null : readAddress(variable, value);
}

function requireTrustedHost(provider: ApiProvider, url: URL, env: Environment): void {
  const { addressVariable, keyVariable, keyWords, isKeyOptional: isOptional } = HOSTS[provider];
  const official = officialOf(provider, env);
  const own = official === null ? null : new URL(official);
  if (
    isLoopback(url) ||
    [own, addressInEnvironment(addressVariable, env)].some((known) => known?.origin === url.origin)
  ) {
    return;
  }
  const reason =
    own === null || isOptional
      ? `a configuration file alone cannot set the host for it, and ${addressVariable} does not name this host`
      : `a configuration file cannot set a host other than ${own.host} for it`;
  const otherwise = isOptional
    ? `unset ${keyVariable} if the server needs no key`
    : 'for another server, use the provider compatible';
  throw new ConfigValidationError(`The key in ${keyWords} is not sent to ${url.host}: ${reason}.`, {
    context: { parameter: 'base_url', host: url.host },
    suggestion: `To send the key to this host, set in the environment: ${addressVariable}=${url.origin}; ${otherwise}.`,
  });
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
  /**
   * Whether code that a configuration names may run on this machine (`--allow-code`): the program of the provider
   * `command`.
   * @defaultValue false
   */
  readonly allowCode?: boolean | undefined;
}

const LIVE_ACCESS_OPTION_NAMES: OptionNames<LiveAccessOptions> = { live: true, env: true, allowCode: true };

/**
 * The result of {@link liveAccess}: whether requests to the provider are allowed, and the reason (a clause without a
 * full stop). If requests are not allowed, the result also contains a suggestion.
 */
export type LiveAccess =
  | { readonly isAllowed: true; readonly reason: string; readonly suggestion: null }
  | { readonly isAllowed: false; readonly reason: string; readonly suggestion: string };

/**
 * Checks whether requests may be sent to a configuration's provider. Requests may cost money, so they require the
 * provider's key and a permission, which is `EVENHAND_LLM_ALLOW_LIVE=1` or `live`. The providers `compatible`, `ollama`,
 * `vllm` and `http` need only the permission, because their servers may not require a key. `command` runs a program on
 * this machine, and needs the permission `allowCode` instead. `local` and `replay` send nothing, and need neither a key
 * nor a permission. With `replay_only`, no request is ever sent.
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
  const { live = false, env = process.env, allowCode = false } = options;
  const provider = oneOf('provider', config.provider, PROVIDERS);
  if (provider === 'local' || provider === 'replay') return allowed(`the provider ${provider} sends nothing`);
  if (config.replayOnly) {
    return refused('replay_only is set', 'Set replay_only to false if you accept the cost of the calls.');
  }
  if (provider === 'command') return commandAccess(allowCode);
  if (isApiProvider(provider) && !HOSTS[provider].isKeyOptional && !hasKey(provider, env)) {
    const { keyWords } = HOSTS[provider];
    return refused(`${keyWords} is not set`, `Set ${keyWords} in the environment, or use the provider local.`);
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

/** No environment variable allows programs, because such a variable would apply to every configuration. */
function commandAccess(allowCode: boolean): LiveAccess {
  if (allowCode) return allowed('the program of the configuration may run');
  return refused(
    'the program of the configuration may not run without permission',
    'Read the key command of the configuration, and set allowCode if you trust the program.',
  );
}

function allowed(reason: string): LiveAccess {
  return Object.freeze({ isAllowed: true, reason, suggestion: null });
}

function refused(reason: string, suggestion: string): LiveAccess {
  return Object.freeze({ isAllowed: false, reason, suggestion });
}
