import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig, LLMProvider } from '../../schemas/llm-eval/llm-eval-document.ts';
import { isLoopback, readAddress, requireEncryption } from './address.ts';
import { type Environment, redactSecrets } from './secrets.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

/** Providers with an API of their own, which are reached over a network. */
type ApiProvider = Exclude<LLMProvider, 'http' | 'command' | 'local' | 'replay'>;

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

interface ApiHost {
  readonly keyVariable: string;
  /** Further variables that contain keys or credentials, or determine the default address. */
  readonly otherVariables?: readonly string[];
  /** The names of the variables with a key or credentials, for messages. */
  readonly keyWords: string;
  /**
   * The environment variable with an address to which the key may also be sent. Only the environment can allow this,
   * never a configuration file.
   */
  readonly addressVariable: string;
  /** Returns the default address; null if there is none. */
  official(env: Environment): string | null;
  readonly isKeyOptional: boolean;
}

const AWS_VARIABLES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
];

const OPENAI = 'https://api.openai.com/v1';

const HOSTS: Readonly<Record<ApiProvider, ApiHost>> = {
  openai: hostOf('OPENAI', OPENAI),
  openai_responses: hostOf('OPENAI', OPENAI),
  anthropic: hostOf('ANTHROPIC', 'https://api.anthropic.com/v1'),
  gemini: hostOf('GEMINI', 'https://generativelanguage.googleapis.com/v1beta'),
  bedrock: {
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
    otherVariables: AWS_VARIABLES,
    keyWords: 'AWS_BEARER_TOKEN_BEDROCK (or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY)',
    addressVariable: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
    official: (env) => `https://bedrock-runtime.${regionOf(env)}.amazonaws.com`,
    isKeyOptional: false,
  },
  ollama: { ...hostOf('OLLAMA', 'http://127.0.0.1:11434'), isKeyOptional: true },
  vllm: { ...hostOf('VLLM', 'http://127.0.0.1:8000/v1'), isKeyOptional: true },
  compatible: { ...hostOf('EVENHAND_LLM', null), isKeyOptional: true },
};

/** @param prefix the text with which the names of the provider's environment variables begin */
function hostOf(prefix: string, official: string | null): ApiHost {
  const keyVariable = `${prefix}_API_KEY`;
  const addressVariable = `${prefix}_BASE_URL`;
  return { keyVariable, keyWords: keyVariable, addressVariable, official: () => official, isKeyOptional: false };
}

/** The providers that are reached over a network. */
export const API_PROVIDERS = Object.keys(HOSTS) as readonly ApiProvider[];

const PROVIDERS = [...API_PROVIDERS, 'http', 'command', 'local', 'replay'] as const;

/** Returns whether a provider has an API of its own, which is reached over a network. */
export function isApiProvider(provider: LLMProvider): provider is ApiProvider {
  return Object.hasOwn(HOSTS, oneOf('provider', provider, PROVIDERS));
}

/**
 * Returns the names of the environment variables of a provider: the variables with its key and its address, and then
 * the other variables that it reads.
 */
export function variablesOf(provider: ApiProvider): readonly [key: string, address: string, ...others: string[]] {
  const { keyVariable, addressVariable, otherVariables = [] } = HOSTS[provider];
  return [keyVariable, addressVariable, ...otherVariables];
}

/** Returns the default address of a provider whose server is on this machine; null for other providers. */
export function localAddress(provider: ApiProvider): string | null {
  return HOSTS[provider].isKeyOptional ? HOSTS[provider].official({}) : null;
}

/** Returns the value of a variable with a key; null if the variable is not set or empty. */
export function keyIn(variable: string, env: Environment): string | null {
  const key = env[variable]?.trim() ?? '';
  if (key === '') return null;
  if (/^[\x21-\x7E]+$/.test(key)) return key;
  throw new ConfigValidationError(`The variable ${variable} has characters that a key cannot contain.`, {
    context: { variable },
    suggestion: 'Copy the key again, without spaces and line breaks.',
  });
}

/** Returns the AWS credentials in the environment; null if they are not set, or for a provider other than Bedrock. */
function credentialsOf(provider: ApiProvider, env: Environment): AwsCredentials | null {
  if (provider !== 'bedrock') return null;
  const [accessKeyId, secretAccessKey, sessionToken] = AWS_VARIABLES.slice(0, 3).map((name) => keyIn(name, env));
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null, region: regionOf(env) };
}

/** Returns whether a key or credentials are set. */
function hasKey(provider: ApiProvider, env: Environment): boolean {
  if (keyIn(HOSTS[provider].keyVariable, env) !== null) return true;
  const [id, secret] = AWS_VARIABLES;
  return provider === 'bedrock' && [id, secret].every((name) => keyIn(name ?? '', env) !== null);
}

/** @throws {ConfigValidationError} if no region is set, or if it is not the name of a region */
function regionOf(env: Environment): string {
  const region = [env['AWS_REGION'], env['AWS_DEFAULT_REGION']].map((value) => value?.trim() ?? '').find(Boolean) ?? '';
  // The region is a part of the host to which credentials are sent.
  if (/^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(region)) return region;
  const problem = region === '' ? 'is not set' : 'is not the name of a region';
  throw new ConfigValidationError(`The provider bedrock needs a region, and AWS_REGION ${problem}.`, {
    context: { variable: 'AWS_REGION' },
    suggestion: 'Set it in the environment, such as AWS_REGION=us-east-1.',
  });
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
    'Read the key command of the configuration, and use --allow-code (allowCode: true) if you trust the program.',
  );
}

function allowed(reason: string): LiveAccess {
  return Object.freeze({ isAllowed: true, reason, suggestion: null });
}

function refused(reason: string, suggestion: string): LiveAccess {
  return Object.freeze({ isAllowed: false, reason, suggestion });
}
