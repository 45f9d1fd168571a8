import { existsSync, statSync } from 'node:fs';

import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import { readTranscripts } from '../transcript/read-transcripts.ts';
import { prepareRun } from './prepare-run.ts';
import { assertNoTargets } from './run-llm-eval.ts';
import { PLAN_OPTION_NAMES, type PlanOptions } from './run-options.ts';

/**
 * Estimates the requests, the tokens and the cost of a run, without sending or writing anything.
 *
 * The plan contains exactly the requests that `runLlmEval` would send with the same options. Each planned request
 * counts once. Requests are omitted if their answers are in the cache, in the transcript to resume, or in a replayed
 * file. The numbers of tokens are estimates. The cost has an upper limit, because the length of answers is limited
 * (`max_tokens`, 512 by default). An unknown price is null, not 0.
 * @throws {ConfigValidationError} in the same cases as `runLlmEval`
 * @example
 * ```ts
 * import { estimateDryRun, parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const config = await parseLlmEvalConfig({
 *   provider: 'openai',
 *   model: 'gpt-4o-mini',
 *   counterfactual: { template: 'Describe a {gender} who leads a team.', dimensions: { gender: ['woman', 'man'] } },
 *   repeats: 10,
 *   cache_dir: './no-such-folder',
 * });
 * const estimate = await estimateDryRun(config);
 * console.log(estimate.requestCount, estimate.estimatedOutputTokens.ceiling);
 * // 20 10240
 * ```
 */
export async function estimateDryRun(config: LLMEvalConfig, options: PlanOptions = {}): Promise<DryRunEstimate> {
  assertKnownOptions('estimateDryRun', options, PLAN_OPTION_NAMES);
  assertNoTargets('estimateDryRun', config);
  const { estimate } = await prepareRun(config, options, await readResumed(options));
  return estimate;
}

/** Reads the transcript of the run to resume, without changing the file. */
export async function readResumed({ transcriptsOut, resume }: PlanOptions): Promise<readonly AnswerRecord[]> {
  const isThere = transcriptsOut !== undefined && resume === true && existsSync(transcriptsOut);
  return isThere && statSync(transcriptsOut).size > 0 ? readTranscripts(transcriptsOut) : [];
}
