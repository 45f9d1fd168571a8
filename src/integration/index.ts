export {
  assertFairness,
  type AssertFairnessOptions,
  type Comparator,
  COMPARATORS,
  judge,
  type JudgedMetric,
  type Verdict,
} from './assertions.ts';
export {
  assertLlmFairness,
  type AssertLlmFairnessOptions,
  judgeLlmEval,
  type JudgeLlmEvalOptions,
  type LlmMetrics,
} from './llm-eval-gate.ts';
export {
  type AttributeMetrics,
  type FileValidation,
  type GateVerdict,
  validateCounts,
  type ValidateCountsInput,
  validateFile,
  validateSql,
  type ValidateSqlInput,
} from './validate-file.ts';
export type { ValidateBounds } from './validate-bounds.ts';
export { validateRows, type ValidateRowsInput, validateRowsNow } from './validate-rows.ts';
export { validationToJson, validationToMarkdown } from './validation-report.ts';
export { createManifest, type EvidenceManifest } from './report-evidence.ts';
export type { ReportDifference } from './report-differences.ts';
export {
  type ReportVerification,
  type VerificationCheck,
  verifyReport,
  type VerifyReportOptions,
} from './verify-report.ts';
export { verifyWorkflow } from './verify-workflow.ts';
export {
  generateReportKeys,
  type ReportKeys,
  signReport,
  type SignReportOptions,
  verifySignature,
} from './sign-report.ts';
export { createModelCard, type ModelCard, type ModelCardOptions } from './model-card.ts';
export { type BaselineMeasurement, runBaselineMeasurement } from './workflow/baseline.ts';
export { executeWorkflow } from './workflow/execute-workflow.ts';
export type { BaselineOptions, WorkflowOptions } from './workflow/workflow-options.ts';
export type {
  HeldOutPredictions,
  TrackingOutcome,
  TradeOffPoint,
  ValidationResult,
  WorkflowArtifacts,
  WorkflowFindings,
  WorkflowMetrics,
  WorkflowResult,
  WorkflowSplit,
} from './workflow-result.ts';
export {
  type ArtifactTrackingOptions,
  logFairnessMetrics,
  logLlmEvalResults,
  type LlmEvalTrackingOptions,
  logWorkflowResults,
  type TrackedMetrics,
  type TrackingOptions,
} from './tracking/index.ts';
export {
  generateTrainingFairnessReport,
  type ReportedTraining,
  TRAINING_REPORT_FORMATS,
  type TrainingReportFormat,
  type TrainingReportOptions,
} from './training-report/generate-training-fairness-report.ts';
export {
  type MarkdownReportOptions,
  type ReportedFindings,
  toMarkdownReport,
  workflowToHtml,
  type WorkflowHtmlOptions,
  workflowToMarkdown,
} from './workflow-report/render-report.ts';
export {
  type WorkflowJson,
  workflowToJson,
  type WorkflowMetricsJson,
  type WorkflowValidationJson,
} from './workflow-report/workflow-to-json.ts';
