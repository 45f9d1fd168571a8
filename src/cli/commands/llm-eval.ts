import { statSync } from 'node:fs';

import { Command } from 'commander';

import type { JudgeLlmEvalOptions } from '../../integration/llm-eval/index.ts';
import type { ResponseCache } from '../../llm-evals/cache/response-cache.ts';
import type { LlmEvalVerdict } from '../../llm-evals/report/index.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import type { LlmEvalRequest } from '../../schemas/llm-eval-body.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { CHECK_FAILED, INTERRUPTED } from '../exit-codes.ts';
import { writeLlmEvalReports } from '../llm-eval-text.ts';
import { flagName, parseNames, parseNumber, requireOptions } from '../option-parsers.ts';
import { assertApart, assertExtension, assertInputsKept, terminalText } from '../output-places.ts';
import {
  jsonText,
  type OutputOptions,
  prepareLogs,
  print,
  remark,
  showsLoggedWarnings,
  warn,
  withOutputOptions,
} from '../output.ts';
import { catchInterrupt, type Interrupt, progressBar, untilDone } from '../progress-bar.ts';

interface LlmEvalOptions extends OutputOptions {
  readonly config: string;
  readonly reportMd?: string;
  readonly reportHtml?: string;
  readonly reportJson?: string;
  readonly junit?: string;
  readonly mlflowExperiment?: string;
  readonly mlflowRunName?: string;
}

/** `evenhand llm-eval` */
export function llmEvalCommand(): Command {
  return withOutputOptions(withReportOptions(withRunOptions(new Command('llm-eval'))))
    .description(
      'Ask a language model prompts that differ in one respect only, and tell what differs in the answers from sampling noise.',
    )
    .addHelpText(
      'after',
      `
Examples:
  What would be asked, and what it may cost; nothing is sent:
  $ evenhand llm-eval --config config/llm-eval.yml --dry-run

  Ask, keep every answer as it comes, and write a report with pairs of answers side by side:
  $ OPENAI_API_KEY=… evenhand llm-eval --config llm.yml --live --max-cost 5 \\
      --transcripts-out answers.ndjson --report-html report.html

  Go on where it stopped; answers that are paid for are not asked for again:
  $ evenhand llm-eval --config llm.yml --live --transcripts-out answers.ndjson --resume

  A gate for continuous integration, without a key and without a request:
  $ evenhand llm-eval --config llm.yml --replay answers.ndjson --metric sentiment_gap --threshold 0.1 \\
      --junit results.xml

Nothing is sent without --live (or EVENHAND_LLM_ALLOW_LIVE=1) and a key in the environment: OPENAI_API_KEY,
ANTHROPIC_API_KEY, or EVENHAND_LLM_API_KEY for a compatible server. Without them only known answers, --replay
and the built-in local model answer. A key goes to another host than the provider's own, or than this machine,
only where the environment names it beside base_url: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, EVENHAND_LLM_BASE_URL.
Exit codes: 0 pass or no threshold, 1 the gate failed (an undefined metric fails) or a limit stopped the run
with the answers so far kept, 2 usage, configuration, or an answer that is not known and may not be asked
for, 3 the provider failed, 130 stopped by Ctrl-C (answers are kept).`,
    )
    .action(async (options: LlmEvalOptions) => {
      await runLlmEvalCommand(options);
    });
}

function withRunOptions(command: Command): Command {
  return command
    .option('--config <path>', 'what to ask of whom: YAML')
    .option('--dry-run', 'only tell what would be sent, and what it may cost')
    .option('--live', 'allow requests to the provider')
    .option('--max-cost <usd>', "stop before this is exceeded (default: the configuration's)", parseNumber)
    .option('--transcripts-out <path>', 'append every answer as it comes: NDJSON')
    .option('--resume', 'go on with the answers that --transcripts-out has already')
    .option('--retry-errors', 'with --resume: ask again what failed')
    .option('--replay <path>', 'take the answers from this file of transcripts; nothing is sent')
    .option('--min-group-size <n>', 'items at least; with fewer a metric is undefined (default: 5)', parseNumber)
    .option('--allow-small-samples', 'measure fewer items all the same, with a warning')
    .option('--with-ci', 'add intervals (default: yes)')
    .option('--no-with-ci', 'leave intervals out')
    .option('--ci-level <level>', 'their confidence level (default: 0.95)', parseNumber)
    .option('--ci-samples <n>', 'replicates of intervals without a closed form (default: 200)', parseNumber)
    .option('--random-state <n>', 'seed of what is random in scoring (default: 42)', parseNumber);
}

function withReportOptions(command: Command): Command {
  return command
    .option(
      '--metric <names>',
      'what is judged: sentiment_gap for every dimension, sentiment_gap.gender for one; a comma list for several; ' +
        'names are checked before anything is asked',
      parseNames,
    )
    .option(
      '--threshold <number>',
      'the gate: exit 1 where a metric is on its wrong side (needs --metric)',
      parseNumber,
    )
    .option(
      '--comparator <op>',
      "the gate's comparison: <=, <, >= or > (default: <= by size, of an excess by value; >= for accuracies and ratios)",
    )
    .option('--report-md <path>', 'write the report as Markdown')
    .option('--report-html <path>', 'write the report as a page with pictures')
    .option('--report-json <path>', 'write the metrics as JSON')
    .option('--junit <path>', 'write a test report as JUnit XML')
    .option('--mlflow-experiment <name>', 'log the run to this experiment of the server at MLFLOW_TRACKING_URI')
    .option('--mlflow-run-name <name>', 'what the logged run is called');
}

async function runLlmEvalCommand(options: LlmEvalOptions): Promise<void> {
  requireOptions(options, ['config']);
  await prepareLogs(options);
  const [{ parseBy }, { llmEvalRequestSchema }, { loadLlmEvalConfig }] = await Promise.all([
    import('../../schemas/parse.ts'),
    import('../../schemas/llm-eval-body.ts'),
    import('../../llm-evals/config/load-llm-eval-config.ts'),
  ]);
  const request = parseBy(llmEvalRequestSchema, options, 'llm-eval', flagName);
  const config = await loadLlmEvalConfig(request.config);
  await assertPlaces(options, request, config);
  await (request.dryRun ? tellDryRun(config, request, options) : evaluate(config, request, options));
}

/** Checked before anything is sent, so that what is paid for is not lost to a bad path. */
async function assertPlaces(options: LlmEvalOptions, request: LlmEvalRequest, config: LLMEvalConfig): Promise<void> {
  const { assertFileWritable } = await import('../../io/atomic-write.ts');
  const { reportMd, reportHtml, reportJson, junit } = options;
  const outputs = [reportMd, reportHtml, reportJson, junit, request.transcriptsOut].filter(
    (path) => path !== undefined,
  );
  if (reportMd !== undefined) assertExtension('--report-md', reportMd, 'Markdown');
  if (reportJson !== undefined) assertExtension('--report-json', reportJson, 'JSON');
  assertApart(outputs);
  assertInputsKept(outputs, [
    request.config,
    request.replay,
    config.replayPath ?? undefined,
    config.bbqPath ?? undefined,
  ]);
  for (const path of outputs) await assertFileWritable(path);
  if (request.transcriptsOut === undefined && !request.dryRun) await assertCacheWritable(config, request);
}

/** Without a transcript the cache alone keeps what is paid for. */
async function assertCacheWritable(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  const { liveAccess } = await import('../../llm-evals/client/access.ts');
  if (!liveAccess(config, { live: request.live }).isAllowed) return;
  await (await cacheOf(config, request))?.assertWritable();
}

/** Where answers that are paid for are kept; undefined for a run that pays for none. */
async function cacheOf(
  { provider, cacheDir }: LLMEvalConfig,
  { replay }: LlmEvalRequest,
): Promise<ResponseCache | undefined> {
  if (provider === 'local' || provider === 'replay' || replay !== undefined) return undefined;
  const { ResponseCache: Cache } = await import('../../llm-evals/cache/response-cache.ts');
  return new Cache({ cacheDir });
}

async function tellDryRun(config: LLMEvalConfig, request: LlmEvalRequest, options: LlmEvalOptions): Promise<void> {
  const [{ estimateDryRun }, { dryRunToJson }] = await Promise.all([
    import('../../llm-evals/run/dry-run.ts'),
    import('../../llm-evals/dry-run/dry-run-json.ts'),
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
  });
  if (options.json === true) process.stdout.write(jsonText(dryRunToJson(estimate)));
  else print(terminalText(estimate.toMarkdown()));
  if (request.threshold !== undefined) remark('A dry run judges nothing: --threshold has no effect.', options);
}

async function evaluate(config: LLMEvalConfig, request: LlmEvalRequest, options: LlmEvalOptions): Promise<void> {
  await assertMetrics(config, request);
  const cache = await cacheOf(config, request);
  const interrupt = catchInterrupt();
  const result = await run(config, request, options, { cache, interrupt }).catch((error: unknown) => {
    if (!interrupt.signal.aborted) throw error;
    return undefined;
  });
  interrupt.release();
  if (result !== undefined) await tell(result, request, options);
  const isCutShort = interrupt.signal.aborted || (result !== undefined && result.stopped !== null);
  if (isCutShort) warn(resumeSentence(config, request, { result, cache }));
  if (interrupt.signal.aborted) {
    process.exitCode = INTERRUPTED;
  }
}

/** A metric's name is checked before answers are paid for. */
async function assertMetrics(config: LLMEvalConfig, request: LlmEvalRequest): Promise<void> {
  if (request.metric === undefined) return;
  const [{ plannedMetrics }, { judgeLlmEval }] = await Promise.all([
    import('../../llm-evals/run/score-run.ts'),
    import('../../integration/llm-eval/index.ts'),
  ]);
  judgeLlmEval(await plannedMetrics(config), gateOf(request));
}

/** The options of a request that say what is judged, and how. */
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

async function tell(result: LlmEvalResult, request: LlmEvalRequest, options: LlmEvalOptions): Promise<void> {
  const { judgeLlmEval } = await import('../../integration/llm-eval/index.ts');
  const verdict = judgeLlmEval(result.metrics, gateOf(request));
  await writeLlmEvalReports(result, verdict, options);
  if (options.json === true) {
    const { llmEvalToJson } = await import('../../llm-evals/report/index.ts');
    process.stdout.write(jsonText(llmEvalToJson(result, { verdict })));
  } else {
    const { describeLlmEval } = await import('../llm-eval-text.ts');
    print(describeLlmEval(result, verdict));
  }
  for (const warning of result.warnings) remark(`Note: ${warning}`, options);
  for (const path of [options.reportMd, options.reportHtml, options.reportJson, options.junit]) {
    if (path !== undefined) remark(`Wrote ${path}`, options);
  }
  await track(result, verdict, options);
  if (verdict.passed === false || result.stopped !== null) process.exitCode = CHECK_FAILED;
}

async function track(result: LlmEvalResult, verdict: LlmEvalVerdict, options: LlmEvalOptions): Promise<void> {
  const { mlflowExperiment, mlflowRunName } = options;
  if (mlflowExperiment === undefined && mlflowRunName === undefined) return;
  const { trackLlmEval } = await import('../../integration/tracking/log-llm-eval-results.ts');
  const { logged, runId, url, reason } = await trackLlmEval(result, {
    verdict,
    experiment: mlflowExperiment,
    runName: mlflowRunName,
  });
  if (logged) remark(`Logged to MLflow as run ${runId ?? ''}${url === null ? '' : `, ${url}`}`, options);
  else if (!(await showsLoggedWarnings()))
    warn(`Tracking failed, the run is not logged: ${reason ?? 'no reason known'}`);
}

/** What is known of a run that ended early. */
interface CutShort {
  /** undefined where the run had none. */
  readonly result: LlmEvalResult | undefined;
  readonly cache: ResponseCache | undefined;
}

/** Where the answers are, if there are any, and how to get the rest. */
function resumeSentence(
  { cacheDir }: LLMEvalConfig,
  { transcriptsOut, config, live }: LlmEvalRequest,
  { result, cache }: CutShort,
): string {
  if (transcriptsOut !== undefined) {
    const command = `evenhand llm-eval --config ${config}${live ? ' --live' : ''} --transcripts-out ${transcriptsOut} --resume`;
    const kept = hasAnswers(result, transcriptsOut) ? `The answers so far are kept in ${transcriptsOut}` : NO_ANSWERS;
    return `${kept}. Go on with: ${command}`;
  }
  if (cache === undefined) return 'No answers are kept of this run. The same command begins again.';
  if (cache.unkept > 0) {
    const count = cache.unkept === 1 ? '1 answer' : `${String(cache.unkept)} answers`;
    return `${count} could not be kept in ${cacheDir}, and would be asked for again; --transcripts-out keeps answers in a file.`;
  }
  return cache.kept + cache.hits === 0
    ? `${NO_ANSWERS}. The same command asks again.`
    : `The answers so far are kept in ${cacheDir}. The same command again asks only for the rest.`;
}

const NO_ANSWERS = 'No answers came, so that none are kept';

/** Whether a transcript has answers; of a run without a result, whether it holds anything. */
function hasAnswers(result: LlmEvalResult | undefined, transcriptsOut: string): boolean {
  if (result !== undefined) return result.transcripts.some(({ text }) => text !== null);
  return (statSync(transcriptsOut, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
