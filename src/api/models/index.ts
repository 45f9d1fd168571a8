import type { z } from 'zod';

import { llmEvalBodySchema, pipelineFormSchema, validateBodySchema, workflowFormSchema } from './bodies.ts';
import {
  dryRunSchema,
  llmDryRunSchema,
  llmEvalAnswerSchema,
  llmEvaluationSchema,
  llmMetricResultSchema,
} from './llm-eval-answer.ts';
import { exclusionSchema, metricFrameSchema, metricResultSchema, missingRowsSchema } from './metric-result.ts';
import { detectorReportSchema, pipelineAnswerSchema, pipelineStepSchema } from './pipeline-answer.ts';
import { invalidFieldSchema, healthSchema, problemSchema, readinessSchema } from './problem.ts';
import {
  acceptedSchema,
  cancelledSchema,
  runEventSchema,
  runListSchema,
  runSchema,
  runStatusSchema,
  runSummarySchema,
} from './run.ts';
import {
  attributeValidationSchema,
  gateVerdictSchema,
  readLabelsSchema,
  severalValidationSchema,
  singleValidationSchema,
  validationAnswerSchema,
  verdictSchema,
} from './validation-answer.ts';
import { workflowAnswerSchema, workflowMetricsSchema, workflowValidationSchema } from './workflow-answer.ts';

export {
  acceptedSchema,
  cancelledSchema,
  detectorReportSchema,
  dryRunSchema,
  healthSchema,
  llmEvalAnswerSchema,
  llmEvalBodySchema,
  llmMetricResultSchema,
  metricFrameSchema,
  metricResultSchema,
  pipelineAnswerSchema,
  pipelineFormSchema,
  problemSchema,
  readinessSchema,
  runEventSchema,
  runListSchema,
  runSchema,
  validateBodySchema,
  validationAnswerSchema,
  workflowAnswerSchema,
  workflowFormSchema,
};

/** The models of request bodies. */
export const BODY_MODELS = [validateBodySchema, pipelineFormSchema, workflowFormSchema, llmEvalBodySchema] as const;

/** The models of response bodies. */
export const ANSWER_MODELS = [
  validationAnswerSchema,
  singleValidationSchema,
  severalValidationSchema,
  attributeValidationSchema,
  verdictSchema,
  gateVerdictSchema,
  readLabelsSchema,
  metricResultSchema,
  missingRowsSchema,
  exclusionSchema,
  metricFrameSchema,
  pipelineAnswerSchema,
  pipelineStepSchema,
  detectorReportSchema,
  workflowAnswerSchema,
  workflowValidationSchema,
  workflowMetricsSchema,
  llmEvalAnswerSchema,
  llmEvaluationSchema,
  llmDryRunSchema,
  llmMetricResultSchema,
  dryRunSchema,
  runSchema,
  runListSchema,
  runSummarySchema,
  runStatusSchema,
  runEventSchema,
  acceptedSchema,
  cancelledSchema,
  problemSchema,
  invalidFieldSchema,
  healthSchema,
  readinessSchema,
] as const;

/** `GET /health` */
export type Health = z.output<typeof healthSchema>;

/** `GET /ready` */
export type Readiness = z.output<typeof readinessSchema>;

/** The reason why there is no result. */
export type Problem = z.output<typeof problemSchema>;

/** The body of `POST /validate`. */
export type ValidateBody = z.input<typeof validateBodySchema>;

/** The body of `POST /llm-eval`. */
export type LlmEvalBody = z.input<typeof llmEvalBodySchema>;

/** The answer of `POST /validate`. */
export type ValidationAnswer = z.output<typeof validationAnswerSchema>;

/** The answer of `POST /pipeline`. */
export type PipelineAnswer = z.output<typeof pipelineAnswerSchema>;

/** The answer of `POST /workflow`. */
export type WorkflowAnswer = z.output<typeof workflowAnswerSchema>;

/** The answer of `POST /llm-eval`. */
export type LlmEvalAnswer = z.output<typeof llmEvalAnswerSchema>;

/** The answer of `GET /results/{run_id}`. */
export type Run = z.output<typeof runSchema>;

/** A run in the list of `GET /results`. */
export type RunSummary = z.output<typeof runSummarySchema>;

/** The body of a 202 answer. */
export type Accepted = z.output<typeof acceptedSchema>;

/** An event of a run. */
export type RunEvent = z.output<typeof runEventSchema>;
