import type { JudgeConfig, LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { answerRecord } from '../client/transcript.ts';
import { OUTCOME_EVALUATOR } from '../evaluators/outcome-evaluator.ts';
import { countJudgeRequests } from '../outcome/judge.ts';
import { costRange } from './build-estimate.ts';
import { turnCount } from '../plan/conversation.ts';
import { type KeyedPrompt, maxTokenCount, modelId, requestParams } from '../plan/planned-prompt.ts';
import type { JudgeEstimate } from './dry-run-estimate.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { priceOf } from './model-prices.ts';

/** The number of tokens of the judge's instructions, and the expected tokens of an answer and of a grade. */
const INSTRUCTION_TOKENS = 110;
const ANSWER_TOKENS = 200;
const GRADE_TOKENS = 10;

/**
 * Estimates the requests to the judge. The texts to be judged are not known yet: an answer is expected to have 200
 * tokens, with a ceiling at the maximum of the run. The counts are exact if every prompt is answered and no two judged
 * texts are equal.
 */
export function estimateJudge(
  config: LLMEvalConfig,
  judge: JudgeConfig,
  prompts: readonly KeyedPrompt[],
): JudgeEstimate {
  const own = prompts.filter(({ evaluator }) => evaluator === OUTCOME_EVALUATOR);
  const planned = own.map((prompt) => ({ ...answerRecord(prompt, { model: '' }), ...prompt }));
  const counts = countJudgeRequests(config, judge, planned);
  const requestCount = counts.grades + counts.comparisons + counts.controls;
  const promptTokens =
    own.reduce((sum, { prompt }) => sum + estimateTokens(prompt), 0) / Math.max(1, own.length) + INSTRUCTION_TOKENS;
  const texts = counts.grades + 2 * (counts.comparisons + counts.controls);
  const longest = maxTokenCount(requestParams(config));
  // A conversation contains the answers to its earlier turns too.
  const turns = own.reduce((sum, { messages }) => sum + turnCount(messages) - 1, 0) / Math.max(1, own.length);
  const input = (answer: number): number =>
    Math.round(requestCount * promptTokens + (texts + requestCount * turns) * answer);
  const expected = Math.min(ANSWER_TOKENS, longest);
  const most = maxTokenCount(judge.params);
  const grade = Math.min(GRADE_TOKENS, most);
  const inputs = { low: input(expected / 2), expected: input(expected), ceiling: input(longest) };
  const outputs = { low: requestCount * grade, expected: requestCount * grade, ceiling: requestCount * most };
  return Object.freeze({
    ...counts,
    model: modelId(judge),
    requestCount,
    estimatedInputTokens: inputs,
    estimatedOutputTokens: outputs,
    estimatedCostUsd: costRange(priceOf({ ...judge, prices: config.prices }), inputs, outputs),
  });
}
