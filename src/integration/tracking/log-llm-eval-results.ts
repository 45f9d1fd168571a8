import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { llmEvalToJson } from '../../llm-evals/report/llm-eval-to-json.ts';
import { llmEvalToMarkdown } from '../../llm-evals/report/llm-eval-to-markdown.ts';
import type { LlmEvalVerdict } from '../../llm-evals/report/report-words.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import type { LlmMetricResult } from '../../llm-evals/scoring/llm-metric-result.ts';
import type { TrackingOutcome } from '../workflow-result.ts';
import { addMetric, type RunEntries } from './run-entries.ts';
import { ARTIFACT_TRACKING_OPTION_NAMES, type ArtifactTrackingOptions, trackRun } from './track-run.ts';

/** Options of {@link logLlmEvalResults}. */
export interface LlmEvalTrackingOptions extends ArtifactTrackingOptions {
  /**
   * The verdict of the gate.
   * @defaultValue none: no verdict is logged
   */
  readonly verdict?: LlmEvalVerdict | undefined;
  /**
   * Whether to upload the Markdown report, which quotes a few pairs of answers, and the JSON.
   * @defaultValue true
   */
  readonly withReports?: boolean | undefined;
}

const LLM_EVAL_TRACKING_OPTION_NAMES: OptionNames<LlmEvalTrackingOptions> = {
  ...ARTIFACT_TRACKING_OPTION_NAMES,
  verdict: true,
  withReports: true,
};

/**
 * Logs an evaluation of a language model to a run on an MLflow tracking server:
 * - parameters: provider, model, model parameters, seed and the digest of the plan
 * - metrics: each metric with its interval, p-values, noise floor and groups, the spending, and `passed` (1 or 0;
 *   missing without a threshold)
 * - tags: reasons of undefined values, messages of the gate and warnings
 * - files: the report and the JSON. Transcripts are sent only if `artifacts` names them.
 *
 * The function does not throw. Names and server failures are handled in the same way as in `logFairnessMetrics`.
 * @returns whether everything was logged
 */
export async function logLlmEvalResults(result: LlmEvalResult, options: LlmEvalTrackingOptions = {}): Promise<boolean> {
  assertKnownOptions('logLlmEvalResults', options, LLM_EVAL_TRACKING_OPTION_NAMES);
  const { logged } = await trackLlmEval(result, options);
  return logged;
}

/**
 * Logs an evaluation like {@link logLlmEvalResults}; returns the identifier and URL of the run, or the reason why the
 * logging failed.
 */
export async function trackLlmEval(
  result: LlmEvalResult,
  options: LlmEvalTrackingOptions = {},
): Promise<TrackingOutcome> {
  const { verdict, withReports = true, ...tracking } = options;
  const fill = (entries: RunEntries): void => {
    addLlmEval(entries, result, verdict, tracking.prefix ?? '');
  };
  if (!withReports) return trackRun(fill, tracking);
  const folder = await mkdtemp(path.join(tmpdir(), 'evenhand-reports-'));
  try {
    const report = path.join(folder, 'llm_eval_report.md');
    const body = path.join(folder, 'llm_eval.json');
    await writeFile(report, llmEvalToMarkdown(result, { verdict }));
    await writeFile(body, `${JSON.stringify(llmEvalToJson(result, { verdict }), undefined, 2)}\n`);
    return await trackRun(fill, { ...tracking, artifacts: [report, body, ...(tracking.artifacts ?? [])] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function addLlmEval(
  entries: RunEntries,
  result: LlmEvalResult,
  verdict: LlmEvalVerdict | undefined,
  prefix: string,
): void {
  addParams(entries, result);
  for (const [name, metric] of Object.entries(result.metrics)) addLlmMetric(entries, `${prefix}${name}`, metric);
  addSpending(entries, prefix, result);
  if (verdict !== undefined && verdict.passed !== null) {
    entries.metric(`${prefix}passed`, Number(verdict.passed));
    const sentences = Object.values(verdict.metrics).map(({ message }) => message);
    entries.tag('evenhand.verdict', sentences.join('\n'));
  }
  if (result.stopped !== null) entries.tag('evenhand.stopped', result.stopped);
  if (result.warnings.length > 0) entries.tag('evenhand.warnings', result.warnings.join('\n'));
}

function addParams(entries: RunEntries, { config, dryRun, seed, collected = null }: LlmEvalResult): void {
  // The model of collected answers is not known.
  const source = collected === null ? {} : { provider: 'collected answers', model: collected.source };
  const params: Readonly<Record<string, unknown>> = {
    provider: config.provider,
    model: config.model,
    ...source,
    cluster: config.cluster,
    base_url: config.baseUrl,
    evaluators: config.evaluators.join(', '),
    repeats: config.repeats,
    control_dimension: config.counterfactual?.controlDimension,
    seed,
    plan_digest: dryRun.planDigest,
    ...Object.fromEntries(Object.entries(config.params).map(([name, value]) => [`params.${name}`, value])),
  };
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue;
    entries.param(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
}

function addLlmMetric(entries: RunEntries, name: string, metric: LlmMetricResult): void {
  addMetric(entries, name, metric, metric.n);
  const beside = {
    adjusted_p_value: metric.adjustedPValue,
    noise_floor: metric.noiseFloor,
    null_mean: metric.nullMean,
    null_quantile_95: metric.nullQuantile,
    minimum_detectable_gap: metric.minimumDetectableGap,
  };
  for (const [ending, value] of Object.entries(beside)) {
    if (value !== null) entries.metric(`${name}.${ending}`, value);
  }
  for (const [reason, count] of Object.entries(metric.exclusions)) entries.metric(`${name}.excluded.${reason}`, count);
}

function addSpending(entries: RunEntries, prefix: string, { planned, actual }: LlmEvalResult): void {
  const spent = {
    'requests.planned': planned.requests,
    requests: actual.requests,
    retries: actual.retries,
    answered: actual.answered,
    cached: actual.cached,
    failed: actual.failed,
    not_sent: actual.notSent,
    input_tokens: actual.inputTokens,
    output_tokens: actual.outputTokens,
    'cost_usd.planned': planned.costUsd,
    cost_usd: actual.costUsd,
  };
  for (const [name, value] of Object.entries(spent)) {
    entries.metric(`${prefix}spending.${name}`, value ?? NaN, 'the price of the model is not known');
  }
}
