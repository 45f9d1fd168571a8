import { expect } from 'chai';
import fc from 'fast-check';

import { TrainingError, ValueError } from '../../src/exceptions/index.ts';
import { type LinearProgram, solveLinearProgram } from '../../src/training/linear-program.ts';

interface Case {
  readonly title: string;
  readonly program: LinearProgram;
  readonly value: number;
  readonly x?: readonly number[];
  readonly duals?: readonly number[];
}

/** Solutions that were computed by hand or are printed in the named textbooks. */
const CASES: readonly Case[] = [
  {
    // The Wyndor glass company (Hillier and Lieberman): x = (2, 6), value 36, shadow prices 0, 3/2, 1.
    title: 'the Wyndor glass program',
    program: {
      objective: [-3, -5],
      atMost: {
        rows: [
          [1, 0],
          [0, 2],
          [3, 2],
        ],
        bounds: [4, 12, 18],
      },
    },
    value: -36,
    x: [2, 6],
    duals: [0, 1.5, 1],
  },
  {
    title: 'a mixture: the cheapest distribution over two points within a bound',
    program: {
      objective: [0.1, 0.3],
      atMost: { rows: [[0.5, -0.1]], bounds: [0.02] },
      equal: { rows: [[1, 1]], values: [1] },
    },
    // 0.5 q - 0.1 (1 - q) = 0.02, so q = 0.2; one unit of the bound is worth 0.2 / 0.6.
    value: 0.26,
    x: [0.2, 0.8],
    duals: [1 / 3],
  },
  {
    title: 'only bounds of variables',
    program: { objective: [1, -2], atMost: { rows: [], bounds: [] }, lower: [-3, 0], upper: [5, 4] },
    value: -11,
    x: [-3, 4],
    duals: [],
  },
  {
    title: 'one bound for all variables',
    program: { objective: [1, 1], atMost: { rows: [[-1, -1]], bounds: [100] }, lower: -2, upper: 3 },
    value: -4,
    x: [-2, -2],
    duals: [0],
  },
  {
    title: 'an empty objective: any feasible point is best',
    program: { objective: [0], atMost: { rows: [[1]], bounds: [1] } },
    value: 0,
  },
  {
    title: 'coefficients that would be lost in text with six digits',
    program: { objective: [-1], atMost: { rows: [[1.000000000123]], bounds: [1] } },
    value: -1 / 1.000000000123,
    duals: [1 / 1.000000000123],
  },
];

describe('linear program', () => {
  for (const { title, program, value, x, duals } of CASES) {
    it(`solves ${title}`, async () => {
      const solution = await solveLinearProgram(program);
      expect(solution.value).to.be.closeTo(value, 1e-14 + 1e-14 * Math.abs(value));
      for (const [index, expected] of (x ?? []).entries()) expect(solution.x[index]).to.be.closeTo(expected, 1e-12);
      for (const [index, expected] of (duals ?? []).entries()) {
        expect(solution.duals[index]).to.be.closeTo(expected, 1e-12);
      }
      if (duals !== undefined) expect(solution.duals).to.have.lengthOf(duals.length);
    });
  }

  const coefficient = fc.integer({ min: -20, max: 20 }).map((value) => value / 7);
  const boundedProgram = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 })).chain(([n, m]) =>
    fc.record({
      objective: fc.array(coefficient, { minLength: n, maxLength: n }),
      rows: fc.array(fc.array(coefficient, { minLength: n, maxLength: n }), { minLength: m, maxLength: m }),
      // The bounds are chosen so that the point with x = 1/n for all variables is feasible.
      slack: fc.array(fc.integer({ min: 0, max: 10 }), { minLength: m, maxLength: m }),
    }),
  );

  it('has no duality gap, duals of the right sign, and complementary slackness', async () => {
    await fc.assert(
      fc.asyncProperty(boundedProgram, async ({ objective, rows, slack }) => {
        const n = objective.length;
        const bounds = rows.map((row, index) => row.reduce((sum, a) => sum + a / n, 0) + (slack[index] ?? 0) / 10);
        const equal = { rows: [objective.map(() => 1)], values: [1] };
        const { x, value, duals, equalDuals } = await solveLinearProgram({
          objective,
          atMost: { rows, bounds },
          equal,
        });
        const used = rows.map((row) => row.reduce((sum, a, index) => sum + a * (x[index] ?? NaN), 0));
        const price = equalDuals[0] ?? NaN;
        // The dual is: max -b.y + z with y >= 0 and c + A'y - z >= 0.
        expect(bounds.reduce((sum, bound, index) => sum - bound * (duals[index] ?? NaN), price)).to.be.closeTo(
          value,
          1e-9,
        );
        for (const [index, dual] of duals.entries()) {
          expect(dual).to.be.at.least(0);
          expect(used[index]).to.be.at.most((bounds[index] ?? NaN) + 1e-9);
          expect(dual * ((bounds[index] ?? NaN) - (used[index] ?? NaN))).to.be.closeTo(0, 1e-8);
        }
        for (const [column, cost] of objective.entries()) {
          const reduced = rows.reduce(
            (sum, row, index) => sum + (row[column] ?? NaN) * (duals[index] ?? NaN),
            cost - price,
          );
          expect(reduced).to.be.at.least(-1e-9);
          expect(reduced * (x[column] ?? NaN)).to.be.closeTo(0, 1e-8);
        }
        expect(x.reduce((sum, share) => sum + share, 0)).to.be.closeTo(1, 1e-12);
      }),
      { numRuns: 60 },
    );
  });

  it('returns the same solution every time', async () => {
    const program = { objective: [1, 1, 1], atMost: { rows: [[-1, -1, -1]], bounds: [-1] } };
    const first = await solveLinearProgram(program);
    for (let run = 0; run < 5; run++) expect(await solveLinearProgram(program)).to.deep.equal(first);
  });

  const FAILING: readonly [string, LinearProgram, string][] = [
    ['infeasible', { objective: [1], atMost: { rows: [[1]], bounds: [-1] } }, 'infeasible'],
    [
      'infeasible by its equations',
      { objective: [1, 1], atMost: { rows: [], bounds: [] }, equal: { rows: [[1, 1]], values: [-1] } },
      'infeasible',
    ],
    ['unbounded', { objective: [-1], atMost: { rows: [[-1]], bounds: [0] } }, 'unbounded'],
  ];
  for (const [title, program, status] of FAILING) {
    it(`names the status if the program is ${title}`, async () => {
      const error: unknown = await solveLinearProgram(program).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as TrainingError).message).to.contain(status);
      expect((error as TrainingError).suggestion).to.be.a('string');
    });
  }

  const WRONG: readonly [string, LinearProgram, string][] = [
    ['a row of another length', { objective: [1, 2], atMost: { rows: [[1]], bounds: [1] } }, 'atMost.rows[0]'],
    ['one bound missing', { objective: [1], atMost: { rows: [[1], [1]], bounds: [1] } }, 'atMost.bounds'],
    ['NaN in the objective', { objective: [NaN], atMost: { rows: [], bounds: [] } }, 'objective'],
    ['an infinite coefficient', { objective: [1], atMost: { rows: [[Infinity]], bounds: [1] } }, 'atMost.rows[0]'],
    ['no variables', { objective: [], atMost: { rows: [], bounds: [] } }, 'objective'],
    ['lower above upper', { objective: [1], atMost: { rows: [], bounds: [] }, lower: 2, upper: 1 }, 'lower'],
    ['one lower bound missing', { objective: [1, 2], atMost: { rows: [], bounds: [] }, lower: [0] }, 'lower'],
  ];
  for (const [title, program, parameter] of WRONG) {
    it(`rejects ${title}`, async () => {
      const error: unknown = await solveLinearProgram(program).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ValueError);
      expect((error as ValueError).message).to.contain(`The ${parameter} parameter must`);
    });
  }

  it('installs no handlers on the process', async () => {
    const listeners = (): string[] =>
      process.eventNames().map((name) => `${String(name)} ${String(process.listenerCount(name))}`);
    const before = listeners();
    await solveLinearProgram({ objective: [1], atMost: { rows: [[1]], bounds: [1] } });
    expect(listeners()).to.deep.equal(before);
  });
});
