import { statSync } from 'node:fs';

import type { Command } from 'commander';

import type { JudgeLlmEvalOptions } from '../../integration/llm-eval-gate.ts';
import type { ResponseCache } from '../../llm-evals/cache/response-cache.ts';
import type { LlmEvalVerdict } from '../../llm-evals/report/index.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../../llm-evals/run/llm-targets-result.ts';
import type { PlanOptions } from '../../llm-evals/run/run-options.ts';
import type { LlmEvalRequest } from '../../schemas/llm-eval-body.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED, INTERRUPTED } from '../exit-codes.ts';
import { settingsOf, writeGateReports } from '../gate-reports.ts';
import { assertExtension, assertOutputs, reportForms, writeForms } from '../output-places.ts';
import { type OutputOptions, printResult, remark, remarkTracking, remarkWritten, warn } from '../output.ts';
import { catchInterrupt, type Interrupt, progressBar, untilDone } from '../progress-bar.ts';
import { type FindProvenance, startProvenance } from '../provenance.ts';

interface LlmEvalOptions extends OutputOptions {
  readonly reportMd?: string;
  readonly reportHtml?: string;
  readonly reportJson?: string;
  readonly junit?: string;
  readonly mlflowExperiment?: string;
  readonly mlflowRunName?: string;
}

/** Returns the command `evenhand llm-eval`. */
export function llmEvalCommand(): Command {
  return defineCommand({
    name: 'llm-eval',
    options: `
--config <path>  YAML file with the model, the prompts and the metrics, or llm-eval for the example that comes with evenhand
--answers <path>  score the answers in this file, and send nothing: CSV, TSV, Parquet or JSON lines with the columns answer, item, and one for each group column; optional: prompt, name, template, repeat. --config is then optional
--dimensions <columns>  columns of --answers, or of prompts_path in the configuration, that are compared (default: all other columns with 2 to 20 values)
--cluster <column>  column of --answers, or of prompts_path in the configuration, whose rows depend on each other, such as a person: they count as one unit in intervals and p-values
--dry-run  show what would be sent and what it may cost; send nothing
--live  allow requests to the provider (or set EVENHAND_LLM_ALLOW_LIVE=1)
--max-cost <usd>  maximum cost in US dollars; the run stops before it exceeds this cost (default: the limit in the configuration)
--transcripts-out <path>  append every answer to this NDJSON file as it arrives
--resume  reuse the answers that are already in --transcripts-out
--retry-errors  with --resume: repeat the requests that failed
--allow-code  allow code that the configuration names to run on this machine: the module of metrics, and the program of the provider command; read it first
--replay <path>  read the answers from this transcript file; send nothing
--baseline <path>  compare with the answers of an earlier run in this transcript file, and report what changed
--min-group-size <n>  minimum number of items; with fewer, a metric is undefined (default: 5)
--allow-small-samples  compute metrics with fewer items too, with a warning
--with-ci  add confidence intervals (default: yes)
--no-with-ci  omit confidence intervals
--ci-level <level>  confidence level of intervals (default: 0.95)
--ci-samples <n>  bootstrap replicates for intervals without a closed form (default: 200)
--random-state <n>  seed of random numbers in scoring (default: 42)
--metric <names>  metrics for the gate, comma-separated or repeated: sentiment_gap for every dimension, sentiment_gap.gender for one, 'sentiment_gap_size.gender[new-old]' for the difference of two targets. 'NAME<=VALUE' (in quotes; also <, >=, >) has its own threshold. Names are checked before anything is sent
--threshold <number>  threshold of the gate: exit with 1 if a metric does not satisfy it (needs --metric)
--comparator <op>  comparison of the gate: <=, <, >= or > (default: <= of the absolute value, or of the value for an excess; >= for accuracies and ratios)
--report-md <path>  write the report as Markdown
--report-html <path>  write the report as an HTML page with charts
--report-json <path>  write the metrics as JSON
${OPTION.junit}
${OPTION.mlflow}`,
    required: ['config|answers'],
    schema: async () => (await import('../../schemas/llm-eval-body.ts')).llmEvalRequestSchema,
    help: `
Examples:
  Show what would be sent and what it may cost, without sending anything:
  $ evenhand llm-eval --config config/llm-eval.yml --dry-run

  Run the evaluation, save every answer as it arrives, and write a report with pairs of answers side by side:
  $ OPENAI_API_KEY=… evenhand llm-eval --config llm.yml --live --max-cost 5 \\
      --transcripts-out answers.ndjson --report-html report.html

  Resume a run; answers that were already paid for are not requested again:
  $ evenhand llm-eval --config llm.yml --live --transcripts-out answers.ndjson --resume

  Score answers that you already have, without a configuration and without requests:
  $ evenhand llm-eval --answers answers.csv --cluster person --report-html report.html

  A gate for continuous integration, without an API key and without requests:
  $ evenhand llm-eval --config llm.yml --replay answers.ndjson --metric sentiment_gap --threshold 0.1 \\
      --junit results.xml

  Compare the models or prompts under targets in the configuration, each with an interval on the same items:
  $ evenhand llm-eval --config targets.yml --live --report-html comparison.html

  A gate on a new prompt: fail if it makes a gap larger than in the answers of an earlier run:
  $ evenhand llm-eval --config llm.yml --live --baseline answers.ndjson \\
      --metric 'sentiment_gap_size.gender[current-baseline]' --threshold 0.05

Requests need --live (or EVENHAND_LLM_ALLOW_LIVE=1) and a key in the environment: OPENAI_API_KEY,
ANTHROPIC_API_KEY, GEMINI_API_KEY, the variables of AWS for bedrock, or EVENHAND_LLM_API_KEY for a compatible
server or an endpoint of your own. Without them, answers come only from the cache, from --replay, or from the
built-in local model. A key is sent only to the provider's own host or to this machine. If the configuration
names another host, the environment must name it too, for example in OPENAI_BASE_URL or EVENHAND_LLM_BASE_URL.
The provider command runs a program of yours for each prompt. It needs --allow-code.
Exit codes: 0 passed or no threshold; 1 the gate failed (an undefined metric fails), or a limit stopped the run
(answers are kept); 2 invalid options or configuration, or an answer is not cached and requests are not
allowed; 3 the provider failed, or an internal error; 130 stopped by Ctrl-C (answers are kept).`,
    run: runLlmEvalCommand,
  });
}

async function runLlmEvalCommand(
  options: LlmEvalOptions,
  request: LlmEvalRequest,
  _: readonly string[],
  call: readonly string[],
): Promise<void> {
  const config = await readConfig(request);
  await assertPaths(options, request, config);
  if (request.dryRun) {
    await printDryRun(config, request, options);
    return;
  }
  const { json, reportMd, reportHtml, reportJson } = options;
  const isShown = json === true || [reportMd, reportHtml, reportJson].some((path) => path !== undefined);
  // A resumed run also reads the answers that it continues.
  const inputs = [...inputsOf(request, config), ...(request.resume ? [request.transcriptsOut] : [])];
  const source = { call: withResume(call, request), options, inputs, varies: 'what was sent' };
  await evaluate(config, request, options, startProvenance(isShown, source));
}

/** Reads the configuration. The options about rows replace its keys. Without a configuration, answers are scored. */
async function readConfig({ config, answers, dimensions, cluster }: LlmEvalRequest): Promise<LLMEvalConfig> {
  const { loadLlmEvalConfig, parseLlmEvalConfig } = await import('../../llm-evals/config/load-llm-eval-config.ts');
  const { withoutUndefined } = await import('../../internal/values.ts');
  const keys = withoutUndefined({ answers_path: answers, dimensions, cluster });
  return config === undefined ? parseLlmEvalConfig(keys) : loadLlmEvalConfig(config, keys);
}

/** Returns the call that reads the answers of this run, because a file of answers is never overwritten. */
function withResume(call: readonly string[], { transcriptsOut, resume }: LlmEvalRequest): readonly string[] {
  const start = call.indexOf('llm-eval') + 1;
  return transcriptsOut === undefined || resume ? call : call.toSpliced(start, 0, '--resume');
}

/** Returns the paths of the files that an evaluation reads. */
function inputsOf({ config, replay, baseline }: LlmEvalRequest, given: LLMEvalConfig): string[] {
  const { replayPath, bbqPath, benchmarks, answersPath, promptsPath, targets } = given;
  const files = Object.values(benchmarks ?? {}).flatMap(({ path }) => path);
  const own = (targets ?? []).map((target) => target.replayPath);
  const paths = [config, replay ?? replayPath, baseline, bbqPath, ...files, answersPath, promptsPath, ...own];
  return paths.filter((path) => typeof path === 'string');
}

/** Checks the output paths before any request is sent, so that an invalid path does not lose paid answers. */
async function assertPaths(options: LlmEvalOptions, request: LlmEvalRequest, config: LLMEvalConfig): Promise<void> {
  const { reportMd, reportHtml, reportJson, junit } = options;
  assertExtension('--report-md', reportMd, 'Markdown');
  assertExtension('--report-json', reportJson, 'JSON');
  await assertOutputs([reportMd, reportHtml, reportJson, junit, request.transcriptsOut], inputsOf(request, config));
  const isSent = !request.dryRun && config.answersPath === null && config.answers === null;
  if (request.transcriptsOut === undefined && isSent) await assertCacheWritable(config, request);
}

/** Throws if the cache cannot be written. Without a transcript, only the cache stores the paid answers. */
async function assertCacheWritable(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  const { liveAccess } = await import('../../llm-evals/client/access.ts');
  const { live, allowCode } = request;
  const configs = await configsOf(config);
  if (!configs.some((each) => liveAccess(each, { live, allowCode }).isAllowed)) return;
  await (await cacheOf(config, request))?.assertWritable();
}

/** Returns the cache that stores paid answers, or undefined for a run without paid answers. */
async function cacheOf(config: LLMEvalConfig, { replay }: LlmEvalRequest): Promise<ResponseCache | undefined> {
  const { cacheDir, answers, answersPath } = config;
  const providers = (await configsOf(config)).map(({ provider }) => provider);
  if (replay !== undefined || providers.every((name) => name === 'local' || name === 'replay')) return undefined;
  if (answers !== null || answersPath !== null) return undefined;
  const { ResponseCache: Cache } = await import('../../llm-evals/cache/response-cache.ts');
  return new Cache({ cacheDir });
}

/** Returns the configuration of each target, or the only configuration. */
async function configsOf(config: LLMEvalConfig): Promise<readonly LLMEvalConfig[]> {
  if (config.targets === null) return [config];
  const { targetConfigs } = await import('../../llm-evals/config/build-llm-eval-config.ts');
  return Object.values(targetConfigs(config));
}

/** Returns whether a run compares several targets. */
function isComparison({ targets }: LLMEvalConfig, { baseline }: LlmEvalRequest): boolean {
  return targets !== null || baseline !== undefined;
}

async function printTargetsDryRun(
  config: LLMEvalConfig,
  request: LlmEvalRequest,
  options: LlmEvalOptions,
): Promise<void> {
  const [{ estimateTargets }, { targetsDryRunDocument, targetsEstimateToJson }] = await Promise.all([
    import('../../llm-evals/run/estimate-targets.ts'),
    import('../../llm-evals/dry-run/targets-estimate.ts'),
  ]);
  const estimate = await estimateTargets(config, { ...planOf(request), baselinePath: request.baseline });
  await printResult(options, {
    json: () => targetsEstimateToJson(estimate),
    text: () => targetsDryRunDocument(estimate),
  });
}

/** Returns the options of a request that determine which requests are sent. */
function planOf(request: LlmEvalRequest): PlanOptions {
  const { resume, retryErrors, transcriptsOut, replay, maxCost, minGroupSize, allowSmallSamples, allowCode } = request;
  return {
    ...{ resume, retryErrors, transcriptsOut, minGroupSize, allowSmallSamples, allowCode },
    replayPath: replay,
    maxCostUsd: maxCost,
  };
}

async function printDryRun(config: LLMEvalConfig, request: LlmEvalRequest, options: LlmEvalOptions): Promise<void> {
  if (isComparison(config, request)) {
    await printTargetsDryRun(config, request, options);
    remarkGate(request, options);
    return;
  }
  const [{ estimateDryRun }, { dryRunToJson }, { dryRunDocument }] = await Promise.all([
    import('../../llm-evals/run/dry-run.ts'),
    import('../../llm-evals/dry-run/dry-run-json.ts'),
    import('../../llm-evals/dry-run/dry-run-document.ts'),
  ]);
  const estimate = await estimateDryRun(config, planOf(request));
  await printResult(options, { json: () => dryRunToJson(estimate), text: () => dryRunDocument(estimate) });
  remarkGate(request, options);
}

function remarkGate({ metric }: LlmEvalRequest, options: LlmEvalOptions): void {
  if (metric !== undefined) remark('A dry run computes no metrics, so the gate has no effect.', options);
}

async function evaluate(
  config: LLMEvalConfig,
  request: LlmEvalRequest,
  options: LlmEvalOptions,
  findProvenance: FindProvenance,
): Promise<void> {
  await assertMetrics(config, request);
  const cache = await cacheOf(config, request);
  const interrupt = catchInterrupt();
  const result = await run(config, request, options, { cache, interrupt }).catch((error: unknown) => {
    if (!interrupt.signal.aborted) throw error;
    return undefined;
  });
  interrupt.release();
  if (result !== undefined) await report(result, request, options, findProvenance);
  const isCutShort = interrupt.signal.aborted || (result !== undefined && result.stopped !== null);
  if (isCutShort) warn(await resumeSentence(config, request, { result, cache }));
  if (interrupt.signal.aborted) process.exitCode = INTERRUPTED;
}

/** Checks the names of metrics before any paid request is sent. */
async function assertMetrics(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  if (request.metric === undefined) return;
  const { assertPlannedGate, judgeLlmEval } = await import('../../integration/llm-eval-gate.ts');
  const { allowCode } = request;
  if (isComparison(config, request)) {
    const [{ plannedTargetMetrics }, { targetMetrics }] = await Promise.all([
      import('../../llm-evals/run/run-llm-targets.ts'),
      import('../../llm-evals/run/llm-targets-result.ts'),
    ]);
    const planned = await plannedTargetMetrics(config, { baselinePath: request.baseline, allowCode });
    judgeLlmEval(targetMetrics(planned), gateOf(request));
    return;
  }
  await assertPlannedGate(config, gateOf(request), { allowCode });
}

/** Returns the gate options of a request. */
function gateOf({ threshold, metric, comparator }: LlmEvalRequest): JudgeLlmEvalOptions {
  return { threshold, metric, comparator };
}

async function run(
  config: LLMEvalConfig,
  request: LlmEvalRequest,
  options: LlmEvalOptions,
  { cache, interrupt }: { readonly cache: ResponseCache | undefined; readonly interrupt: Interrupt },
): Promise<LlmEvalResult | LlmTargetsResult> {
  const settings = {
    ...planOf(request),
    withCi: request.withCi,
    ciLevel: request.ciLevel,
    ciSamples: request.ciSamples,
    seed: request.randomState,
    live: request.live,
    cache,
    signal: interrupt.signal,
    onProgress: untilDone(progressBar(options), interrupt),
  };
  if (isComparison(config, request)) {
    const { runLlmTargets } = await import('../../llm-evals/run/run-llm-targets.ts');
    return runLlmTargets(config, { ...settings, baselinePath: request.baseline });
  }
  const { runLlmEval } = await import('../../llm-evals/run/run-llm-eval.ts');
  return runLlmEval(config, settings);
}

async function report(
  result: LlmEvalResult | LlmTargetsResult,
  request: LlmEvalRequest,
  options: LlmEvalOptions,
  findProvenance: FindProvenance,
): Promise<void> {
  const [{ judgeLlmEval }, { describeLlmEval, describeLlmTargets }, { withManifest }, reports, targets] =
    await Promise.all([
      import('../../integration/llm-eval-gate.ts'),
      import('../llm-eval-text.ts'),
      import('../../document/provenance.ts'),
      import('../../llm-evals/report/index.ts'),
      import('../../llm-evals/run/llm-targets-result.ts'),
    ]);
  const isMany = targets.hasTargets(result);
  const { llmEvalDocument, llmEvalGateReport, llmEvalToJson } = reports;
  const verdict = judgeLlmEval(isMany ? targets.targetMetrics(result) : result.metrics, gateOf(request));
  const provenance = await findProvenance();
  const body = withManifest(llmEvalToJson(result, { verdict }), provenance);
  const { reportMd, reportHtml, reportJson, junit } = options;
  const forms = reportForms(llmEvalDocument(result, { verdict }), body, provenance);
  await writeForms(forms, { md: reportMd, html: reportHtml, json: reportJson });
  const gates = llmEvalGateReport(result, verdict);
  await writeGateReports(() => ({ ...gates, settings: { ...settingsOf(options), ...gates.settings } }), junit);
  await printResult(options, {
    json: () => body,
    text: () => (isMany ? describeLlmTargets(result, verdict) : describeLlmEval(result, verdict)),
  });
  for (const warning of result.warnings) remark(`Note: ${warning}`, options);
  remarkWritten([reportMd, reportHtml, reportJson, junit], options);
  if (isMany) await trackTargets(result, options);
  else await track(result, verdict, options);
  if (verdict.passed === false || result.stopped !== null) process.exitCode = CHECK_FAILED;
}

/** Logs a run for each target. */
async function trackTargets({ targets }: LlmTargetsResult, options: LlmEvalOptions): Promise<void> {
  const { mlflowExperiment, mlflowRunName = 'llm-eval' } = options;
  if (mlflowExperiment === undefined && options.mlflowRunName === undefined) return;
  const { trackLlmEval } = await import('../../integration/tracking/log-llm-eval-results.ts');
  for (const [name, result] of Object.entries(targets)) {
    const outcome = await trackLlmEval(result, { experiment: mlflowExperiment, runName: `${mlflowRunName} ${name}` });
    await remarkTracking(outcome, options);
  }
}

async function track(result: LlmEvalResult, verdict: LlmEvalVerdict, options: LlmEvalOptions): Promise<void> {
  const { mlflowExperiment, mlflowRunName } = options;
  if (mlflowExperiment === undefined && mlflowRunName === undefined) return;
  const { trackLlmEval } = await import('../../integration/tracking/log-llm-eval-results.ts');
  const outcome = await trackLlmEval(result, { verdict, experiment: mlflowExperiment, runName: mlflowRunName });
  await remarkTracking(outcome, options);
}

/** The result and the cache of a run that ended before all answers were received. */
interface CutShort {
  /** The result of the run; undefined if the run had no result. */
  readonly result: LlmEvalResult | LlmTargetsResult | undefined;
  readonly cache: ResponseCache | undefined;
}

/** Returns a message that says where the answers are stored and how to get the remaining answers. */
async function resumeSentence(
  { cacheDir }: LLMEvalConfig,
  { transcriptsOut, config, live, allowCode, baseline }: LlmEvalRequest,
  { result, cache }: CutShort,
): Promise<string> {
  if (transcriptsOut !== undefined) {
    const options = [
      ...(config === undefined ? [] : ['--config', config]),
      ...(live ? ['--live'] : []),
      ...(allowCode ? ['--allow-code'] : []),
      ...(baseline === undefined ? [] : ['--baseline', baseline]),
    ];
    const { shellCommand } = await import('../../document/provenance.ts');
    const command = shellCommand(['llm-eval', ...options, '--transcripts-out', transcriptsOut, '--resume']);
    const kept = hasAnswers(result, transcriptsOut) ? `The answers so far are kept in ${transcriptsOut}` : NO_ANSWERS;
    return `${kept}. Resume with: ${command}`;
  }
  if (cache === undefined) return 'No answers of this run are kept. The same command starts over.';
  if (cache.unkept > 0) {
    const count = cache.unkept === 1 ? '1 answer' : `${String(cache.unkept)} answers`;
    return `${count} could not be saved in ${cacheDir} and would be requested again. Use --transcripts-out to save answers in a file.`;
  }
  return cache.kept + cache.hits === 0
    ? `${NO_ANSWERS}. The same command starts over.`
    : `The answers so far are kept in ${cacheDir}. The same command requests only the rest.`;
}

const NO_ANSWERS = 'No answers arrived, so none are kept';

/** Returns whether the transcript contains answers. If the run has no result, any content of the file counts. */
function hasAnswers(result: LlmEvalResult | LlmTargetsResult | undefined, transcriptsOut: string): boolean {
  if (result !== undefined) {
    const results = 'targets' in result ? Object.values(result.targets) : [result];
    return results.some(({ transcripts }) => transcripts.some(({ text }) => text !== null));
  }
  return (statSync(transcriptsOut, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
