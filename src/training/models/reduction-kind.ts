import type { EstimatorJson } from '../estimators/estimator.ts';
import type { LossRange } from '../reductions/group-loss.ts';

/** Whether a reduction, as its `toJSON` tells it, predicts values and not decisions. */
export function givesValues({ params }: EstimatorJson): boolean {
  return params['constraint'] === 'bounded_group_loss' && params['loss'] !== 'zero_one';
}

/** What a reduction's values are cut to. */
export function givenRange({ params }: EstimatorJson): LossRange {
  return (params['range'] as LossRange | undefined) ?? [0, 1];
}
