import path from 'node:path';

import { CacheMissError, DataValidationError } from '../../exceptions/index.ts';
import { judgeLlmEval } from '../../integration/llm-eval/index.ts';
import { dryRunToJson } from '../../llm-evals/dry-run/dry-run-json.ts';
import { parseLlmEvalConfig } from '../../llm-evals/config/index.ts';
import { llmEvalToHtml, llmEvalToJson, llmEvalToMarkdown } from '../../llm-evals/report/index.ts';
import { estimateDryRun } from '../../llm-evals/run/dry-run.ts';
import { plannedMetrics } from '../../llm-evals/run/planned-metrics.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import { runLlmEval } from '../../llm-evals/run/run-llm-eval.ts';
import type { RunLlmEvalOptions } from '../../llm-evals/run/run-options.ts';
import { type LlmEvalBody, parseLlmEvalBody } from '../../schemas/llm-eval-body.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import { parseJson } from '../problem/parse-json.ts';
import type { JobContext, JobOutcome, LlmEvalJob } from './job.ts';
import { confineLlmConfig } from './llm-places.ts';
import { writeReports } from './run-files.ts';

/** Where answers are kept that no folder was named for; beside the runs' folders, so that the next run finds them. */
const OWN_CACHE = '.llm-cache';

/** `POST /llm-eval`: asks a language model, or only tells what would be asked. */
export async function runLlmEvalJob({ body, llmFolder }: LlmEvalJob, context: JobContext): Promise<JobOutcome> {
  const request = parseLlmEvalBody(parseJson(body));
  const given = await readConfig(request.config);
  const ownCache = path.join(path.dirname(context.folder), OWN_CACHE);
  const config = await confineLlmConfig(given, { llmFolder, ownCache, env: process.env });
  return request.dry_run ? tellDryRun(config, request, context) : evaluate(config, request, context);
}

async function readConfig(config: LlmEvalBody['config']): Promise<LLMEvalConfig> {
  return typeof config === 'string' ? parseLlmEvalConfig(config, 'config') : parseLlmEvalConfig(config);
}

async function tellDryRun(config: LLMEvalConfig, body: LlmEvalBody, { folder }: JobContext): Promise<JobOutcome> {
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
  // A name is checked before answers are paid for.
  if (metric !== undefined) judgeLlmEval(await plannedMetrics(config), judged);
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
  const verdict = judgeLlmEval(result.metrics, judged);
  const options = { verdict };
  const files = await writeReports(folder, llmEvalToMarkdown(result, options), await llmEvalToHtml(result, options));
  return { body: JSON.stringify(llmEvalToJson(result, options)), files };
}

/** A replay asks nobody: an answer that it lacks is missing in what was sent, and not refused. */
async function runOrExplain(config: LLMEvalConfig, options: RunLlmEvalOptions): Promise<LlmEvalResult> {
  try {
    return await runLlmEval(config, options);
  } catch (error) {
    if (!(error instanceof CacheMissError) || config.provider !== 'replay') throw error;
    const { message, context, suggestion, cause } = error;
    throw new DataValidationError(message, { context, ...(suggestion === undefined ? {} : { suggestion }), cause });
  }
}
