import { jobToJson } from './job-result.ts';
import type { ReductionsJobResult } from './train-reductions.ts';

/** What `trainReductions` found as JSON has it. */
export function reductionsJobToJson(result: ReductionsJobResult): Record<string, unknown> {
  const { baseline, final, ...rest } = jobToJson(result);
  return {
    baseline,
    final,
    oracle_calls: result.oracleCalls,
    best_gap: result.bestGap,
    iterations: result.iterations,
    predictors: result.predictors,
    violation: result.violation,
    ...rest,
  };
}
