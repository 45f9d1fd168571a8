import { assertKnownOptions } from '../../internal/arguments.ts';
import { checksumOf } from '../../io/checksum.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { limitSentences, sumRanges } from '../dry-run/build-estimate.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import { targetsDryRunDocument, type TargetsEstimate } from '../dry-run/targets-estimate.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { readResumed } from './dry-run.ts';
import {
  type PreparedTarget,
  prepareTargets,
  TARGETS_PLAN_OPTION_NAMES,
  type TargetsPlanOptions,
} from './prepare-targets.ts';

/**
 * Estimates the requests, the tokens and the cost of a run with several targets, for each target and in total. Sends
 * and writes nothing. A request that several targets need counts for the first of them.
 * @throws {ConfigValidationError} in the same cases as `runLlmTargets`
 * @example
 * ```ts
 * import { estimateTargets, parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   prompt_templates: { raise: 'How do I ask for a raise?', lock: 'How do I open a lock?' },
 *   targets: [{ name: 'old' }, { name: 'new', system_prompt: 'Be fair.' }],
 * });
 * const { requestCount, targets } = await estimateTargets(config);
 * console.log(requestCount, targets['new']?.requestCount);
 * // 4 2
 * ```
 */
export async function estimateTargets(
  config: LLMEvalConfig,
  options: TargetsPlanOptions = {},
): Promise<TargetsEstimate> {
  assertKnownOptions('estimateTargets', options, TARGETS_PLAN_OPTION_NAMES);
  const { targets } = await prepareTargets(config, options, await readResumed(options));
  const estimates = targets.map(({ run }) => run.estimate);
  const total = totalSpending(estimates);
  const { maxCostUsd = config.maxCostUsd } = options;
  const tokens = total.estimatedInputTokens;
  const fields = {
    ...total,
    cachedCount: estimates.reduce((sum, { cachedCount }) => sum + cachedCount, 0),
    limits: limitSentences(
      { ...config, maxCostUsd },
      {
        requests: total.requestCount,
        tokens: sumRanges([total.estimatedOutputTokens, { low: tokens, expected: tokens, ceiling: tokens }]),
        costUsd: total.estimatedCostUsd,
      },
    ),
    planDigest: checksumOf([...keysToSend(targets)].sort().join('\n')),
    targets: Object.freeze(Object.fromEntries(targets.map(({ name, run }) => [name, run.estimate]))),
  };
  return Object.freeze({ ...fields, toMarkdown: () => documentToMarkdown(targetsDryRunDocument(fields)) });
}

function keysToSend(targets: readonly PreparedTarget[]): Set<string> {
  return new Set(targets.flatMap(({ run }) => run.known.missing.map(({ key }) => key)));
}

/** The estimated spending of several targets. */
export type TotalSpending = Pick<
  DryRunEstimate,
  'requestCount' | 'estimatedInputTokens' | 'estimatedOutputTokens' | 'estimatedCostUsd'
>;

/** Adds the estimates of several targets. The cost is unknown if the cost of a target with requests is unknown. */
export function totalSpending(estimates: readonly DryRunEstimate[]): TotalSpending {
  const sum = (field: 'requestCount' | 'estimatedInputTokens'): number =>
    estimates.reduce((total, estimate) => total + estimate[field], 0);
  const costs = estimates.map(({ estimatedCostUsd }) => estimatedCostUsd);
  const known = costs.filter((cost) => cost !== null);
  return {
    requestCount: sum('requestCount'),
    estimatedInputTokens: sum('estimatedInputTokens'),
    estimatedOutputTokens: sumRanges(estimates.map(({ estimatedOutputTokens }) => estimatedOutputTokens)),
    estimatedCostUsd: known.length < costs.length ? null : sumRanges(known),
  };
}
