import { expect } from 'chai';
import fc from 'fast-check';

import { solveLinearProgram } from '../../../src/training/linear-program.ts';
import type { ReductionConstraint } from '../../../src/training/reductions/constraint-names.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { TableLearner } from './table-learner.ts';

/** Rows with one feature of few values: every randomised decision rule is a probability per value. */
interface Rows {
  readonly values: readonly number[];
  readonly labels: readonly number[];
  readonly groups: readonly string[];
}

const VALUES = 5;
const NAMES = ['a', 'b', 'c', 'd'];

const randomRows = fc.integer({ min: 2, max: 4 }).chain((groups) =>
  fc
    .array(
      fc.record({
        value: fc.integer({ min: 0, max: VALUES - 1 }),
        label: fc.integer({ min: 0, max: 1 }),
        group: fc.integer({ min: 0, max: groups - 1 }),
      }),
      { minLength: 12, maxLength: 60 },
    )
    .map((rows) => ({
      values: rows.map(({ value }) => value),
      labels: rows.map(({ label }) => label),
      // The first rows provide every group with both labels.
      groups: rows.map(({ group }) => NAMES[group] ?? ''),
    }))
    .map((rows): Rows => {
      const names = NAMES.slice(0, groups).flatMap((name) => [name, name]);
      return {
        values: [...rows.values, ...names.map((_, index) => index % VALUES)],
        labels: [...rows.labels, ...names.map((_, index) => index % 2)],
        groups: [...rows.groups, ...names],
      };
    }),
);

/** The quantity that a constraint compares: means of sign x decision + offset over rows of an event. */
const EVENTS: Partial<Record<ReductionConstraint, (label: number) => string>> = {
  demographic_parity: () => 'all',
  equalized_odds: (label) => `label=${label}`,
  error_rate_parity: () => 'all',
};

/**
 * Finds the best randomised rule with a separate linear program: p(value) and one slack, minimise error + price x
 * slack subject to both sides of every group.
 */
async function bestRule(constraint: ReductionConstraint, rows: Rows, bound: number, price: number): Promise<number> {
  const { values, labels, groups } = rows;
  const isError = constraint === 'error_rate_parity';
  const eventOf = EVENTS[constraint];
  // The mean utility over some rows is coefficients . p + offset.
  const mean = (picked: readonly number[]): { coefficients: number[]; offset: number } => {
    const coefficients = new Array<number>(VALUES).fill(0);
    let offset = 0;
    for (const row of picked) {
      const flips = isError && labels[row] === 1;
      (coefficients[values[row] ?? 0] as number) += (flips ? -1 : 1) / picked.length;
      offset += Number(flips) / picked.length;
    }
    return { coefficients, offset };
  };
  const all = [...values.keys()];
  const program: number[][] = [];
  const limits: number[] = [];
  for (const event of new Set(labels.map((label) => eventOf?.(label)))) {
    const inEvent = all.filter((row) => eventOf?.(labels[row] ?? 0) === event);
    const overall = mean(inEvent);
    for (const group of new Set(groups)) {
      const own = mean(inEvent.filter((row) => groups[row] === group));
      for (const sign of [1, -1]) {
        program.push([
          ...own.coefficients.map((value, index) => sign * (value - (overall.coefficients[index] ?? 0))),
          -1,
        ]);
        limits.push(bound - sign * (own.offset - overall.offset));
      }
    }
  }
  const objective = new Array<number>(VALUES).fill(0);
  for (const row of all) (objective[values[row] ?? 0] as number) += (labels[row] === 1 ? -1 : 1) / all.length;
  const { value } = await solveLinearProgram({
    objective: [...objective, price],
    atMost: { rows: program, bounds: limits },
    upper: [...objective.map(() => 1), Infinity],
  });
  return value + labels.filter((label) => label === 1).length / all.length;
}

describe('the game, with a learner that always finds the best response', () => {
  for (const constraint of ['demographic_parity', 'equalized_odds', 'error_rate_parity'] as const) {
    it(`ends within two gaps of the best possible mixture: ${constraint}`, async () => {
      await fc.assert(
        fc.asyncProperty(randomRows, fc.constantFrom(0.01, 0.05, 0.2), async (rows, eps) => {
          const model = new ReductionsWrapper({ estimator: new TableLearner(), constraint, eps, nu: 1e-6 });
          await model.fit(
            rows.values.map((value) => [value]),
            rows.labels,
            { sensitive: rows.groups },
          );
          const { bestGap, history, bestIteration } = model.result;
          const { error = NaN, violation = NaN } = history[bestIteration] ?? {};
          const price = 1 / eps;
          const reached = error + price * Math.max(0, violation - eps);
          const best = await bestRule(constraint, rows, eps, price);
          expect(reached).to.be.at.least(best - 1e-8);
          expect(reached - best).to.be.at.most(2 * bestGap + 1e-8);
          // The guarantee of the paper (theorem 3): the error of the best rule within the bound, and the bound
          // itself.
          expect(error - (await bestRule(constraint, rows, eps, 1e6))).to.be.at.most(2 * bestGap + 1e-8);
          expect(violation - eps).to.be.at.most(eps * (1 + 2 * bestGap) + 1e-8);
          expect(violation).to.be.at.most(eps + bestGap + 1e-8);
        }),
        { numRuns: 25 },
      );
    });
  }
});
