import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import type { LagrangianJobResult } from '../../training/jobs/train-lagrangian.ts';
import type { ReductionsJobResult } from '../../training/jobs/train-reductions.ts';
import type { ParetoSweep } from '../../training/pareto/pareto-sweep.ts';
import type { TableCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import type { WorkflowFindings } from '../workflow-result.ts';

/** The training results that can be reported. */
export type ReportedTraining = ParetoSweep | TrainingJobResult | TableCalibration | WorkflowFindings;

/** Returns whether this is a result of `sweepPareto`. */
export function isSweep(result: unknown): result is ParetoSweep {
  return Array.isArray(result) && has(result, 'hypervolume', 'penalty');
}

/** Returns whether this is a result of `executeWorkflow`. */
export function isWorkflow(result: unknown): result is WorkflowFindings {
  return has(result, 'validation', 'baselineMetrics', 'finalMetrics');
}

/** Returns whether this is a result of `trainReductions` or `trainLagrangian`. */
export function isTrainingJob(result: unknown): result is TrainingJobResult {
  return has(result, 'baseline', 'final', 'train', 'constraint');
}

/** Returns whether this is a result of `trainLagrangian`. */
export function isLagrangianJob(result: unknown): result is LagrangianJobResult {
  return isTrainingJob(result) && has(result, 'history', 'bestEpoch');
}

/** Returns whether this is a result of `trainReductions`. */
export function isReductionsJob(result: unknown): result is ReductionsJobResult {
  return isTrainingJob(result) && has(result, 'bestGap', 'oracleCalls');
}

/** Returns whether this is a result of `calibrateTable`. */
export function isCalibration(result: unknown): result is TableCalibration {
  return has(result, 'before', 'after', 'curves', 'calibrator');
}

function has(result: unknown, ...keys: readonly string[]): boolean {
  return typeof result === 'object' && result !== null && keys.every((key) => key in result);
}
