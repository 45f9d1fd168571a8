import type { z } from 'zod';

import * as metric from './answer-fields.ts';
import * as bodies from './bodies.ts';
import * as llm from './llm-eval-answer.ts';
import * as monitor from './monitor-answer.ts';
import * as pipeline from './pipeline-answer.ts';
import * as problem from './run.ts';
import * as run from './run.ts';
import * as tables from './table-answers.ts';
import * as validation from './validation-answer.ts';
import * as workflow from './workflow-answer.ts';

export { llmEvalBodySchema, pipelineFormSchema, validateBodySchema, workflowFormSchema } from './bodies.ts';
export { dryRunSchema, llmEvalAnswerSchema, llmMetricResultSchema } from './llm-eval-answer.ts';
export { metricFrameSchema, metricResultSchema } from './answer-fields.ts';
export { eventsAnswerSchema, labelsAnswerSchema, streamListSchema, streamStateSchema } from './monitor-answer.ts';
export { detectorReportSchema, pipelineAnswerSchema } from './pipeline-answer.ts';
export { healthSchema, problemSchema, readinessSchema } from './run.ts';
export { acceptedSchema, cancelledSchema, runEventSchema, runListSchema, runSchema } from './run.ts';
export { abTestBodySchema, calibrateBodySchema, predictBodySchema, trainBodySchema } from './bodies.ts';
export { validateFormSchema } from './bodies.ts';
export { abTestFormSchema, calibrateFormSchema, predictFormSchema, trainFormSchema } from './bodies.ts';
export { abTestAnswerSchema, calibrateAnswerSchema, predictAnswerSchema, trainAnswerSchema } from './table-answers.ts';
export { validationAnswerSchema } from './validation-answer.ts';
export { workflowAnswerSchema } from './workflow-answer.ts';

/** The models of request bodies. */
export const BODY_MODELS = [
  bodies.validateBodySchema,
  bodies.validateFormSchema,
  bodies.pipelineFormSchema,
  bodies.workflowFormSchema,
  bodies.llmEvalBodySchema,
  bodies.predictBodySchema,
  bodies.predictFormSchema,
  bodies.calibrateBodySchema,
  bodies.calibrateFormSchema,
  bodies.abTestBodySchema,
  bodies.abTestFormSchema,
  bodies.trainBodySchema,
  bodies.trainFormSchema,
] as const;

/** The models of response bodies. */
export const ANSWER_MODELS = [
  validation.validationAnswerSchema,
  validation.singleValidationSchema,
  validation.severalValidationSchema,
  validation.attributeValidationSchema,
  validation.verdictSchema,
  validation.gateVerdictSchema,
  validation.readLabelsSchema,
  metric.metricResultSchema,
  metric.missingRowsSchema,
  metric.exclusionSchema,
  metric.metricFrameSchema,
  pipeline.pipelineAnswerSchema,
  pipeline.pipelineStepSchema,
  pipeline.detectorReportSchema,
  workflow.workflowAnswerSchema,
  workflow.workflowValidationSchema,
  workflow.workflowMetricsSchema,
  llm.llmEvalAnswerSchema,
  llm.llmEvaluationSchema,
  llm.llmDryRunSchema,
  llm.llmComparisonSchema,
  llm.llmTargetsDryRunSchema,
  llm.llmMetricResultSchema,
  llm.llmTargetDifferenceSchema,
  llm.dryRunSchema,
  monitor.streamStateSchema,
  monitor.monitorAlertSchema,
  monitor.eventsAnswerSchema,
  monitor.labelsAnswerSchema,
  monitor.streamListSchema,
  tables.predictAnswerSchema,
  tables.calibrateAnswerSchema,
  tables.abTestAnswerSchema,
  tables.abRowSchema,
  tables.abEffectSchema,
  tables.abGroupEffectSchema,
  tables.abComparisonSchema,
  tables.trainAnswerSchema,
  tables.reductionsAnswerSchema,
  tables.lagrangianAnswerSchema,
  tables.sweepAnswerSchema,
  tables.decisionQualitySchema,
  run.runSchema,
  run.runListSchema,
  run.runSummarySchema,
  run.runStatusSchema,
  run.runEventSchema,
  run.acceptedSchema,
  run.cancelledSchema,
  problem.problemSchema,
  problem.invalidFieldSchema,
  problem.healthSchema,
  problem.readinessSchema,
] as const;

/** `GET /health` */
export type Health = z.output<typeof problem.healthSchema>;

/** `GET /ready` */
export type Readiness = z.output<typeof problem.readinessSchema>;

/** The reason why there is no result. */
export type Problem = z.output<typeof problem.problemSchema>;

/** The body of `POST /validate`. */
export type ValidateBody = z.input<typeof bodies.validateBodySchema>;

/** The body of `POST /llm-eval`. */
export type LlmEvalBody = z.input<typeof bodies.llmEvalBodySchema>;

/** The answer of `POST /validate`. */
export type ValidationAnswer = z.output<typeof validation.validationAnswerSchema>;

/** The answer of `POST /pipeline`. */
export type PipelineAnswer = z.output<typeof pipeline.pipelineAnswerSchema>;

/** The answer of `POST /workflow`. */
export type WorkflowAnswer = z.output<typeof workflow.workflowAnswerSchema>;

/** The answer of `POST /llm-eval`. */
export type LlmEvalAnswer = z.output<typeof llm.llmEvalAnswerSchema>;

/** The answer of `POST /predict`. */
export type PredictAnswer = z.output<typeof tables.predictAnswerSchema>;

/** The answer of `POST /calibrate`. */
export type CalibrateAnswer = z.output<typeof tables.calibrateAnswerSchema>;

/** The answer of `POST /ab-test`. */
export type ABTestAnswer = z.output<typeof tables.abTestAnswerSchema>;

/** The answer of `POST /train`. */
export type TrainAnswer = z.output<typeof tables.trainAnswerSchema>;

/** The answer of `GET /monitor/{stream}`. */
export type StreamState = z.output<typeof monitor.streamStateSchema>;

/** The answer of `GET /results/{run_id}`. */
export type Run = z.output<typeof run.runSchema>;

/** A run in the list of `GET /results`. */
export type RunSummary = z.output<typeof run.runSummarySchema>;

/** The body of a 202 answer. */
export type Accepted = z.output<typeof run.acceptedSchema>;

/** An event of a run. */
export type RunEvent = z.output<typeof run.runEventSchema>;
