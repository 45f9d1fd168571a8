import { jobToJson } from './job-result.ts';
import type { LagrangianJobResult } from './train-lagrangian.ts';

/** What `trainLagrangian` found as JSON has it. */
export function lagrangianJobToJson(result: LagrangianJobResult): Record<string, unknown> {
  const { baseline, final, ...rest } = jobToJson(result);
  return {
    baseline,
    final,
    history: result.history.map(({ epoch, loss, violationSoft, violationHard, lambdas }) => ({
      epoch,
      loss,
      violation_soft: violationSoft,
      violation_hard: violationHard,
      lambdas,
    })),
    best_epoch: result.bestEpoch,
    batch_size: result.batchSize,
    ...rest,
  };
}
