import { assertKnownOptions, snakeFields, type SnakeFields } from '../../internal/arguments.ts';
import { type DryRunJson, dryRunToJson } from '../dry-run/dry-run-json.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import type { JudgeAgreement, JudgeReport } from '../outcome/judge.ts';
import type { NeutralizedCounts } from '../outcome/neutral-wording.ts';
import type { UnreadAnswers } from '../run/unread-answers.ts';
import type { CollectedAnswers, LlmEvalResult } from '../run/llm-eval-result.ts';
import type { StopReason } from '../scheduler/budget.ts';
import type { LlmMetricResultJson } from '../scoring/llm-metric-result.ts';
import {
  LLM_EVAL_REPORT_OPTION_NAMES,
  type LlmEvalReportOptions,
  type LlmEvalVerdict,
  NO_VERDICT,
} from './report-words.ts';

/** The wire format of an evaluation, in snake_case, without the answers. Undefined and unknown values are null. */
export interface LlmEvalJson {
  readonly passed: boolean | null;
  readonly threshold: LlmEvalVerdict['threshold'];
  readonly verdicts: LlmEvalVerdict['metrics'];
  readonly metrics: Readonly<Record<string, LlmMetricResultJson>>;
  readonly dry_run: DryRunJson;
  readonly planned: SnakeFields<PlannedSpending>;
  readonly actual: SnakeFields<ActualSpending>;
  readonly stopped: StopReason | null;
  readonly judge: JudgeJson | null;
  readonly unread: readonly UnreadAnswers[];
  /** The collected answers that were scored; null if a model was asked. */
  readonly collected: CollectedAnswers | null;
  readonly warnings: readonly string[];
  readonly seed: number;
}

/** The wire format of a judge's report. */
export interface JudgeJson extends SnakeFields<Omit<JudgeReport, 'neutralized' | 'agreement'>> {
  readonly neutralized: SnakeFields<NeutralizedCounts> | null;
  readonly agreement: Readonly<Record<string, SnakeFields<JudgeAgreement>>>;
  readonly actual: SnakeFields<ActualSpending>;
}

function judgeToJson({ judge }: LlmEvalResult): JudgeJson | null {
  if (judge === null || judge === undefined) return null;
  const { model, blind, neutralized, graded, ungraded, positionBias, verbosityBias, agreement, actual } = judge;
  return {
    ...snakeFields({ model, blind, graded, ungraded, positionBias, verbosityBias }),
    neutralized: neutralized && snakeFields(neutralized),
    agreement: Object.fromEntries(Object.entries(agreement).map(([name, each]) => [name, snakeFields(each)])),
    actual: snakeFields(actual),
  };
}

/**
 * Converts an evaluation to plain data in snake_case, in the format that the command line prints with `--json`. The
 * data does not include the answers, which are in the transcripts.
 */
export function llmEvalToJson(result: LlmEvalResult, options: LlmEvalReportOptions = {}): LlmEvalJson {
  assertKnownOptions('llmEvalToJson', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const { passed, threshold, metrics: verdicts } = options.verdict ?? NO_VERDICT;
  const { metrics, dryRun, planned, actual, stopped, collected = null, warnings, seed } = result;
  return {
    passed,
    threshold,
    verdicts,
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, metric.toJSON()])),
    dry_run: dryRunToJson(dryRun),
    planned: snakeFields(planned),
    actual: snakeFields(actual),
    stopped,
    judge: judgeToJson(result),
    unread: result.unread ?? [],
    collected,
    warnings,
    seed,
  };
}
