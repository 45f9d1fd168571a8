import { expect } from 'chai';
import { createRandom } from '../../../src/internal/random.ts';
import { scoreAssociations } from '../../../src/llm-evals/stereotype/score-associations.ts';

describe('scoreAssociations', () => {
  it('covers the true association of independent texts at about its nominal level @slow', () => {
    const random = createRandom(5);
    // Each target occurs with "she" at its own rate. The truth is half the distance of the rates to 1/2, doubled.
    const rates = { kind: 0.9, brave: 0.8, shy: 0.6, calm: 0.3 };
    const truth = (0.4 + 0.3 + 0.1 + 0.2) / 4;
    const targets = Object.keys(rates);
    const runs = 100;
    let covered = 0;
    for (let run = 0; run < runs; run++) {
      const texts = Array.from({ length: 80 }, () => {
        const target = targets[random.integer(targets.length)] as keyof typeof rates;
        return `${random.next() < rates[target] ? 'she' : 'he'} is ${target}`;
      });
      const options = { groups: { female: ['she'], male: ['he'] }, targets, seed: run };
      const [low, high] = scoreAssociations(texts, options)[0]?.ci ?? [NaN, NaN];
      if (low <= truth && truth <= high) covered++;
    }
    // Four standard errors of the simulation.
    expect(covered / runs).to.be.at.least(0.95 - 0.087);
  });

  it('treats texts of one unit as one: repeating an answer changes neither the value nor its precision', () => {
    const texts = [
      'She is kind.',
      'He is kind.',
      'She is kind and brave.',
      'He is brave.',
      'He is kind.',
      'She is shy.',
    ];
    const units = texts.map((_, index) => String(index));
    const [once] = scoreAssociations(texts, { units });
    const [twice] = scoreAssociations([...texts, ...texts], { units: [...units, ...units] });
    expect(twice?.value).to.be.closeTo(once?.value ?? NaN, 1e-12);
    expect(twice?.n).to.equal(6);
    expect(twice?.pValue).to.equal(once?.pValue);
    expect(twice?.noiseFloor).to.be.closeTo(once?.noiseFloor ?? NaN, 1e-12);
    expect(twice?.ci?.[0]).to.be.closeTo(once?.ci?.[0] ?? NaN, 1e-12);
    expect(twice?.ci?.[1]).to.be.closeTo(once?.ci?.[1] ?? NaN, 1e-12);
  });

  it('limits the interval to the range of the score', () => {
    const texts = Array.from({ length: 20 }, (_, index) => (index % 4 === 0 ? 'He is brave.' : 'She is kind.'));
    for (const { ci, metric } of scoreAssociations([...texts, 'She is brave.', 'He is kind.'])) {
      expect(ci?.[0] ?? 0, metric).to.be.at.least(0);
      if (metric === 'stereotypical_association') expect(ci?.[1]).to.be.at.most(0.5);
    }
  });

  it('swaps only the groups’ names if they are exchanged', () => {
    const texts = ['She is kind.', 'He is kind and he is shy.', 'She is shy.', 'He is shy.', 'He said she was kind.'];
    const groups = { first: ['she'], second: ['he'] };
    const turned = { first: ['he'], second: ['she'] };
    const values = (given: Record<string, string[]>) =>
      scoreAssociations(texts, { groups: given }).map(({ value }) => value);
    values(groups).forEach((value, index) => {
      expect(values(turned)[index]).to.be.closeTo(value, 1e-12);
    });
  });
});
