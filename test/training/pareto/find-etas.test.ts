import { expect } from 'chai';

import { TrainingError } from '../../../src/exceptions/index.ts';
import { type EtaProbe, findEtas } from '../../../src/training/pareto/find-etas.ts';
import { countPairs } from '../../../src/training/pareto/judge-outputs.ts';
import { changesGap } from '../../../src/training/pareto/sweep-pareto.ts';

/** A model whose gap falls from 0.2 as eta grows beyond `effect`, and that is constant from `collapse` on. */
function made(effect: number, collapse: number) {
  const asked: number[][] = [];
  const probe = (etas: readonly number[]): Promise<EtaProbe[]> => {
    asked.push([...etas]);
    return Promise.resolve(
      etas.map((eta) => {
        return { changesGap: eta >= effect, isConstant: eta >= collapse };
      }),
    );
  };
  return { probe, asked };
}

describe('a change of the gap', () => {
  /** 100 rows of each group; 20 of a and 60 of b are decided 1; then `lost` of b no longer. */
  const compare = (lost: number, labels: 'all' | 'each' = 'all', minGroupSize = 30): boolean => {
    const codes = Array.from({ length: 200 }, (_, row) => Number(row >= 100));
    const before = Uint8Array.from(codes, (code, row) => Number(row % 100 < (code === 0 ? 20 : 60)));
    const after = before.map((decision, row) => (row >= 100 && row < 100 + lost ? 0 : decision));
    const pairs = countPairs(before, after, { y: new Uint8Array(200), codes, groupCount: 2 });
    return changesGap(pairs, { labels, minGroupSize });
  };

  it('is none if both models make the same decisions', () => {
    expect(compare(0)).to.equal(false);
  });

  it('is distinguishable from noise by the paired z test: k of 100 rows changed give z = k / sqrt(k (1 - k / 100))', () => {
    // z: 3 -> 1.76, 4 -> 2.04 (5% level), 5 -> 2.29 (2.5% level)
    expect([3, 4].map((lost) => compare(lost))).to.deep.equal([false, true]);
    expect([4, 5].map((lost) => compare(lost, 'each'))).to.deep.equal([false, true]);
  });

  it('is none if groups have too few rows', () => {
    expect(compare(60, 'all', 101)).to.equal(false);
  });
});

describe('the search for etas', () => {
  for (const [effect, collapse] of [
    [0.3, 50],
    [0.01, 0.5],
    [2, 5000],
    [0.0001, 0.002],
    [20, 300_000],
  ] as const) {
    it(`finds where an effect begins and where the model is constant: ${effect} and ${collapse}`, async () => {
      const { etas, range } = await findEtas(made(effect, collapse).probe);
      // Both ends are found to a factor of the square root of 2, and 3 digits.
      expect(range.from).to.be.within((effect / Math.SQRT2) * 0.99, effect);
      expect(range.to).to.be.within((collapse / Math.SQRT2) * 0.99, collapse);
      expect(range.endsAt).to.equal('constant');
      expect(range.hasEffect).to.equal(true);
      expect([etas[0], etas[1], etas.at(-1)]).to.deep.equal([0, range.from, range.to]);
    });
  }

  it('returns 0 and eight etas in equal ratios, with three digits', async () => {
    const { etas, range } = await findEtas(made(0.3, 50).probe);
    expect(etas).to.have.length(9);
    const ratio = (range.to / range.from) ** (1 / 7);
    for (const [index, eta] of etas.slice(1).entries()) {
      expect(eta).to.be.closeTo(range.from * ratio ** index, 0.006 * eta);
      expect(eta).to.equal(Number(eta.toPrecision(3)));
    }
  });

  it('lists the etas that it tried, each once', async () => {
    const { probe, asked } = made(0.3, 50);
    const { range } = await findEtas(probe);
    expect(range.tried).to.deep.equal(asked.flat().sort((a, b) => a - b));
    expect(new Set(range.tried).size).to.equal(range.tried.length);
    expect(asked.length).to.be.at.most(4);
  });

  it('ends at the largest eta tried if no model is constant', async () => {
    const { range } = await findEtas(made(0.3, Infinity).probe);
    expect(range.endsAt).to.equal('limit');
    expect(range.to).to.equal(Math.max(...range.tried));
  });

  it('reports that no eta changes the gap before the model is constant', async () => {
    const { range, etas } = await findEtas(made(Infinity, 50).probe);
    expect(range.hasEffect).to.equal(false);
    expect(range.to).to.be.within(35, 50);
    expect(etas).to.have.length(9);
  });

  it('reports that no eta has an effect', async () => {
    const { range } = await findEtas(made(Infinity, Infinity).probe);
    expect([range.hasEffect, range.endsAt]).to.deep.equal([false, 'limit']);
  });

  it('rejects a model that is constant without a penalty', async () => {
    const probe = (etas: readonly number[]) =>
      Promise.resolve(etas.map((): EtaProbe => ({ changesGap: false, isConstant: true })));
    const error: unknown = await findEtas(probe).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TrainingError);
    expect((error as TrainingError).message).to.contain('constant');
  });

  it('rejects a penalty under which every eta gives a constant model', async () => {
    const error: unknown = await findEtas(made(1e-9, 1e-9).probe).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TrainingError);
  });
});
