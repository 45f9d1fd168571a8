import { ConfigValidationError } from '../../exceptions/index.ts';
import { oneOf } from '../../internal/arguments.ts';
import type { LLMProvider } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { Environment } from './secrets.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

/** Providers with an API of their own, which are reached over a network. */
export type ApiProvider = Exclude<LLMProvider, 'http' | 'command' | 'local' | 'replay'>;

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

/** The hosts, keys and addresses of providers. */
export const HOSTS: Readonly<Record<ApiProvider, ApiHost>> = {
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

/** The names of all providers. */
export const PROVIDERS = [...API_PROVIDERS, 'http', 'command', 'local', 'replay'] as const;

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
export function credentialsOf(provider: ApiProvider, env: Environment): AwsCredentials | null {
  if (provider !== 'bedrock') return null;
  const [accessKeyId, secretAccessKey, sessionToken] = AWS_VARIABLES.slice(0, 3).map((name) => keyIn(name, env));
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null, region: regionOf(env) };
}

/** Returns whether a key or credentials are set. */
export function hasKey(provider: ApiProvider, env: Environment): boolean {
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
