import { expect } from 'chai';

import { LagrangianFairnessTrainer, type LagrangianFairnessTrainerOptions } from '../../../src/training/index.ts';
import { describeWithReference } from '../../helpers/reference.ts';
import { type DataName, loadAnchorData, measure, type Part, readAnchors } from '../../helpers/anchor-data.ts';

const spread = (rates: Readonly<Record<string, number>>): number =>
  Math.max(...Object.values(rates)) - Math.min(...Object.values(rates));

const read = (name: DataName) => loadAnchorData(name, readAnchors()[name]);

async function train({ x, y, sensitive }: Part, options: LagrangianFairnessTrainerOptions) {
  return new LagrangianFairnessTrainer({ backend: 'wasm', ...options }).fit(x, y, { sensitive });
}

describeWithReference('the lagrangian on real data @slow', function () {
  for (const [fairness, gaps] of [
    ['equal_opportunity', ['tpr']],
    ['equalized_odds', ['tpr', 'fpr']],
  ] as const) {
    it(`on Adult, ${fairness} falls below the tolerance + 0.01 on training rows; the multipliers rise and fall`, async function () {
      this.timeout(120_000);
      const data = await read('adult');
      const options = { epochs: 40, batchSize: 256, lambdaLr: 0.02, smoothing: 0.97, patience: 40, seed: 1 };
      const trainer = await train(data.train, { fairness, ...options });
      const found = measure(await trainer.predict(data.train.x), data.train);
      for (const gap of gaps) expect(spread(found[gap])).to.be.below(0.03);
      const best = trainer.history[trainer.bestEpoch - 1];
      expect(best?.violationHard).to.be.below(0.03);
      expect(best?.violationSoft).to.be.below(0.03);
      const moves = trainer.history
        .slice(1)
        .flatMap(({ lambdas }, index) =>
          lambdas.map((lambda, event) => lambda - (trainer.history[index]?.lambdas[event] ?? NaN)),
        );
      expect([Math.min(...moves) < 0, Math.max(...moves) > 0]).to.deep.equal([true, true]);
    });
  }

  it('on COMPAS without race, over 5 seeds, a gap of at most 0.10 at an accuracy of at least 0.61', async function () {
    this.timeout(300_000);
    const data = await read('compas');
    const sums = { accuracy: 0, dp: 0 };
    for (const seed of [1, 2, 3, 4, 5]) {
      const options = { dpTol: 0.1, hidden: [16], modelLr: 0.005, epochs: 60, patience: 60, seed };
      const trainer = await train(data.train, options);
      const found = measure(await trainer.predict(data.test.x), data.test);
      sums.accuracy += found.accuracy / 5;
      sums.dp += found.dpd / 5;
    }
    // Exponentiated gradient on linear models reaches .605 at .093 here.
    expect(sums.dp).to.be.at.most(0.1);
    expect(sums.accuracy).to.be.at.least(0.61);
  });
});
