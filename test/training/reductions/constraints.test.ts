import { expect } from 'chai';

import { encodeGroups } from '../../../src/table/index.ts';
import {
  type BoundOptions,
  type ConstraintOptions,
  parseConstraint,
} from '../../../src/training/reductions/constraint-options.ts';
import { rescale } from '../../../src/training/reductions/oracle.ts';
import { poseProblem } from '../../../src/training/reductions/pose-problem.ts';
import type { ReductionProblem } from '../../../src/training/reductions/reduction-problem.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { ourMultiplier, ourName, readSmoke } from './smoke-inputs.ts';

interface MomentCase {
  readonly moment: string;
  readonly difference_bound?: number | null;
  readonly ratio_bound?: number | null;
  readonly ratio_bound_slack?: number | null;
}

interface MomentFile {
  readonly gamma_examples: (MomentCase & {
    readonly y: number[];
    readonly pred: number[];
    readonly sensitive: string[];
    readonly gamma: Record<string, number>;
  })[];
  readonly signed_weight_examples: (MomentCase & {
    readonly index: string[];
    readonly lambda_: number[];
    readonly signed_weights: number[];
    readonly oracle_labels: number[];
    readonly oracle_weights: number[];
    readonly projected_lambda: number[];
  })[];
  readonly project_lambda_tests: {
    readonly index_order: string[];
    readonly cases: { readonly lambda_: number[]; readonly expected: number[] }[];
  };
}

const EXACT = 1e-12;

interface ProblemRows {
  readonly y: readonly number[];
  readonly sensitive: readonly string[];
  readonly control?: readonly string[];
  readonly weights?: readonly number[];
}

function problemOf(
  options: ConstraintOptions & BoundOptions,
  { y, sensitive, control, weights }: ProblemRows,
): ReductionProblem {
  return poseProblem(parseConstraint(options, 0.01), {
    x: { rows: y.length, columns: 0, values: new Float64Array() },
    y: Float64Array.from(y),
    weights: weights === undefined ? new Float64Array(y.length).fill(1) : Float64Array.from(weights),
    groups: encodeGroups([...sensitive]),
    control: control === undefined ? undefined : encodeGroups([...control]),
  });
}

function boundsOf(given: MomentCase): ConstraintOptions & BoundOptions {
  return {
    constraint: ourName(given.moment),
    differenceBound: given.difference_bound ?? undefined,
    ratioBound: given.ratio_bound ?? undefined,
    ratioBoundSlack: given.ratio_bound_slack ?? undefined,
  };
}

/** Converts values from fairlearn's order to ours. */
function inOurOrder(
  { multiplierNames }: ReductionProblem,
  index: readonly string[],
  values: readonly number[],
): Float64Array {
  const names = index.map(ourMultiplier);
  expect([...names].sort()).to.deep.equal([...multiplierNames].sort());
  return Float64Array.from(multiplierNames, (name) => values[names.indexOf(name)] ?? NaN);
}

function expectClose(values: ArrayLike<number>, expected: ArrayLike<number>, tolerance = EXACT): void {
  expect(values).to.have.lengthOf(expected.length);
  for (let index = 0; index < expected.length; index++) {
    expect(values[index]).to.be.closeTo(expected[index] ?? NaN, tolerance);
  }
}

/** Recovers the saving of deciding 1 from the label and the weight that represent it. */
function signedWeights(problem: ReductionProblem, multipliers: Float64Array): number[] {
  const { targets, weights } = problem.respond(multipliers, false);
  return Array.from(weights, (weight, row) => (targets[row] === 1 ? weight : -weight));
}

describeWithReference('constraints of the reductions, the moments of fairlearn', () => {
  const moments = readVectors('fairlearn_moments.json') as MomentFile;
  const { rows } = readSmoke();
  const titleOf = ({ moment, ratio_bound: ratio }: MomentCase): string =>
    `${moment}, ${typeof ratio === 'number' ? `ratio ${ratio}` : 'difference'}`;

  it('reads all cases', () => {
    expect([moments.gamma_examples.length, moments.signed_weight_examples.length]).to.deep.equal([10, 10]);
  });

  for (const example of moments.gamma_examples) {
    it(`computes the violations of ${titleOf(example)}`, () => {
      const problem = problemOf(boundsOf(example), example);
      const expected = inOurOrder(problem, Object.keys(example.gamma), Object.values(example.gamma));
      expectClose(problem.evaluate(example.pred).gamma, expected);
    });
  }

  for (const example of moments.signed_weight_examples) {
    it(`weights and labels rows for ${titleOf(example)}`, () => {
      const problem = problemOf(boundsOf(example), { y: rows.labels, sensitive: rows.sensitive });
      const multipliers = inOurOrder(problem, example.index, example.lambda_);
      expectClose(signedWeights(problem, multipliers), example.signed_weights);
      const asked = rescale(problem.respond(multipliers), problem.totalWeight);
      expectClose(asked.weights, example.oracle_weights);
      expect([...asked.targets]).to.deep.equal(example.oracle_labels);
      expectClose(problem.project(multipliers), inOurOrder(problem, example.index, example.projected_lambda));
    });
  }

  for (const { lambda_, expected } of moments.project_lambda_tests.cases) {
    it(`projects multipliers ${lambda_.join(', ')}`, () => {
      const index = moments.project_lambda_tests.index_order.map((name) =>
        name.replace('F|', 'label=0|').replace('T|', 'label=1|'),
      );
      const problem = problemOf({ constraint: 'equalized_odds' }, { y: [0, 1, 0, 1], sensitive: ['a', 'a', 'b', 'b'] });
      expectClose(problem.project(inOurOrder(problem, index, lambda_)), inOurOrder(problem, index, expected), 0);
    });
  }

  it('compares groups within the levels of a control feature', () => {
    // EqualizedOdds().gamma of fairlearn 0.12.0 on the smoke test's rows; X1 decides, and every third row is 'hi'.
    const half: Record<string, number> = {
      'control=hi,label=0/A': 0.08333333333333334,
      'control=hi,label=0/C': -0.25,
      'control=hi,label=1/B': -0.16666666666666669,
      'control=hi,label=1/C': 0.33333333333333326,
      'control=lo,label=0/A': -0.4,
      'control=lo,label=0/B': 0.2666666666666667,
      'control=lo,label=0/C': -0.4,
      'control=lo,label=1/A': 0.12500000000000006,
      'control=lo,label=1/B': 0.125,
      'control=lo,label=1/C': -0.20833333333333331,
    };
    const control = rows.labels.map((_, row) => (row % 3 === 0 ? 'hi' : 'lo'));
    const problem = problemOf({ constraint: 'equalized_odds' }, { y: rows.labels, sensitive: rows.sensitive, control });
    const { gamma } = problem.evaluate(rows.x.map(([first = NaN]) => first));
    expect(problem.multiplierNames).to.have.lengthOf(2 * Object.keys(half).length);
    for (const [position, name] of problem.multiplierNames.entries()) {
      const value = half[name.slice(0, -2)] ?? NaN;
      expect(gamma[position], name).to.be.closeTo(name.endsWith('+') ? value : -value, EXACT);
    }
    expect(problem.warnings).to.deep.equal([
      '1 of 3 groups have no rows in the event control=hi,label=0 and are not constrained there',
      '1 of 3 groups have no rows in the event control=hi,label=1 and are not constrained there',
    ]);
  });
});

describe('constraints of the reductions', () => {
  const y = [1, 1, 0, 0, 1, 0];
  const sensitive = ['a', 'a', 'a', 'b', 'b', 'b'];
  const decisions = [1, 1, 0, 0, 1, 1];

  it('have separate costs for false positives and false negatives', () => {
    const problem = problemOf({ costs: { falsePositive: 3, falseNegative: 5 } }, { y, sensitive });
    // One false positive among six rows; deciding 0 for all has three false negatives.
    expect(problem.evaluate(decisions).error).to.be.closeTo(3 / 6, EXACT);
    expect(problem.evaluate([0, 0, 0, 0, 0, 0]).error).to.be.closeTo(15 / 6, EXACT);
  });

  it('are linear in decisions, so that a mixture has the mean of its parts', () => {
    const problem = problemOf({ constraint: 'error_rate_parity' }, { y, sensitive });
    const [first, second] = [problem.evaluate(decisions), problem.evaluate([0, 1, 1, 1, 0, 0])];
    const mixed = problem.evaluate([0.25, 1, 0.75, 0.75, 0.25, 0.25]);
    expect(mixed.error).to.be.closeTo(0.25 * first.error + 0.75 * second.error, EXACT);
    expectClose(
      mixed.gamma,
      first.gamma.map((value, index) => 0.25 * value + 0.75 * (second.gamma[index] ?? NaN)),
    );
  });

  it('set the labels that lower error + multipliers . gamma: the derivative is the saving', () => {
    // This follows from the definitions: flipping row i from 0 to 1 changes the sum by -saving / n.
    for (const constraint of ['demographic_parity', 'equalized_odds', 'error_rate_parity'] as const) {
      const problem = problemOf({ constraint, ratioBound: 0.7 }, { y, sensitive });
      const multipliers = Float64Array.from(problem.bounds, (_, index) => 0.3 + 0.17 * index);
      const value = (decided: number[]): number => {
        const { error, gamma } = problem.evaluate(decided);
        return error + gamma.reduce((sum, g, index) => sum + g * (multipliers[index] ?? NaN), 0);
      };
      const { targets, weights } = problem.respond(multipliers);
      for (const row of y.keys()) {
        const base = [0, 1, 0, 1, 0, 1];
        const change = value(base.with(row, 1)) - value(base.with(row, 0));
        const saving = (targets[row] === 1 ? 1 : -1) * (weights[row] ?? NaN);
        expect(change).to.be.closeTo(-saving / y.length, EXACT);
      }
    }
  });

  const PAIRWISE: readonly [string, ConstraintOptions & BoundOptions, number, number][] = [
    ['half the difference', { differenceBound: 0.1, bound: 'pairwise' }, 1, 0.05],
    ['the root of the ratio', { ratioBound: 0.64, bound: 'pairwise' }, 0.8, 0],
    ['its share of the slack', { ratioBound: 0.64, ratioBoundSlack: 0.09, bound: 'pairwise' }, 0.8, 0.05],
    ['the bound itself, against the overall', { differenceBound: 0.1 }, 1, 0.1],
  ];
  for (const [title, options, ratio, slack] of PAIRWISE) {
    it(`bound groups by ${title}`, () => {
      const settings = parseConstraint(options, 0.01);
      expect(settings).to.include({ ratio });
      expect('slack' in settings && settings.slack).to.be.closeTo(slack, EXACT);
    });
  }

  it('bound the mean loss of each group, with values clipped to the range', () => {
    const problem = problemOf(
      { constraint: 'bounded_group_loss', loss: 'square', range: [0, 2], upperBound: 0.5 },
      { y: [0, 1, 3, -1], sensitive: ['a', 'a', 'b', 'b'] },
    );
    // Clipped: y 0, 1, 2, 0 and predictions 1, 1, 2, 2; losses 1, 0, 0, 4.
    const { error, gamma } = problem.evaluate([1, 1, 5, 9]);
    expect(error).to.be.closeTo(5 / 4, EXACT);
    expect(problem.multiplierNames).to.deep.equal(['all/a/+', 'all/b/+']);
    expectClose(gamma, [0.5, 2]);
    expectClose(problem.bounds, [0.5, 0.5]);
    // 1 + multiplier / share: a has 1 + 1 / 0.5, b has 1 + 0.
    expectClose(problem.respond(Float64Array.of(1, 0)).weights, [3, 3, 1, 1]);
  });

  it('count a row of weight 2 as two rows, and a row of weight 0 as none', () => {
    const twice = problemOf({}, { y: [...y, 1], sensitive: [...sensitive, 'b'], weights: [2, 1, 1, 1, 1, 1, 0] });
    const rows = problemOf({}, { y: [1, ...y], sensitive: ['a', ...sensitive] });
    expectClose(twice.evaluate([...decisions, 1]).gamma, rows.evaluate([1, ...decisions]).gamma);
    const multipliers = Float64Array.of(0.5, 0, 0, 1.5);
    expectClose(twice.respond(multipliers).weights.subarray(1, 6), rows.respond(multipliers).weights.subarray(2, 7));
  });

  it('name a group once, regardless of rows of weight 0', () => {
    const problem = problemOf({}, { y, sensitive: ['a', 'a', 'a', 'b', 'b', 'c'], weights: [1, 1, 1, 1, 1, 0] });
    expect(problem.multiplierNames).to.deep.equal(['all/a/+', 'all/b/+', 'all/a/-', 'all/b/-']);
    expect(problem.warnings).to.deep.equal([]);
  });

  it('weight classes by the true labels, only in the objective', () => {
    const balanced = problemOf({ classWeight: 'balanced' }, { y: [1, 0, 0, 0], sensitive: ['a', 'a', 'b', 'b'] });
    // 4 / (2 x 1) for the positive, 4 / (2 x 3) for the others.
    expectClose(balanced.respond(new Float64Array(4)).weights, [2, 2 / 3, 2 / 3, 2 / 3]);
    const plain = problemOf({}, { y: [1, 0, 0, 0], sensitive: ['a', 'a', 'b', 'b'] });
    expectClose(balanced.evaluate([1, 0, 1, 1]).gamma, plain.evaluate([1, 0, 1, 1]).gamma, 0);
    const multipliers = Float64Array.of(1, 2, 3, 4);
    expectClose(signedWeights(balanced, multipliers), signedWeights(plain, multipliers), 0);
  });

  it('distinguish five thousand groups: only the one decided differently is far from the overall rate', () => {
    const [size, groups] = [200_000, 5000];
    const labels = Array.from({ length: size }, (_, row) => Number(Math.floor(row / groups) % 2 === 0));
    const sensitive = labels.map((_, row) => `g${String(row % groups)}`);
    const problem = problemOf({ constraint: 'equalized_odds' }, { y: labels, sensitive });
    // 40 rows per group, 20 of each label; group g7 is decided 1, the others 0.
    const { gamma, error } = problem.evaluate(sensitive.map((group) => Number(group === 'g7')));
    const overall = 1 / groups;
    for (const [index, name] of problem.multiplierNames.entries()) {
      const distance = name.includes('/g7/') ? 1 - overall : -overall;
      expect(gamma[index]).to.be.closeTo(name.endsWith('+') ? distance : -distance, EXACT);
    }
    expect(problem.multiplierNames).to.have.lengthOf(2 * 2 * groups);
    expect(error).to.be.closeTo(0.5, EXACT);
    // A multiplier of 1 only on g7's true positives: 1 / share of the event, minus 1 / share of the group in it.
    const alone = Float64Array.from(problem.multiplierNames, (name) => Number(name === 'label=1/g7/+'));
    const { targets, weights } = problem.respond(alone);
    const saving = (row: number): number => (targets[row] === 1 ? 1 : -1) * (weights[row] ?? NaN);
    for (const row of [7, 7 + 2 * groups]) expect(saving(row)).to.be.closeTo(1 + 2 - 2 * groups, 1e-8);
    for (const row of [8, 4999]) expect(saving(row)).to.be.closeTo(1 + 2, EXACT);
    for (const row of [7 + groups, 8 + groups]) expect(saving(row)).to.be.closeTo(-1, EXACT);
  });
});
