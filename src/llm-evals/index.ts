export * from './bbq/index.ts';
export { type ModelIdentity, type RequestIdentity, requestKey } from './cache/request-key.ts';
export * from './cache/response-cache.ts';
export * from './cache/with-cache.ts';
export { type LiveAccess, liveAccess, type LiveAccessOptions } from './client/access.ts';
export { type EmbedderOptions, getEmbedder } from './run/get-embedder.ts';
export * from './run/get-llm-client.ts';
export type {
  ChatMessage,
  ClientFailure,
  Completion,
  CompletionOptions,
  FailureKind,
  FinishReason,
  LLMClient,
  TokenUsage,
} from './client/llm-client.ts';
export * from './client/llm-eval-adapter.ts';
export { createLocalClient, type LocalClientOptions } from './client/local-client.ts';
export * from './client/provider-client.ts';
export { createReplayClient, type ReplayClientOptions } from './client/replay-client.ts';
export { type Environment, looksLikeSecret, redactSecrets } from './client/secrets.ts';
export * from './config/index.ts';
export { buildEstimate, type EstimateInput, type PlannedPart, type PlannedRequest } from './dry-run/build-estimate.ts';
export type { DryRunEstimate, DryRunPart, EstimateRange, JudgeEstimate } from './dry-run/dry-run-estimate.ts';
export * from './dry-run/dry-run-json.ts';
export type { TargetsEstimate, TargetsEstimateJson } from './dry-run/targets-estimate.ts';
export { estimateTokens } from './dry-run/estimate-tokens.ts';
export { costOf, type ListedPrice, type PricedModel, priceOf } from './dry-run/model-prices.ts';
export * from './dry-run/spending-table.ts';
export * from './evaluators/benchmark-evaluator.ts';
export * from './evaluators/counterfactual-fairness-evaluator.ts';
export type { Embedder } from './scoring/embedding-distance.ts';
export type { LLMEvaluator, OwnMetric, ScoreOptions } from './scoring/llm-evaluator.ts';
export {
  type LlmMetricFields,
  LlmMetricResult,
  type LlmMetricResultJson,
  type PairComparison,
  type UnitValue,
  type UnitValues,
} from './scoring/llm-metric-result.ts';
export {
  LlmTargetDifference,
  type LlmTargetDifferenceFields,
  type LlmTargetDifferenceJson,
} from './scoring/llm-target-difference.ts';
export * from './evaluators/refusal-rate-evaluator.ts';
export * from './evaluators/stereotype-association-evaluator.ts';
export * from './evaluators/toxicity-sentiment-evaluator.ts';
export type { JudgeAgreement, JudgeBias, JudgeCounts, JudgeReport } from './outcome/judge.ts';
export type { CustomMetrics, MetricFunction, MetricValue } from './outcome/metric-functions.ts';
export type { NeutralizedCounts } from './outcome/neutral-wording.ts';
export type { OutcomeKind, OutcomeReading } from './client/transcript.ts';
export * from './plan/counterfactual/index.ts';
export type { PlannedMessage } from './plan/conversation.ts';
export type { LLMRequest, PlannedPrompt } from './plan/planned-prompt.ts';
export * from './report/index.ts';
export { estimateDryRun } from './run/dry-run.ts';
export * from './run/llm-eval-result.ts';
export type { UnreadAnswers } from './run/unread-answers.ts';
export type { BudgetAccount, RunLimits, RunPrice, StopReason, TokenCeiling } from './scheduler/budget.ts';
export { plannedMetrics } from './run/score-run.ts';
export { runLlmEval } from './run/run-llm-eval.ts';
export { estimateTargets } from './run/estimate-targets.ts';
export { type LlmTargetsResult, targetMetrics } from './run/llm-targets-result.ts';
export type { TargetsPlanOptions } from './run/prepare-targets.ts';
export {
  plannedTargetMetrics,
  type PlannedTargetMetrics,
  runLlmTargets,
  type RunLlmTargetsOptions,
} from './run/run-llm-targets.ts';
export type { PlanOptions, RunLlmEvalOptions } from './run/run-options.ts';
export type { RowOptions } from './rows/read-prompt-rows.ts';
export type { SchedulerClock } from './scheduler/clock.ts';
export type { RetryOptions } from './scheduler/retry-policy.ts';
export type { RunRequestsOptions, RunSummary } from './scheduler/run-options.ts';
export * from './scheduler/run-requests.ts';
export * from './scheduler/with-retries.ts';
export type {
  AnswerCells,
  BbqFormat,
  BenchmarkName,
  BenchmarkSource,
  CommandInput,
  CounterfactualConfig,
  EmbeddingConfig,
  EvaluatorName,
  HttpEndpointConfig,
  JudgeConfig,
  JudgeRubric,
  LLMEvalConfig,
  LLMParams,
  LLMProvider,
  LlmTarget,
  NumberSource,
  OutcomeConfig,
  OutcomeName,
  OutcomeSpec,
  PromptTemplate,
  TemplateMessage,
  TokenPrice,
} from '../schemas/llm-eval/llm-eval-document.ts';
export * from './stereotype/index.ts';
export * from './text/refusal/classify-refusal.ts';
export { vaderScores, type VaderScores } from './text/sentiment/vader-scores.ts';
export { bleuBothWays } from './text/similarity/bleu-both-ways.ts';
export * from './text/similarity/jaccard-similarity.ts';
export * from './text/similarity/ranked-lists.ts';
export { rougeL } from './text/similarity/rouge-l.ts';
export { tokenizeWords } from './text/words.ts';
export { LEXICON_LABEL, lexiconToxicity, type ToxicityScorer } from './toxicity/lexicon-toxicity.ts';
export { scoreToxicity, toxicityLabel } from './toxicity/score-toxicity.ts';
export * from './toxicity/onnx-toxicity-scorer.ts';
export * from './toxicity/tfjs-toxicity-scorer.ts';
export * from './toxicity/toxicity-measures.ts';
export * from './transcript/transcript-log.ts';
export { readTranscripts } from './transcript/read-transcripts.ts';
export type { AnswerFailure, AnswerRecord, Transcript } from './client/transcript.ts';
