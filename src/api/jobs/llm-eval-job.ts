import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

import { CacheMissError, DataValidationError } from '../../exceptions/index.ts';
import { assertPlannedGate, judgeLlmEval } from '../../integration/llm-eval-gate.ts';
import { targetConfigs } from '../../llm-evals/config/build-llm-eval-config.ts';
import { isApiProvider, localAddress, variablesOf } from '../../llm-evals/client/provider-hosts.ts';
import { parseLlmEvalConfig } from '../../llm-evals/config/index.ts';
import { dryRunToJson } from '../../llm-evals/dry-run/dry-run-json.ts';
import { targetsEstimateToJson } from '../../llm-evals/dry-run/targets-estimate.ts';
import { llmEvalToHtml, llmEvalToJson, llmEvalToMarkdown } from '../../llm-evals/report/index.ts';
import { estimateDryRun } from '../../llm-evals/run/dry-run.ts';
import { estimateTargets } from '../../llm-evals/run/estimate-targets.ts';
import { hostOf, OLLAMA } from '../../llm-evals/run/get-embedder.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import { hasTargets, type LlmTargetsResult, targetMetrics } from '../../llm-evals/run/llm-targets-result.ts';
import { runLlmEval } from '../../llm-evals/run/run-llm-eval.ts';
import { plannedTargetMetrics, runLlmTargets } from '../../llm-evals/run/run-llm-targets.ts';
import type { RunLlmEvalOptions } from '../../llm-evals/run/run-options.ts';
import { type LlmEvalBody, parseLlmEvalBody } from '../../schemas/llm-eval-body.ts';
import { LLM_EVAL_FIELDS, type LLMEvalConfig, type LlmTarget } from '../../schemas/llm-eval/llm-eval-document.ts';
import { parseJson } from '../problem/parse-json.ts';
import { fieldProblem, type ServiceProblem } from '../problem/service-problem.ts';
import type { JobContext, JobOutcome, LlmEvalJob } from './job.ts';
import { writeReports } from './run-files.ts';

/** The paths and environment variables that a configuration from a client may use. */
export interface LlmPaths {
  /** The folder that must contain all paths; null if paths are not allowed. */
  readonly llmFolder: string | null;
  /** The default cache folder if there is no `llmFolder`. */
  readonly ownCache: string;
  /** The environment of the service. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const DEFAULT_CACHE = LLM_EVAL_FIELDS.cache_dir.parse(undefined);

/**
 * Restricts a configuration from a client. The files of the configuration must be in the service's folder for language
 * models. The addresses of its provider, of its judge and of its targets must be the default address or the address that
 * the operator set. The providers `http` and `command`, and modules of metrics, are not allowed.
 * @throws {ServiceProblem} 403 for a file, an address or a provider that is not allowed, 422 for a file that does not exist
 */
export async function confineLlmConfig(config: LLMEvalConfig, paths: LlmPaths): Promise<LLMEvalConfig> {
  assertProvider(config, '', paths.env);
  assertEmbeddingAddress(config, paths.env);
  if (config.judge !== null) assertProvider(config.judge, 'judge/', paths.env);
  for (const [index, target] of Object.values(targetConfigs(config)).entries()) {
    assertProvider(target, `targets/${String(index)}/`, paths.env);
  }
  if (config.metrics !== null) {
    throw refused('metrics', 'This service does not run the code of configurations.', 'Omit metrics.');
  }
  const { llmFolder } = paths;
  const fileInside = async (field: string, given: string | null): Promise<string | null> => {
    if (given === null) return null;
    const target = await confine(field, given, llmFolder);
    const found = await stat(target).catch(() => undefined);
    if (found?.isFile() === true) return target;
    const what = found === undefined ? 'there is no such file' : 'it is not a file';
    const detail = `${field} must name a file in the service's folder for language models. Got '${given}': ${what}.`;
    const suggestion = 'Check the name, or ask the operator of the service to put the file there.';
    throw fieldProblem(422, `/${field}`, detail, suggestion);
  };
  const { replayPath, bbqPath, benchmarks, answersPath, promptsPath, cacheDir } = config;
  const isOwnCache = llmFolder === null && cacheDir === DEFAULT_CACHE;
  const confined: LlmTarget[] = [];
  for (const [index, target] of (config.targets ?? []).entries()) {
    const own = await fileInside(`targets/${String(index)}/replay_path`, target.replayPath ?? null);
    confined.push(own === null ? target : { ...target, replayPath: own });
  }
  return Object.freeze({
    ...config,
    replayPath: await fileInside('replay_path', replayPath),
    bbqPath: await fileInside('bbq_path', bbqPath),
    answersPath: await fileInside('answers_path', answersPath),
    promptsPath: await fileInside('prompts_path', promptsPath),
    benchmarks: benchmarks && (await confineBenchmarks(benchmarks, fileInside)),
    targets: config.targets && confined,
    cacheDir: isOwnCache ? paths.ownCache : await confine('cache_dir', cacheDir, llmFolder),
  });
}

type Benchmarks = NonNullable<LLMEvalConfig['benchmarks']>;

async function confineBenchmarks(
  benchmarks: Benchmarks,
  fileInside: (field: string, given: string) => Promise<string | null>,
): Promise<Benchmarks> {
  const sources = Object.entries(benchmarks).map(async ([name, source]) => {
    const paths = source.path.map(async (path) => (await fileInside(`benchmarks/${name}`, path)) ?? path);
    return [name, { ...source, path: await Promise.all(paths) }] as const;
  });
  return Object.fromEntries(await Promise.all(sources));
}

async function confine(field: string, given: string, llmFolder: string | null): Promise<string> {
  if (llmFolder === null) {
    throw refused(
      field,
      `${field} names a path, but this service has no folder for the files of configurations.`,
      NO_FOLDER,
    );
  }
  const root = await realpath(llmFolder);
  const target = path.resolve(root, given);
  if (!path.isAbsolute(given) && isInside(root, target) && isInside(root, await realPath(target))) return target;
  throw refused(field, `${field} must be a path inside the service's folder for language models.`, RELATIVE);
}

const NO_FOLDER = 'Omit this field, or ask the operator of the service to set up a folder.';
const RELATIVE = "Use a relative path inside the folder, such as 'answers.ndjson'.";

function isInside(root: string, target: string): boolean {
  return target === root || target.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

/**
 * Resolves the symbolic links of a path. If the path does not exist yet, the links of its nearest existing parent
 * folder are resolved.
 */
async function realPath(target: string): Promise<string> {
  try {
    return await realpath(target);
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const above = path.dirname(target);
    // A path is not allowed if it ends at a link without a target, is part of a loop of links, or cannot be read.
    const isLink = await lstat(target)
      .then((found) => found.isSymbolicLink())
      .catch(() => false);
    if (!isAbsent || above === target || isLink) return path.parse(target).root;
    return path.join(await realPath(above), path.basename(target));
  }
}

/**
 * Throws if a configuration would make the service send requests to a host that the client chose, or run a program. A
 * server without a key on the service's own machine or network is used only if the operator named it.
 * @param section the JSON pointer of the object with the provider, such as `judge/`; empty for the configuration
 */
function assertProvider(
  { provider, baseUrl }: Pick<LLMEvalConfig, 'provider' | 'baseUrl'>,
  section: string,
  env: LlmPaths['env'],
): void {
  const field = `${section}provider`;
  if (provider === 'command') {
    throw refused(field, 'This service never runs the program of a configuration.', 'Use another provider.');
  }
  if (provider === 'http') {
    const detail = 'This service sends no requests to an address that a configuration chooses.';
    throw refused(field, detail, "Use another provider, or the command 'evenhand llm-eval' on your own machine.");
  }
  if (!isApiProvider(provider)) return;
  const [, variable] = variablesOf(provider);
  const address = baseUrl ?? localAddress(provider);
  if (address === null) return;
  const named = env[variable]?.trim() ?? '';
  if (URL.canParse(named) && URL.canParse(address) && new URL(named).origin === new URL(address).origin) return;
  if (baseUrl === null) {
    const detail = `This service does not call the provider ${provider}, because its operator has not set up a server.`;
    throw refused(field, detail, `Ask the operator of the service to set ${variable}=${address}.`);
  }
  throw refused(
    `${section}base_url`,
    `This service calls the provider ${provider} only at its default address.`,
    `Omit ${field.replace('/', '.')}, or ask the operator of the service to set that address in ${variable}.`,
  );
}

/** Ollama has no default address in a service, because its address is that of the machine of the service. */
function assertEmbeddingAddress({ embedding }: LLMEvalConfig, env: LlmPaths['env']): void {
  if (embedding === null) return;
  const { provider, baseUrl = provider === 'ollama' ? OLLAMA : null } = embedding;
  assertProvider({ provider: hostOf(provider), baseUrl }, 'embedding/', env);
}

function refused(field: string, detail: string, suggestion: string): ServiceProblem {
  return fieldProblem(403, `/${field}`, detail, suggestion);
}

/**
 * The name of the default cache folder. The folder is next to the folders of the runs, so that later runs can use the
 * cache.
 */
const OWN_CACHE = '.llm-cache';

/**
 * Runs `POST /llm-eval`: sends prompts to a language model, or, in a dry run, only reports which prompts it would send.
 */
export async function runLlmEvalJob({ body, llmFolder }: LlmEvalJob, context: JobContext): Promise<JobOutcome> {
  const request = parseLlmEvalBody(parseJson(body));
  const { config: sent } = request;
  const given = typeof sent === 'string' ? await parseLlmEvalConfig(sent, 'config') : parseLlmEvalConfig(sent);
  const ownCache = path.join(path.dirname(context.folder), OWN_CACHE);
  const config = await confineLlmConfig(given, { llmFolder, ownCache, env: process.env });
  return request.dry_run ? printDryRun(config, request, context) : evaluate(config, request, context);
}

async function printDryRun(config: LLMEvalConfig, body: LlmEvalBody, { folder }: JobContext): Promise<JobOutcome> {
  if (config.targets !== null) {
    const total = await estimateTargets(config, { minGroupSize: body.min_group_size });
    const written = await writeReports(folder, total.toMarkdown(), undefined);
    return { body: JSON.stringify(targetsEstimateToJson(total)), files: written };
  }
  const estimate = await estimateDryRun(config, { minGroupSize: body.min_group_size });
  const files = await writeReports(folder, estimate.toMarkdown(), undefined);
  return { body: JSON.stringify(dryRunToJson(estimate)), files };
}

async function evaluate(
  config: LLMEvalConfig,
  { metric, threshold, comparator, ...how }: LlmEvalBody,
  { folder, signal, onProgress }: JobContext,
): Promise<JobOutcome> {
  const judged = { metric, threshold, comparator };
  // Check the metric name before paying for answers.
  const isMany = config.targets !== null;
  if (metric !== undefined) {
    if (isMany) judgeLlmEval(targetMetrics(await plannedTargetMetrics(config)), judged);
    else await assertPlannedGate(config, judged);
  }
  const result = await runOrExplain(config, {
    minGroupSize: how.min_group_size,
    withCi: how.with_ci,
    ciLevel: how.ci_level,
    ciSamples: how.ci_samples,
    seed: how.random_state,
    signal,
    onProgress,
  });
  signal.throwIfAborted();
  const options = { verdict: judgeLlmEval(hasTargets(result) ? targetMetrics(result) : result.metrics, judged) };
  const files = await writeReports(folder, llmEvalToMarkdown(result, options), await llmEvalToHtml(result, options));
  return { body: JSON.stringify(llmEvalToJson(result, options)), files };
}

/**
 * Runs an evaluation. A replay sends no requests. A missing answer is therefore an error in the input, not in the
 * service.
 */
async function runOrExplain(
  config: LLMEvalConfig,
  options: Omit<RunLlmEvalOptions, 'client'>,
): Promise<LlmEvalResult | LlmTargetsResult> {
  try {
    return config.targets === null ? await runLlmEval(config, options) : await runLlmTargets(config, options);
  } catch (error) {
    const providers = [config, ...Object.values(targetConfigs(config))].map(({ provider }) => provider);
    if (!(error instanceof CacheMissError) || !providers.includes('replay')) throw error;
    const { message, context, suggestion, cause } = error;
    throw new DataValidationError(message, { context, ...(suggestion === undefined ? {} : { suggestion }), cause });
  }
}
