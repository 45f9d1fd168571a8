import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { bettingAudit, BettingProcess } from '../../../src/stats/sequential/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface ReferencePath {
  wealth: number[];
  bets: number[];
  threshold: number;
  reject_index: number | null;
}

interface BettingCase {
  id: string;
  a: number[];
  b: number[];
  alpha: number;
  paper: ReferencePath;
  reference_code_skips_first_pair: ReferencePath;
  composite_eps_0_1: {
    wealth_a_minus_b: number[];
    bets_a: number[];
    wealth_b_minus_a: number[];
    bets_b: number[];
    threshold: number;
    reject_index_a: number | null;
    reject_index_b: number | null;
  };
}

/** Compares to 1e-9 of each value, for any wealth. */
function expectPath(found: readonly number[], expected: number[]): void {
  expect(found).to.have.length(expected.length);
  expected.forEach((value, index) => {
    expect(found[index], `at ${index}`).to.be.closeTo(value, 1e-9 * Math.max(1e-3, Math.abs(value)));
  });
}

function expectAudit(found: ReturnType<typeof bettingAudit>, expected: ReferencePath): void {
  if (found.kind !== 'equal') throw new Error('another kind');
  expectPath(found.wealth, expected.wealth);
  expectPath(found.bets, expected.bets);
  expect(found.threshold).to.equal(expected.threshold);
  expect(found.rejectIndex).to.equal(expected.reject_index);
}

describeWithReference('betting audit agrees with its reference', () => {
  let cases: BettingCase[];
  before(() => {
    ({ cases } = readVectors('betting_audit.json') as { cases: BettingCase[] });
  });

  it('as in the paper', () => {
    expect(cases).to.have.length(3);
    for (const { a, b, alpha, paper } of cases) expectAudit(bettingAudit(a, b, { alpha }), paper);
  });

  it('as the published code, which skips the first pair', () => {
    for (const { a, b, alpha, reference_code_skips_first_pair: expected } of cases) {
      expectAudit(bettingAudit(a, b, { alpha, skipFirstPair: true }), expected);
    }
  });

  it('with a tolerance of 0.1, both one-sided processes', () => {
    for (const { a, b, alpha, composite_eps_0_1: expected } of cases) {
      const found = bettingAudit(a, b, { alpha, epsilon: 0.1 });
      if (found.kind !== 'within-epsilon') throw new Error('another kind');
      expectPath(found.aMinusB.wealth, expected.wealth_a_minus_b);
      expectPath(found.aMinusB.bets, expected.bets_a);
      expectPath(found.bMinusA.wealth, expected.wealth_b_minus_a);
      expectPath(found.bMinusA.bets, expected.bets_b);
      expect(found.threshold).to.equal(expected.threshold);
      expect(found.aMinusB.rejectIndex).to.equal(expected.reject_index_a);
      expect(found.bMinusA.rejectIndex).to.equal(expected.reject_index_b);
      expect(found.rejectIndex).to.equal(expected.reject_index_a ?? expected.reject_index_b);
    }
  });
});

describe('betting audit', () => {
  const random = createRandom(4);
  const a = Array.from({ length: 60 }, () => random.next());
  const b = Array.from({ length: 60 }, () => random.next() ** 2);

  it('does not depend on which group is first', () => {
    expect(bettingAudit(a, b).wealth).to.deep.equal(bettingAudit(b, a).wealth);
    const [one, other] = [bettingAudit(a, b, { epsilon: 0.05 }), bettingAudit(b, a, { epsilon: 0.05 })];
    if (one.kind !== 'within-epsilon' || other.kind !== 'within-epsilon') throw new Error('another kind');
    expect(one.aMinusB).to.deep.equal(other.bMinusA);
  });

  it('uses only the past: a longer stream begins with the same wealth', () => {
    const short = bettingAudit(a.slice(0, 20), b.slice(0, 20));
    expect(bettingAudit(a, b).wealth.slice(0, 20)).to.deep.equal(short.wealth);
  });

  it('keeps its wealth for equal pairs, and returns an empty path for no pairs', () => {
    expect(new Set(bettingAudit(a, a).wealth)).to.deep.equal(new Set([1]));
    expect(bettingAudit([], [])).to.deep.include({ wealth: [], bets: [], rejectIndex: null, n: 0 });
    expect(bettingAudit([1], [0], { skipFirstPair: true })).to.deep.include({ wealth: [], rejectIndex: null });
  });

  it('is deeply frozen and includes its parameters', () => {
    const audit = bettingAudit([1, 0], [0, 1], { alpha: 0.1 });
    expect(audit).to.be.frozen.and.to.include({ n: 2, alpha: 0.1, epsilon: 0, threshold: 10 });
    expect(audit.wealth).to.be.frozen;
    const tolerant = bettingAudit([1, 0], [0, 1], { epsilon: 0.2 });
    if (tolerant.kind !== 'within-epsilon') throw new Error('another kind');
    expect(tolerant.aMinusB).to.be.frozen;
    expect(tolerant).to.include({ threshold: 40, epsilon: 0.2, rejectIndex: null });
  });

  it('rejects equal means in at most 5% of streams checked after each of 500 pairs; a z test rejects far more', () => {
    const source = createRandom(12);
    let [rejected, rejectedByZ] = [0, 0];
    for (let stream = 0; stream < 400; stream++) {
      const rate = stream % 2 === 0 ? 0.5 : 0.2;
      const draw = () => Array.from({ length: 500 }, () => Number(source.next() < rate));
      const [one, other] = [draw(), draw()];
      rejected += Number(bettingAudit(one, other).rejectIndex !== null);
      let sum = 0;
      rejectedByZ += Number(
        one.some((value, index) => {
          sum += value - (other[index] as number);
          return index >= 30 && Math.abs(sum) > 1.96 * Math.sqrt(2 * rate * (1 - rate) * (index + 1));
        }),
      );
    }
    expect(rejected / 400).to.be.at.most(0.05);
    expect(rejectedByZ / 400).to.be.above(0.15);
  });

  it('rejects in at most 5% of streams at the edge of the tolerance', () => {
    const source = createRandom(13);
    let rejected = 0;
    for (let stream = 0; stream < 400; stream++) {
      const one = Array.from({ length: 500 }, () => Number(source.next() < 0.5));
      const other = Array.from({ length: 500 }, () => Number(source.next() < 0.4));
      rejected += Number(bettingAudit(one, other, { epsilon: 0.1 }).rejectIndex !== null);
    }
    expect(rejected / 400).to.be.at.most(0.05);
  });

  it('rejects invalid pairs with the reason', () => {
    expect(() => bettingAudit([1, 0], [1])).to.throw(DataValidationError, 'a has 2 values and b has 1');
    expect(() => bettingAudit([1, 2], [1, 1])).to.throw(
      DataValidationError,
      'a must hold numbers from 0 to 1. Got 2 at index 1',
    );
    expect(() => bettingAudit([1], [NaN])).to.throw(
      DataValidationError,
      'b must hold numbers from 0 to 1. Got NaN at index 0',
    );
    const text = ['yes'] as unknown as number[];
    expect(() => bettingAudit([1], text)).to.throw(DataValidationError, 'Got yes at index 0');
    expect(() => bettingAudit([1], [0], { alpha: 0 })).to.throw(ValueError, 'alpha');
    expect(() => bettingAudit([1], [0], { epsilon: 1 })).to.throw(ValueError, 'epsilon');
    expect(() => bettingAudit([1], [0], { epsilon: -0.1 })).to.throw(ValueError, 'epsilon');
    expect(() => bettingAudit([1, 0], [1]))
      .to.throw(DataValidationError)
      .with.deep.include({ code: 'length-mismatch', context: { a: 2, b: 1 } });
    expect(() => bettingAudit([1, 0], [1, -0.5]))
      .to.throw(DataValidationError)
      .with.deep.include({ code: 'invalid-value', context: { argument: 'b', index: 1, value: -0.5 } });
  });

  it('with a tolerance, rejects at the first pair at which either process rejects, in either order of the groups', () => {
    const far = Array.from({ length: 60 }, () => 1);
    const near = Array.from({ length: 60 }, () => 0);
    for (const [one, other] of [
      [far, near],
      // The second half reverses the difference, and has to win back what the first half lost.
      [
        [...far, ...near, ...near, ...near],
        [...near, ...far, ...far, ...far],
      ],
    ] as const) {
      const [first, second] = [bettingAudit(one, other, { epsilon: 0.1 }), bettingAudit(other, one, { epsilon: 0.1 })];
      if (first.kind !== 'within-epsilon' || second.kind !== 'within-epsilon') throw new Error('another kind');
      // Each pair multiplies the wealth by at most 1 + 0.5 x 0.9, so that 1 / 0.025 takes at least ten pairs.
      expect(first.aMinusB.rejectIndex).to.be.within(10, 30);
      if (one.length > 60) expect(first.bMinusA.rejectIndex).to.be.above(60);
      else expect(first.bMinusA.rejectIndex).to.equal(null);
      expect(first.rejectIndex).to.equal(first.aMinusB.rejectIndex);
      expect(second.rejectIndex).to.equal(first.rejectIndex);
    }
  });
});

describe('betting process', () => {
  it('starts at wealth 1 without a bet, and agrees with two steps computed by hand', () => {
    const process = new BettingProcess();
    expect([process.wealth, process.bet]).to.deep.equal([1, 0]);
    // z = 1/5; lambda = -2 / (2 - ln 3) (1/5) / (1 + 1/25).
    expect(process.update(0.2)).to.equal(1);
    const bet = (-2 / (2 - Math.log(3))) * (0.2 / 1.04);
    expect(process.bet).to.be.closeTo(bet, 1e-15);
    expect(process.update(-0.5)).to.be.closeTo(1 + bet / 2, 1e-15);
  });

  it('continues from a snapshot without a difference', () => {
    const outcomes = Array.from({ length: 50 }, (_, index) => Math.sin(index * index));
    const complete = new BettingProcess();
    outcomes.forEach((outcome) => complete.update(outcome));
    const first = new BettingProcess();
    outcomes.slice(0, 20).forEach((outcome) => first.update(outcome));
    const second = BettingProcess.restore(
      JSON.parse(JSON.stringify(first.snapshot())) as ReturnType<BettingProcess['snapshot']>,
    );
    outcomes.slice(20).forEach((outcome) => second.update(outcome));
    expect(second.snapshot()).to.deep.equal(complete.snapshot());
  });

  it('keeps the logarithm if the wealth overflows float64', () => {
    const process = new BettingProcess();
    for (let step = 0; step < 3000; step++) process.update(1);
    expect(process.wealth).to.equal(Infinity);
    // The first outcome was without a bet, all others had the largest bet.
    expect(process.logWealth).to.be.closeTo(2999 * Math.log(1.5), 1e-8);
  });

  it('cannot win on outcomes below 0 with a largest bet of 0', () => {
    const process = new BettingProcess({ largestBet: 0 });
    for (let step = 0; step < 20; step++) process.update(-0.5);
    expect(process.wealth).to.equal(1);
    process.update(0.9);
    expect(process.bet).to.be.within(-0.5, 0);
  });

  it('never bets with both bounds at 0, and continues from its first state and with the largest bet', () => {
    const idle = new BettingProcess({ smallestBet: 0, largestBet: 0 });
    for (const outcome of [1, -1, 0.5]) expect(idle.update(outcome)).to.equal(1);
    expect(BettingProcess.restore(new BettingProcess().snapshot()).wealth).to.equal(1);
    for (const bet of [-0.5, 0.5]) {
      const process = BettingProcess.restore({ logWealth: 0, bet, sumOfSquares: 1 });
      expect(process.update(1)).to.be.closeTo(1 - bet, 1e-15);
    }
  });

  it('rejects invalid outcomes and states, and is then unchanged', () => {
    const process = new BettingProcess();
    process.update(1);
    const before = process.snapshot();
    for (const outcome of [2, -2, NaN, '1' as unknown as number]) {
      expect(() => process.update(outcome)).to.throw(ValueError, 'outcome');
    }
    expect(process.snapshot()).to.deep.equal(before);
    expect(() => new BettingProcess({ smallestBet: -0.6 })).to.throw(ValueError, 'smallestBet');
    expect(() => new BettingProcess({ largestBet: NaN })).to.throw(ValueError, 'largestBet');
    expect(() => new BettingProcess({ smallestBet: 0.1 })).to.throw(ValueError, 'smallestBet');
    for (const largestBet of [-0.1, 0.6]) {
      expect(() => new BettingProcess({ largestBet })).to.throw(ValueError, 'largestBet');
    }
    for (const bet of [-0.7, 0.7]) {
      expect(() => BettingProcess.restore({ ...before, bet })).to.throw(ValueError, 'The bet parameter');
    }
    expect(() => BettingProcess.restore({ ...before, sumOfSquares: Infinity })).to.throw(ValueError, 'sumOfSquares');
    expect(() => BettingProcess.restore({ ...before, logWealth: NaN })).to.throw(ValueError, 'logWealth');
    expect(() => BettingProcess.restore({ ...before, sumOfSquares: -1 })).to.throw(ValueError, 'sumOfSquares');
  });
});
