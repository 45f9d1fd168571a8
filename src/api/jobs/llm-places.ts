import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

import type { LLMEvalConfig, LLMProvider } from '../../schemas/llm-eval/llm-eval-config.ts';
import { LLM_EVAL_FIELDS } from '../../schemas/llm-eval/llm-eval-document.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** What a service allows a configuration that came from outside. */
export interface LlmPlaces {
  /** The folder that paths are confined to; null where none may be named. */
  readonly llmFolder: string | null;
  /** Where answers are kept that a configuration names no folder for, where there is no `llmFolder`. */
  readonly ownCache: string;
  /** The service's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where an operator names a provider's address. */
const ADDRESS_VARIABLES: Readonly<Partial<Record<LLMProvider, string>>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
  compatible: 'EVENHAND_LLM_BASE_URL',
};

const DEFAULT_CACHE = LLM_EVAL_FIELDS.cache_dir.parse(undefined);

/**
 * A configuration whose files lie in the service's folder for language models and nowhere else, and whose provider is
 * asked at its own address or the one that the operator named.
 * @throws {ServiceProblem} 403 for another file or address, 422 for a file that is not there
 */
export async function confineLlmConfig(config: LLMEvalConfig, places: LlmPlaces): Promise<LLMEvalConfig> {
  assertAddress(config, places.env);
  const { llmFolder } = places;
  const inside = (field: string, given: string): Promise<string> => confine(field, given, llmFolder);
  const fileInside = async (field: string, given: string): Promise<string> => {
    const target = await inside(field, given);
    await assertFile(field, given, target);
    return target;
  };
  const { replayPath, bbqPath, cacheDir } = config;
  const isOwnCache = llmFolder === null && cacheDir === DEFAULT_CACHE;
  return Object.freeze({
    ...config,
    replayPath: replayPath === null ? null : await fileInside('replay_path', replayPath),
    bbqPath: bbqPath === null ? null : await fileInside('bbq_path', bbqPath),
    cacheDir: isOwnCache ? places.ownCache : await inside('cache_dir', cacheDir),
  });
}

async function confine(field: string, given: string, llmFolder: string | null): Promise<string> {
  if (llmFolder === null) {
    throw refused(field, 'This service has no folder that a configuration may name files in.', NO_FOLDER);
  }
  const root = await realpath(llmFolder);
  const target = path.resolve(root, given);
  if (!path.isAbsolute(given) && isInside(root, target) && isInside(root, await realPlace(target))) return target;
  throw refused(field, `${field} must be a path inside the service's folder for language models.`, RELATIVE);
}

/** @throws {ServiceProblem} 422 where the file is not there */
async function assertFile(field: string, given: string, target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found?.isFile() === true) return;
  const what = found === undefined ? 'there is no such file' : 'it is not a file';
  const detail = `${field} must name a file in the service's folder for language models. Got '${given}': ${what}.`;
  throw new ServiceProblem(422, {
    detail,
    suggestion: 'Check the name, or ask the operator of the service to put the file there.',
    errors: [{ pointer: `/${field}`, detail }],
  });
}

const NO_FOLDER = 'Leave it out, or ask the operator of the service for such a folder.';
const RELATIVE = "Give a relative path that stays inside, such as 'answers.ndjson'.";

function isInside(root: string, target: string): boolean {
  return target === root || target.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

/** Where a path leads by symbolic links; of what is not there yet the folder that is. */
async function realPlace(target: string): Promise<string> {
  try {
    return await realpath(target);
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const above = path.dirname(target);
    // A link to nowhere, a loop, or what may not be looked at is no place to be.
    if (!isAbsent || above === target || (await isLink(target))) return path.parse(target).root;
    return path.join(await realPlace(above), path.basename(target));
  }
}

async function isLink(target: string): Promise<boolean> {
  const { lstat } = await import('node:fs/promises');
  return lstat(target).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** A request must not make the service call a host of its choice. */
function assertAddress({ provider, baseUrl }: LLMEvalConfig, env: LlmPlaces['env']): void {
  const variable = ADDRESS_VARIABLES[provider];
  if (baseUrl === null || variable === undefined) return;
  const named = env[variable]?.trim() ?? '';
  if (URL.canParse(named) && URL.canParse(baseUrl) && new URL(named).origin === new URL(baseUrl).origin) return;
  throw refused(
    'base_url',
    `This service does not ask the provider ${provider} at another address than its own.`,
    `Leave base_url out, or ask the operator of the service to name that address in ${variable}.`,
  );
}

function refused(field: string, detail: string, suggestion: string): ServiceProblem {
  return new ServiceProblem(403, { detail, suggestion, errors: [{ pointer: `/${field}`, detail }] });
}
