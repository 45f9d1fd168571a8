import { formatCount } from '../../internal/format.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requestKey } from '../cache/request-key.ts';
import { redactorOf } from '../client/secrets.ts';
import { type AnswerRecord, answerRecord } from '../client/transcript.ts';
import { buildEstimate, type PlannedPart } from '../dry-run/build-estimate.ts';
import { estimateJudge } from '../dry-run/estimate-judge.ts';
import { estimatingCounter } from '../dry-run/token-counter.ts';
import { NOTHING_SENT } from '../dry-run/model-prices.ts';
import type { KeyedPrompt, LLMRequest } from '../plan/planned-prompt.ts';
import { unitNotes } from '../rows/plan-rows.ts';
import type { PromptRow, PromptRows } from '../rows/prompt-rows.ts';
import { rowsFor } from '../rows/read-prompt-rows.ts';
import type { LLMEvaluator } from '../scoring/llm-evaluator.ts';
import type { CollectedAnswers } from './llm-eval-result.ts';
import type { PreparedRun } from './prepared-run.ts';

/** Prepares a run that scores collected answers. All answers are known, so the run sends nothing. */
export function prepareCollected(
  config: LLMEvalConfig,
  evaluators: readonly LLMEvaluator[],
  rows: PromptRows,
  client: string | null,
): Omit<PreparedRun, 'metrics' | 'findKnown'> {
  const redact = redactorOf(process.env);
  const requests = rows.rows.map((row) => requestOf(row));
  const model = rows.title.replaceAll("'", '');
  const records = new Map(
    rows.rows.map((row, index) => [
      requests[index]?.key ?? '',
      recordOf(row, requests[index] as LLMRequest, model, redact),
    ]),
  );
  const prompts = evaluators.flatMap(({ name }) =>
    rowsFor(rows, name).map(({ row, prompt }): KeyedPrompt => ({ ...prompt, key: requests[row.row]?.key ?? '' })),
  );
  const tokens = estimatingCounter(null);
  return {
    ...{ config, evaluators, tokens, cache: null, price: NOTHING_SENT, maxTokens: 1, isReplay: false, client },
    plan: { prompts, requests },
    known: { records, missing: [] },
    estimate: buildEstimate({
      ...{ parts: partsOf(prompts, model), model, price: NOTHING_SENT, maxTokens: 1, tokens },
      judge: config.judge === null ? null : estimateJudge(config, config.judge, prompts),
    }),
    collected: describe(rows, model),
    notes: [...sentNotes(rows, config), ...rows.notes, ...unitNotes(rows)],
  };
}

/** Returns the identity of a row. Equal rows are different answers, so the index of the row is a part of it. */
function requestOf({ row, prompt, item, repeat }: PromptRow): LLMRequest {
  const text = prompt ?? `Item ${item}`;
  const params = { row };
  const key = requestKey({ provider: 'collected', baseUrl: null, model: '', prompt: text, params, repeat });
  return { key, prompt: text, repeat, params };
}

function recordOf(
  { answer }: PromptRow,
  request: LLMRequest,
  model: string,
  redact: (text: string) => string,
): AnswerRecord {
  if (answer !== null)
    return answerRecord(request, { model, text: redact(answer), finishReason: 'stop', cached: true });
  return answerRecord(request, { model, error: { kind: 'no_answer', message: "'answer' is empty in this row." } });
}

function partsOf(prompts: readonly KeyedPrompt[], template: string): PlannedPart[] {
  const seen = new Set<string>();
  const byEvaluator = new Map<string, PlannedPart['requests'][number][]>();
  for (const { evaluator, key, prompt } of prompts) {
    const requests = byEvaluator.get(evaluator) ?? [];
    requests.push({ key, prompt, isShared: seen.has(key), isCached: true });
    byEvaluator.set(evaluator, requests);
    seen.add(key);
  }
  return Array.from(byEvaluator, ([evaluator, requests]) => ({ evaluator, template, requests }));
}

function describe({ rows, dimensions, uncompared, cluster }: PromptRows, source: string): CollectedAnswers {
  const clusters = cluster === null ? null : new Set(rows.map((row) => row.cluster)).size;
  const answered = rows.filter(({ answer }) => answer !== null).length;
  return Object.freeze({
    source,
    rows: rows.length,
    answered,
    dimensions: Object.freeze([...dimensions]),
    ...(uncompared.length === 0 ? {} : { uncompared: Object.freeze([...uncompared]) }),
    cluster,
    clusters,
  });
}

function sentNotes({ rows, title }: PromptRows, config: LLMEvalConfig): string[] {
  const answered = rows.filter(({ answer }) => answer !== null).length;
  const answers = answered === 1 ? 'the answer' : `the ${formatCount(answered)} answers`;
  const missing = rows.length - answered;
  const { promptTemplates, counterfactual, bbqPath, promptsPath } = config;
  const hasPrompts =
    Object.keys(promptTemplates).length > 0 ||
    (counterfactual?.template.length ?? 0) > 0 ||
    bbqPath !== null ||
    promptsPath !== null;
  return [
    `${config.judge === null ? 'Nothing was sent: the' : 'Only requests to the judge were sent: the'} results describe ${answers} in ${title}, which ${answered === 1 ? 'was' : 'were'} collected before.`,
    ...(hasPrompts ? ['The prompts of the configuration are ignored, because answers are given.'] : []),
    ...(missing === 0
      ? []
      : [`${formatCount(missing)} of ${formatCount(rows.length)} rows have no answer and are excluded.`]),
  ];
}
