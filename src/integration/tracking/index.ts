export { logFairnessMetrics, type TrackedMetrics } from './log-fairness-metrics.ts';
export { logWorkflowResults, trackWorkflow } from './log-workflow-results.ts';
export type { ArtifactTrackingOptions, TrackingOptions } from './track-run.ts';
export { type LlmEvalTrackingOptions, logLlmEvalResults } from './log-llm-eval-results.ts';
