import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { Transcript } from '../client/transcript.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import type { JudgeReport } from '../outcome/judge.ts';
import type { StopReason } from '../scheduler/budget.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** The answers of a run that scored collected answers and sent nothing. */
export interface CollectedAnswers {
  /** The path of the file, or `answers` if the answers were given as rows. */
  readonly source: string;
  /** The number of rows, with and without answers. */
  readonly rows: number;
  readonly answered: number;
  /** The columns that are compared. */
  readonly dimensions: readonly string[];
  /** The columns by which no answers could be compared; the warnings state the reasons. Omitted if there are none. */
  readonly uncompared?: readonly string[] | undefined;
  /** The column whose values are the independent units; null if there is none. */
  readonly cluster: string | null;
  /** The number of different values of the cluster; null if there is no cluster. */
  readonly clusters: number | null;
}

/** The result of an evaluation; frozen. */
export interface LlmEvalResult {
  /** Metrics by name, such as `sentiment_gap.gender`. */
  readonly metrics: Readonly<Record<string, LlmMetricResult>>;
  readonly dryRun: DryRunEstimate;
  /** The prompts and answers, one entry for each answer that an evaluator requested. */
  readonly transcripts: readonly Transcript[];
  readonly planned: PlannedSpending;
  readonly actual: ActualSpending;
  /** The reason why the run ended early; null if it completed its plan. */
  readonly stopped: StopReason | null;
  /** The judge's biases, agreement and spending; null if the run has no judge. */
  readonly judge?: (JudgeReport & { readonly actual: ActualSpending }) | null;
  /** The answers from which a declared outcome or a custom metric could not be read, with examples. */
  readonly unread?: readonly UnreadAnswers[];
  readonly config: LLMEvalConfig;
  /** The id of the client that was passed to the run; null if the provider of the configuration was used. */
  readonly client?: string | null;
  /** The collected answers that were scored; null if a model was asked. */
  readonly collected?: CollectedAnswers | null;
  readonly seed: number;
  /** Warnings about the validity of the results. */
  readonly warnings: readonly string[];
}
