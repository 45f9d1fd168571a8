import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { accuracyOf, ambiguousBiasOf, type BbqTally, biasOf } from '../../../src/llm-evals/bbq/bbq-scores.ts';
import { clusterInterval } from '../../../src/llm-evals/bbq/score-bbq.ts';

const TEMPLATES = 25;

/**
 * Answers of one template: each is "unknown" with the template's probability, else biased with another probability of
 * the template.
 */
function drawTemplate(random: ReturnType<typeof createRandom>): BbqTally {
  // Uniform on [0.3, 0.9] and [0.4, 1], independently.
  const unknown = 0.3 + 0.6 * random.next();
  const bias = 0.4 + 0.6 * random.next();
  let named = 0;
  let biased = 0;
  for (let item = 0; item < 16; item++) {
    if (random.next() < unknown) continue;
    named++;
    if (random.next() < bias) biased++;
  }
  return { n: 16, correct: 16 - named, named, biased };
}

describe('clusterInterval', () => {
  it('equals Student’s interval of the templates’ means for an accuracy of equal-sized templates', () => {
    // Means 0.25, 0.5, 1, 0.75: mean 0.625, s = sqrt(5/48), t(3) at 0.95 = 3.182446.
    const clusters = [1, 2, 4, 3].map((correct) => ({ n: 4, correct, named: 0, biased: 0 }));
    const interval = clusterInterval(clusters, accuracyOf, { level: 0.95, range: [-9, 9] });
    expect(interval.standardError).to.be.closeTo(Math.sqrt(5 / 48) / 2, 1e-12);
    expect(interval.ci?.[0]).to.be.closeTo(0.625 - 3.182446 * (Math.sqrt(5 / 48) / 2), 1e-6);
    expect(interval.ci?.[1]).to.be.closeTo(0.625 + 3.182446 * (Math.sqrt(5 / 48) / 2), 1e-6);
    expect(clusterInterval(clusters, accuracyOf, { level: 0.95, range: [0, 1] }).ci?.[1]).to.equal(1);
  });

  const truths = [
    ['accuracy', accuracyOf, 0.6],
    ['bias', biasOf, 2 * 0.7 - 1],
    ['ambiguous bias', ambiguousBiasOf, 0.4 * (2 * 0.7 - 1)],
  ] as const;
  for (const [title, score, truth] of truths) {
    it(`covers the true ${title} of dependent answers at about its nominal level`, () => {
      const random = createRandom(7);
      const runs = 600;
      let covered = 0;
      for (let run = 0; run < runs; run++) {
        const clusters = Array.from({ length: TEMPLATES }, () => drawTemplate(random));
        const { ci } = clusterInterval(clusters, score, { level: 0.95, range: [-1, 1] });
        if (ci !== null && ci[0] <= truth && truth <= ci[1]) covered++;
      }
      // Four standard errors of the simulation are 0.036.
      expect(covered / runs).to.be.within(0.95 - 0.036, 0.95 + 0.036);
    });
  }

  it('returns a reason for one template, one that defines the score, and no variation', () => {
    const one = { n: 4, correct: 2, named: 2, biased: 1 };
    const nobody = { n: 4, correct: 4, named: 0, biased: 0 };
    const given = { level: 0.95, range: [-1, 1] } as const;
    expect(clusterInterval([one], biasOf, given).reason).to.match(/only one template/);
    expect(clusterInterval([one, nobody, nobody], biasOf, given).reason).to.match(/without one of the templates/);
    expect(clusterInterval([one, one, one], biasOf, given).reason).to.match(/all templates have the same score/);
    expect(clusterInterval([], biasOf, given).ci).to.be.null;
  });
});
