import { statSync } from 'node:fs';

import type { Command } from 'commander';

import type { JudgeLlmEvalOptions } from '../../integration/llm-eval-gate.ts';
import type { ResponseCache } from '../../llm-evals/cache/response-cache.ts';
import type { LlmEvalVerdict } from '../../llm-evals/report/index.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
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
--dry-run  show what would be sent and what it may cost; send nothing
--live  allow requests to the provider (or set EVENHAND_LLM_ALLOW_LIVE=1)
--allow-code  allow code that the configuration names to run on this machine, such as the program of the provider command
--max-cost <usd>  maximum cost in US dollars; the run stops before it exceeds this cost (default: the limit in the configuration)
--transcripts-out <path>  append every answer to this NDJSON file as it arrives
--resume  reuse the answers that are already in --transcripts-out
--retry-errors  with --resume: repeat the requests that failed
--replay <path>  read the answers from this transcript file; send nothing
--min-group-size <n>  minimum number of items; with fewer, a metric is undefined (default: 5)
--allow-small-samples  compute metrics with fewer items too, with a warning
--with-ci  add confidence intervals (default: yes)
--no-with-ci  omit confidence intervals
--ci-level <level>  confidence level of intervals (default: 0.95)
--ci-samples <n>  bootstrap replicates for intervals without a closed form (default: 200)
--random-state <n>  seed of random numbers in scoring (default: 42)
--metric <names>  comma-separated list of metrics for the gate: sentiment_gap for every dimension, sentiment_gap.gender for one; names are checked before anything is sent
--threshold <number>  threshold of the gate: exit with 1 if a metric does not satisfy it (needs --metric)
--comparator <op>  comparison of the gate: <=, <, >= or > (default: <= of the absolute value, or of the value for an excess; >= for accuracies and ratios)
--report-md <path>  write the report as Markdown
--report-html <path>  write the report as an HTML page with charts
--report-json <path>  write the metrics as JSON
${OPTION.junit}
${OPTION.mlflow}`,
    required: ['config'],
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

  A gate for continuous integration, without an API key and without requests:
  $ evenhand llm-eval --config llm.yml --replay answers.ndjson --metric sentiment_gap --threshold 0.1 \\
      --junit results.xml

Requests need --live (or EVENHAND_LLM_ALLOW_LIVE=1) and a key in the environment: OPENAI_API_KEY,
ANTHROPIC_API_KEY, GEMINI_API_KEY, the variables of AWS for bedrock, or EVENHAND_LLM_API_KEY for a compatible
server or an endpoint of your own. Without them, answers come only from the cache, from --replay, or from the
built-in local model. A key is sent only to the provider's own host or to this machine. If the configuration
names another host, the environment must name it too, for example in OPENAI_BASE_URL or EVENHAND_LLM_BASE_URL.
The provider command runs a program of yours for each prompt. It needs --allow-code.
Exit codes: 0 passed or no threshold; 1 the gate failed (an undefined metric fails), or a limit stopped the run
(answers are kept); 2 invalid options or configuration, or an answer is not cached and requests are not
allowed; 3 the provider failed; 130 stopped by Ctrl-C (answers are kept).`,
    run: runLlmEvalCommand,
  });
}

async function runLlmEvalCommand(
  options: LlmEvalOptions,
  request: LlmEvalRequest,
  _: readonly string[],
  call: readonly string[],
): Promise<void> {
  const { loadLlmEvalConfig } = await import('../../llm-evals/config/load-llm-eval-config.ts');
  const config = await loadLlmEvalConfig(request.config);
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

/** Returns the call that reads the answers of this run, because a file of answers is never overwritten. */
function withResume(call: readonly string[], { transcriptsOut, resume }: LlmEvalRequest): readonly string[] {
  const start = call.indexOf('llm-eval') + 1;
  return transcriptsOut === undefined || resume ? call : call.toSpliced(start, 0, '--resume');
}

/** Returns the paths of the files that an evaluation reads. */
function inputsOf({ config, replay }: LlmEvalRequest, { replayPath, bbqPath }: LLMEvalConfig): string[] {
  return [config, replay ?? replayPath, bbqPath].filter((path) => typeof path === 'string');
}

/** Checks the output paths before any request is sent, so that an invalid path does not lose paid answers. */
async function assertPaths(options: LlmEvalOptions, request: LlmEvalRequest, config: LLMEvalConfig): Promise<void> {
  const { reportMd, reportHtml, reportJson, junit } = options;
  assertExtension('--report-md', reportMd, 'Markdown');
  assertExtension('--report-json', reportJson, 'JSON');
  await assertOutputs([reportMd, reportHtml, reportJson, junit, request.transcriptsOut], inputsOf(request, config));
  if (request.transcriptsOut === undefined && !request.dryRun) await assertCacheWritable(config, request);
}

/** Throws if the cache cannot be written. Without a transcript, only the cache stores the paid answers. */
async function assertCacheWritable(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  const { liveAccess } = await import('../../llm-evals/client/access.ts');
  if (!liveAccess(config, { live: request.live, allowCode: request.allowCode }).isAllowed) return;
  await (await cacheOf(config, request))?.assertWritable();
}

/** Returns the cache that stores paid answers, or undefined for a run without paid answers. */
async function cacheOf(
  { provider, cacheDir }: LLMEvalConfig,
  { replay }: LlmEvalRequest,
): Promise<ResponseCache | undefined> {
  if (provider === 'local' || provider === 'replay' || replay !== undefined) return undefined;
  const { ResponseCache: Cache } = await import('../../llm-evals/cache/response-cache.ts');
  return new Cache({ cacheDir });
}

async function printDryRun(config: LLMEvalConfig, request: LlmEvalRequest, options: LlmEvalOptions): Promise<void> {
  const [{ estimateDryRun }, { dryRunToJson }, { dryRunDocument }] = await Promise.all([
    import('../../llm-evals/run/dry-run.ts'),
    import('../../llm-evals/dry-run/dry-run-json.ts'),
    import('../../llm-evals/dry-run/dry-run-document.ts'),
  ]);
  const { resume, retryErrors, transcriptsOut, replay, maxCost } = request;
  const estimate = await estimateDryRun(config, {
    resume,
    retryErrors,
    transcriptsOut,
    replayPath: replay,
    maxCostUsd: maxCost,
    minGroupSize: request.minGroupSize,
    allowSmallSamples: request.allowSmallSamples,
    allowCode: request.allowCode,
  });
  await printResult(options, { json: () => dryRunToJson(estimate), text: () => dryRunDocument(estimate) });
  if (request.threshold !== undefined) remark('A dry run computes no metrics, so --threshold has no effect.', options);
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
  if (isCutShort) warn(resumeSentence(config, request, { result, cache }));
  if (interrupt.signal.aborted) process.exitCode = INTERRUPTED;
}

/** Checks the names of metrics before any paid request is sent. */
async function assertMetrics(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  if (request.metric === undefined) return;
  const [{ plannedMetrics }, { judgeLlmEval }] = await Promise.all([
    import('../../llm-evals/run/score-run.ts'),
    import('../../integration/llm-eval-gate.ts'),
  ]);
  judgeLlmEval(await plannedMetrics(config), gateOf(request));
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
): Promise<LlmEvalResult> {
  const { runLlmEval } = await import('../../llm-evals/run/run-llm-eval.ts');
  return runLlmEval(config, {
    minGroupSize: request.minGroupSize,
    withCi: request.withCi,
    ciLevel: request.ciLevel,
    ciSamples: request.ciSamples,
    seed: request.randomState,
    live: request.live,
    allowCode: request.allowCode,
    resume: request.resume,
    retryErrors: request.retryErrors,
    transcriptsOut: request.transcriptsOut,
    replayPath: request.replay,
    allowSmallSamples: request.allowSmallSamples,
    maxCostUsd: request.maxCost,
    cache,
    signal: interrupt.signal,
    onProgress: untilDone(progressBar(options), interrupt),
  });
}

async function report(
  result: LlmEvalResult,
  request: LlmEvalRequest,
  options: LlmEvalOptions,
  findProvenance: FindProvenance,
): Promise<void> {
  const [{ judgeLlmEval }, { describeLlmEval }, { withManifest }, reports] = await Promise.all([
    import('../../integration/llm-eval-gate.ts'),
    import('../llm-eval-text.ts'),
    import('../../document/provenance.ts'),
    import('../../llm-evals/report/index.ts'),
  ]);
  const { llmEvalDocument, llmEvalGateReport, llmEvalToJson } = reports;
  const verdict = judgeLlmEval(result.metrics, gateOf(request));
  const provenance = await findProvenance();
  const body = withManifest(llmEvalToJson(result, { verdict }), provenance);
  const { reportMd, reportHtml, reportJson, junit } = options;
  const forms = reportForms(llmEvalDocument(result, { verdict }), body, provenance);
  await writeForms(forms, { md: reportMd, html: reportHtml, json: reportJson });
  const gates = llmEvalGateReport(result, verdict);
  await writeGateReports({ ...gates, settings: { ...settingsOf(options), ...gates.settings } }, junit);
  await printResult(options, { json: () => body, text: () => describeLlmEval(result, verdict) });
  for (const warning of result.warnings) remark(`Note: ${warning}`, options);
  remarkWritten([reportMd, reportHtml, reportJson, junit], options);
  await track(result, verdict, options);
  if (verdict.passed === false || result.stopped !== null) process.exitCode = CHECK_FAILED;
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
  readonly result: LlmEvalResult | undefined;
  readonly cache: ResponseCache | undefined;
}

/** Returns a message that says where the answers are stored and how to get the remaining answers. */
function resumeSentence(
  { cacheDir }: LLMEvalConfig,
  { transcriptsOut, config, live, allowCode }: LlmEvalRequest,
  { result, cache }: CutShort,
): string {
  if (transcriptsOut !== undefined) {
    const command = `evenhand llm-eval --config ${config}${live ? ' --live' : ''}${allowCode ? ' --allow-code' : ''} --transcripts-out ${transcriptsOut} --resume`;
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
function hasAnswers(result: LlmEvalResult | undefined, transcriptsOut: string): boolean {
  if (result !== undefined) return result.transcripts.some(({ text }) => text !== null);
  return (statSync(transcriptsOut, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
