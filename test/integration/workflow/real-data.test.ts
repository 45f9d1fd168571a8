import { expect } from 'chai';

import { executeWorkflow, type WorkflowResult } from '../../../src/integration/index.ts';
import { loadData } from '../../../src/io/index.ts';
import { loadConfig } from '../../../src/pipeline/index.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';

describeWithReference('the workflow of config/adult.yml on the Adult training rows @slow', () => {
  const run = async (classWeight?: null): Promise<WorkflowResult & { seconds: number }> => {
    const start = performance.now();
    const [config, data] = await Promise.all([
      loadConfig('config/adult.yml'),
      loadData(referencePath('data', 'adult.train.csv')),
    ]);
    const result = await executeWorkflow(config, data, classWeight === null ? { classWeight } : {});
    return { ...result, seconds: (performance.now() - start) / 1000 };
  };

  it('with balanced classes starts at a gap of 0.25 to 0.36 and ends at 0.05 or less, in 30 seconds', async () => {
    const { validation, seconds, split } = await run();
    expect(validation.baselineMetricValue).to.be.within(0.25, 0.36);
    expect(validation.finalMetricValue).to.be.at.most(0.05);
    expect(validation.improvementPercent).to.be.below(-80);
    expect(validation.passed).to.equal(true);
    expect(split.train.length + split.test.length).to.equal(32_561);
    expect(seconds).to.be.below(30);
  }).timeout(60_000);

  it('without class weights starts at 0.15 to 0.20, ends below 0.03, and loses less than 0.03 of accuracy', async () => {
    const { validation, baselineMetrics, finalMetrics, seconds } = await run(null);
    expect(validation.baselineMetricValue).to.be.within(0.15, 0.2);
    expect(validation.finalMetricValue).to.be.below(0.03);
    expect((baselineMetrics.accuracy ?? NaN) - (finalMetrics.accuracy ?? NaN)).to.be.below(0.03);
    expect(seconds).to.be.below(30);
  }).timeout(60_000);
});
