import { expect } from 'chai';

import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { describeWithReference } from '../../../helpers/reference.ts';
import { anchorRun, type DataName, measure, readAnchors, type RunFigures } from '../../../helpers/anchor-data.ts';
import { type ScoredPart, scoredParts } from './real-data-scores.ts';

/** The arithmetic and the scores are the same, so only the last digits of a dot product may differ. */
const EXACT = 1e-12;

function expectFigures(own: RunFigures, expected: RunFigures): void {
  for (const name of ['accuracy', 'dpd', 'eod'] as const) {
    expect(own[name], name).to.be.closeTo(expected[name], EXACT);
  }
  for (const name of ['selection', 'tpr', 'fpr'] as const) {
    expect(Object.keys(own[name])).to.deep.equal(Object.keys(expected[name]).sort());
    for (const [group, rate] of Object.entries(expected[name])) {
      expect(own[name][group], `${name} of ${group}`).to.be.closeTo(rate, EXACT);
    }
  }
}

for (const name of ['compas', 'german', 'adult'] satisfies DataName[]) {
  describeWithReference(`ThresholdOptimizer on ${name}, as fairlearn's run on the same scores`, () => {
    const anchors = readAnchors()[name];
    const { n_train: nTrain, n_test: nTest } = anchors;
    const plain = anchorRun(anchors, 'unconstrained_lr');
    let train: ScoredPart;
    let test: ScoredPart;

    before(async () => {
      ({ train, test } = await scoredParts(name, anchors));
    });

    it('the scores are those of the run: the same rows, and the same decisions at 0.5', () => {
      expect([train.y.length, test.y.length]).to.deep.equal([nTrain, nTest]);
      for (const [part, expected] of [
        [train, plain.train],
        [test, plain.test],
      ] as const) {
        const decisions = part.scores.map((score) => Number(score > 0.5));
        expectFigures(measure(decisions, part), expected);
      }
    });

    for (const constraint of ['demographic_parity', 'equalized_odds'] as const) {
      it(`${constraint}: expected figures of training rows and test rows`, async () => {
        const optimizer = new ThresholdOptimizer({ constraint });
        await optimizer.fit(train.scores, train.y, { sensitive: train.sensitive });
        const run = anchorRun(anchors, `threshold_${constraint}`);
        for (const [part, expected] of [
          [train, run.train],
          [test, run.test],
        ] as const) {
          const probabilities = await optimizer.predictProba(part.scores, { sensitive: part.sensitive });
          expectFigures(measure(probabilities, part), expected);
        }
      });
    }
  });
}
