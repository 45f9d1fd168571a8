import { API_PROVIDERS, variablesOf } from '../../llm-evals/client/provider-hosts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that the operating system, Node.js and the numeric libraries read. */
const SYSTEM_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TMP|TEMP|TZ|LANG|LANGUAGE|LC_\w+|TERM|SystemRoot|windir|ComSpec|USERPROFILE|LOCALAPPDATA|APPDATA|PATHEXT|NODE_\w+|UV_\w+|SSL_CERT_\w+|LD_LIBRARY_PATH|DYLD_\w+|OMP_\w+|MKL_\w+|TF_\w+|CUDA_\w+|NVIDIA_\w+|VK_\w+|XDG_\w+|DISPLAY)$/i;

/** The variables that the package reads in a worker or a thread. These variables contain no secrets. */
const OWN_VARIABLES = new Set([
  'EVENHAND_LOG_LEVEL',
  'EVENHAND_LOG_FILE',
  'EVENHAND_JSON_LOGS',
  'EVENHAND_TF_BACKEND',
  'EVENHAND_LLM_ALLOW_LIVE',
]);

/**
 * Returns the variables that workers and threads of the service inherit. All other variables stay in the primary
 * process. Examples are API keys and the addresses of tracking servers.
 */
export function inheritedEnvironment(env: Environment): Record<string, string> {
  return pick(env, (name) => OWN_VARIABLES.has(name) || SYSTEM_VARIABLES.test(name));
}

/**
 * Returns the keys and addresses of all providers whose names occur in the text of a configuration. The provider of the
 * configuration is always among them.
 */
export function providerEnvironment(config: string, env: Environment): Record<string, string> {
  const variables = API_PROVIDERS.filter((provider) => config.includes(provider)).flatMap(variablesOf);
  return pick(env, (name) => variables.includes(name));
}

function pick(env: Environment, isWanted: (name: string) => boolean): Record<string, string> {
  const isGiven = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined;
  return Object.fromEntries(
    Object.entries(env)
      .filter(isGiven)
      .filter(([name]) => isWanted(name)),
  );
}
