import { expect } from 'chai';

import type { WorkflowMetrics } from '../../../src/integration/workflow-result.ts';
import { validateWorkflow } from '../../../src/integration/workflow/execute-workflow.ts';
import { worst } from '../../../src/integration/workflow/measure-predictions.ts';
import { computeMetric } from '../../../src/metrics/index.ts';

/** Returns decisions of two groups of ten, with the given number selected in each. */
function metricsOf(metric: string, selected: Readonly<Record<string, readonly [number, number]>>): WorkflowMetrics {
  const attributes = Object.fromEntries(
    Object.entries(selected).map(([attribute, counts]) => {
      const yPred = counts.flatMap((count) => Array.from({ length: 10 }, (_, row) => Number(row < count)));
      const sensitive = Array.from({ length: 20 }, (_, row) => (row < 10 ? 'a' : 'b'));
      return [attribute, { [metric]: computeMetric(metric, { yPred, sensitive }, { minGroupSize: 10 }) }];
    }),
  );
  const [, result] = worst(metric, attributes);
  return { n: 20, accuracy: 1, meanAbsoluteError: null, metrics: { [metric]: result }, attributes };
}

const DPD = 'demographic_parity_difference';
const DPR = 'demographic_parity_ratio';

describe('the validation of a workflow', () => {
  it('judges the worst attribute, and returns the change in percent of the baseline', () => {
    const before = metricsOf(DPD, { sex: [8, 4], race: [6, 5] });
    const after = metricsOf(DPD, { sex: [5, 5], race: [6, 4] });
    const validation = validateWorkflow(DPD, before, after, 0.15);
    expect(validation.attribute).to.equal('race');
    expect(validation.baselineMetricValue).to.be.closeTo(0.4, 1e-12);
    expect(validation.finalMetricValue).to.be.closeTo(0.2, 1e-12);
    expect(validation.improvementPercent).to.be.closeTo(-50, 1e-9);
    expect(validation.passed).to.equal(false);
    expect(validation.message).to.match(/^FAIL: demographic_parity_difference 0\.2000 > 0\.15\..*Judged by 'race'\.$/);
  });

  it('passes at the threshold, and has no verdict without one', () => {
    const same = metricsOf(DPD, { sex: [5, 4] });
    expect(validateWorkflow(DPD, same, same, same.metrics[DPD]?.value).passed).to.equal(true);
    expect(validateWorkflow(DPD, same, same, undefined)).to.include({ passed: null, threshold: null });
    expect(validateWorkflow(DPD, same, same, undefined).improvementPercent).to.equal(0);
  });

  it('treats a rising ratio as a reduction in unfairness, whichever group is ahead', () => {
    // Ratios 0.5 and 0.8: distances from parity of 0.5 and 0.2.
    const validation = validateWorkflow(DPR, metricsOf(DPR, { sex: [4, 8] }), metricsOf(DPR, { sex: [8, 10] }), 0.8);
    expect(validation.improvementPercent).to.be.closeTo(-60, 1e-9);
    expect(validation.passed).to.equal(true);
  });

  it('has no change in percent if the baseline is at parity', () => {
    const validation = validateWorkflow(DPD, metricsOf(DPD, { sex: [5, 5] }), metricsOf(DPD, { sex: [5, 4] }), 0.2);
    expect(validation.improvementPercent).to.equal(null);
  });

  it('fails if the metric of one attribute is undefined, and names it', () => {
    const before = metricsOf(DPD, { sex: [5, 4], race: [5, 5] });
    const race = computeMetric(DPD, { yPred: [0, 1], sensitive: ['a', 'b'] }, { minGroupSize: 10 });
    const after: WorkflowMetrics = { ...before, attributes: { ...before.attributes, race: { [DPD]: race } } };
    const validation = validateWorkflow(DPD, before, after, 0.9);
    expect(validation).to.include({ passed: false, attribute: 'race', improvementPercent: null });
    expect(validation.message).to.match(
      /^UNDEFINED: demographic_parity_difference has no value \(.*Judged by 'race'\.$/,
    );
  });
});
