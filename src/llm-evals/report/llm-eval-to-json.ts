import { assertKnownOptions, snakeFields, type SnakeFields } from '../../internal/arguments.ts';
import { type DryRunJson, dryRunToJson } from '../dry-run/dry-run-json.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import type { JudgeAgreement, JudgeReport } from '../outcome/judge.ts';
import type { NeutralizedCounts } from '../outcome/neutral-wording.ts';
import type { CollectedAnswers, LlmEvalResult } from '../run/llm-eval-result.ts';
import { hasTargets, type LlmTargetsResult } from '../run/llm-targets-result.ts';
import type { UnreadAnswers } from '../run/unread-answers.ts';
import type { StopReason } from '../scheduler/budget.ts';
import type { LlmMetricResultJson } from '../scoring/llm-metric-result.ts';
import type { LlmTargetDifferenceJson } from '../scoring/llm-target-difference.ts';
import {
  answeredBy,
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
interface JudgeJson extends SnakeFields<Omit<JudgeReport, 'neutralized' | 'agreement'>> {
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

/** The wire format of one target: an evaluation without a gate, with the model that answered. */
interface TargetJson extends Omit<LlmEvalJson, 'passed' | 'threshold' | 'verdicts' | 'seed'> {
  readonly provider: string;
  readonly model: string;
}

/** The wire format of a run with several targets. */
export interface LlmTargetsJson extends Omit<LlmEvalJson, 'metrics' | 'dry_run' | 'judge' | 'unread' | 'collected'> {
  readonly targets: Readonly<Record<string, TargetJson>>;
  /** The differences by name, such as `decision_gap.gender[new-old]`. */
  readonly differences: Readonly<Record<string, LlmTargetDifferenceJson>>;
}

/**
 * Converts an evaluation to plain data in snake_case, in the format that the command line prints with `--json`. The
 * data does not include the answers, which are in the transcripts.
 */
export function llmEvalToJson(result: LlmEvalResult, options?: LlmEvalReportOptions): LlmEvalJson;
export function llmEvalToJson(result: LlmTargetsResult, options?: LlmEvalReportOptions): LlmTargetsJson;
export function llmEvalToJson(
  result: LlmEvalResult | LlmTargetsResult,
  options?: LlmEvalReportOptions,
): LlmEvalJson | LlmTargetsJson;
export function llmEvalToJson(
  result: LlmEvalResult | LlmTargetsResult,
  options: LlmEvalReportOptions = {},
): LlmEvalJson | LlmTargetsJson {
  assertKnownOptions('llmEvalToJson', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const { passed, threshold, metrics: verdicts } = options.verdict ?? NO_VERDICT;
  const { planned, actual, stopped, warnings, seed } = result;
  const gate = { passed, threshold, verdicts };
  if (!hasTargets(result)) return { ...gate, ...evaluationToJson(result), seed };
  const targets = Object.entries(result.targets).map(([name, target]): [string, TargetJson] => [
    name,
    { ...answeredBy(target), ...evaluationToJson(target) },
  ]);
  return {
    ...gate,
    targets: Object.fromEntries(targets),
    differences: Object.fromEntries(
      Object.entries(result.differences).map(([name, difference]) => [name, difference.toJSON()]),
    ),
    planned: snakeFields(planned),
    actual: snakeFields(actual),
    ...{ stopped, warnings, seed },
  };
}

function evaluationToJson(result: LlmEvalResult): Omit<LlmEvalJson, 'passed' | 'threshold' | 'verdicts' | 'seed'> {
  const { metrics, dryRun, planned, actual, stopped, collected = null, warnings } = result;
  return {
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, metric.toJSON()])),
    dry_run: dryRunToJson(dryRun),
    planned: snakeFields(planned),
    actual: snakeFields(actual),
    stopped,
    judge: judgeToJson(result),
    unread: result.unread ?? [],
    collected,
    warnings,
  };
}
