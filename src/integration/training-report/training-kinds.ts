import { cutItems } from '../../document/report-text.ts';
import { type ReportBlock } from '../../document/report-document.ts';
import { capital } from '../../internal/format.ts';
import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import type { LagrangianJobResult } from '../../training/jobs/train-lagrangian.ts';
import type { ReductionsJobResult } from '../../training/jobs/train-reductions.ts';
import type { ParetoSweep } from '../../training/pareto/pareto-sweep.ts';
import type { TableCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import type { WorkflowFindings } from '../workflow-result.ts';

/** What a training left behind that a report can be made of. */
export type ReportedTraining = ParetoSweep | TrainingJobResult | TableCalibration | WorkflowFindings;

/** Whether this is what `sweepPareto` gave. */
export function isSweep(result: unknown): result is ParetoSweep {
  return Array.isArray(result) && has(result, 'hypervolume', 'penalty');
}

/** Whether this is what `executeWorkflow` gave. */
export function isWorkflow(result: unknown): result is WorkflowFindings {
  return has(result, 'validation', 'baselineMetrics', 'finalMetrics');
}

/** Whether this is what `trainReductions` or `trainLagrangian` gave. */
export function isTrainingJob(result: unknown): result is TrainingJobResult {
  return has(result, 'baseline', 'final', 'train', 'constraint');
}

/** Whether this is what `trainLagrangian` gave. */
export function isLagrangianJob(result: unknown): result is LagrangianJobResult {
  return isTrainingJob(result) && has(result, 'history', 'bestEpoch');
}

/** Whether this is what `trainReductions` gave. */
export function isReductionsJob(result: unknown): result is ReductionsJobResult {
  return isTrainingJob(result) && has(result, 'bestGap', 'oracleCalls');
}

/** Whether this is what `calibrateTable` gave. */
export function isCalibration(result: unknown): result is TableCalibration {
  return has(result, 'before', 'after', 'curves', 'calibrator');
}

function has(result: unknown, ...keys: readonly string[]): boolean {
  return typeof result === 'object' && result !== null && keys.every((key) => key in result);
}

/** Returns the warnings of a result as a note; nothing where there are none. */
export function warningNotes({ warnings }: { readonly warnings: readonly string[] }): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings.map(capital)) }];
}
