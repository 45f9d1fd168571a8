import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import {
  THRESHOLD_CONSTRAINTS,
  type ThresholdConstraintName,
  type ThresholdObjectiveName,
} from '../../../../src/training/postprocessing/threshold-optimizer/constraints.ts';
import { bestWithinTolerance } from '../../../../src/training/postprocessing/threshold-optimizer/fit-rules.ts';
import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { upperHull } from '../../../../src/training/postprocessing/threshold-optimizer/tradeoff-hull.ts';
import { describeWithReference, readVectors } from '../../../helpers/reference.ts';

/** The tolerance for numbers that are given in full precision. */
const EXACT = 1e-9;

/** The tolerance for numbers printed with eight decimals. */
const PRINTED = 1e-8;

interface PairRule {
  readonly p0: number;
  readonly op0: string;
  readonly thr0: number | string;
  readonly p1: number;
  readonly op1: string;
  readonly thr1: number | string;
  readonly p_ignore?: number;
  readonly prediction_constant?: number;
}

interface RunRule {
  readonly p0: number;
  readonly p1: number;
  readonly operation0: { readonly op: string; readonly thr: number | string };
  readonly operation1: { readonly op: string; readonly thr: number | string };
  readonly p_ignore?: number;
  readonly prediction_constant?: number;
}

interface Vectors {
  readonly pairs: {
    readonly scores: number[];
    readonly sensitive: number[];
    readonly y: number[];
    readonly grid_size: number;
    readonly flip: boolean;
    readonly expected: Record<string, string | Record<string, PairRule>>;
  };
  readonly e2e: {
    readonly scores: number[];
    readonly labels: number[];
    readonly sensitive_ex1: string[];
    readonly sensitive_ex2: string[];
    readonly demographic_parity: Record<string, { p0: number; p1: number }>;
    readonly equalized_odds: Record<string, Record<`${'positive' | 'negative'}_p${0 | 1}`, number>>;
  };
  readonly hull: { x: number[]; y: number[]; keep: number[] }[];
  readonly tolerance: {
    x: number[];
    ys: number[][];
    weights: number[];
    tol: number;
    indices: number[];
    maximum: number;
  }[];
  readonly runs: {
    readonly example: 'ex1' | 'ex2';
    readonly constraints: ThresholdConstraintName;
    readonly objective: ThresholdObjectiveName;
    readonly flip: boolean;
    readonly tol: null;
    readonly grid_size: number;
    readonly interpolation: Record<string, RunRule>;
    readonly y_best: number;
    readonly prob: number[];
  }[];
}

describeWithReference('ThresholdOptimizer, what fairlearn gives', () => {
  const { pairs, e2e, hull, tolerance, runs } = readVectors('fairlearn_threshold_optimizer.json') as Vectors;
  const examples: Record<string, string[]> = {
    'example 1': e2e.sensitive_ex1,
    'example 2': e2e.sensitive_ex2,
    'example 3': e2e.sensitive_ex1.map((first, row) => `${first},${e2e.sensitive_ex2[row] ?? ''}`),
  };

  async function fitExample(name: string, constraint: ThresholdConstraintName, flip: boolean) {
    const optimizer = new ThresholdOptimizer({ constraint, flip });
    const sensitive = examples[name] ?? [];
    await optimizer.fit(e2e.scores, e2e.labels, { sensitive });
    return { optimizer, sensitive, probabilities: await optimizer.predictProba(e2e.scores, { sensitive }) };
  }

  it('has vectors of every kind', () => {
    const sizes = [Object.keys(pairs.expected), hull, tolerance, runs].map(({ length }) => length);
    expect(sizes).to.deep.equal([48, 6, 4, 22]);
  });

  describe('every pair of a constraint and an objective', () => {
    for (const [pair, expected] of Object.entries(pairs.expected)) {
      const [constraint, objective] = pair.split(', ') as [ThresholdConstraintName, ThresholdObjectiveName];
      const fit = async () => {
        const optimizer = new ThresholdOptimizer({
          constraint,
          objective,
          gridSize: pairs.grid_size,
          flip: pairs.flip,
        });
        return optimizer.fit(pairs.scores, pairs.y, { sensitive: pairs.sensitive });
      };
      if (typeof expected === 'string') {
        it(`${pair}: is rejected, with the supported names`, () => {
          expect(() => new ThresholdOptimizer({ constraint, objective })).to.throw(ValueError, expected);
        });
        continue;
      }
      it(pair, async () => {
        const { interpolation } = await fit();
        expect(Object.keys(interpolation)).to.deep.equal(Object.keys(expected));
        for (const [group, rule] of Object.entries(expected)) {
          const own = interpolation[group];
          expect(own?.operation0).to.deep.equal({ operator: rule.op0, threshold: Number(rule.thr0) });
          expect(own?.operation1).to.deep.equal({ operator: rule.op1, threshold: Number(rule.thr1) });
          expect(own?.p0).to.be.closeTo(rule.p0, EXACT);
          expect(own?.p1).to.be.closeTo(rule.p1, EXACT);
          expect(own?.pIgnore).to.be.closeTo(rule.p_ignore ?? 0, EXACT);
          expect(own?.predictionConstant).to.be.closeTo(rule.prediction_constant ?? 0, EXACT);
        }
      });
    }

    it('an error lists the supported names', () => {
      expect(() => new ThresholdOptimizer({ constraint: 'demografic_parity' as ThresholdConstraintName })).to.throw(
        ValueError,
        THRESHOLD_CONSTRAINTS.join(', '),
      );
    });
  });

  describe('expected decisions of the examples', () => {
    const mean = (values: Float64Array, isMeant: (row: number) => boolean): number => {
      const meant = [...values].filter((_, row) => isMeant(row));
      return meant.reduce((sum, value) => sum + value, 0) / meant.length;
    };

    for (const [name, { p0, p1 }] of Object.entries(e2e.demographic_parity)) {
      it(`demographic parity, ${name}: one selection rate in every group`, async () => {
        const { sensitive, probabilities } = await fitExample(name, 'demographic_parity', true);
        for (const group of new Set(sensitive)) {
          const rate = mean(probabilities, (row) => sensitive[row] === group);
          expect(rate).to.be.closeTo(p1, EXACT);
          expect(1 - rate).to.be.closeTo(p0, EXACT);
        }
      });
    }

    for (const [name, expected] of Object.entries(e2e.equalized_odds)) {
      it(`equalized odds, ${name}: one rate in every group for each label`, async () => {
        const { sensitive, probabilities } = await fitExample(name, 'equalized_odds', true);
        for (const group of new Set(sensitive)) {
          for (const [label, p0, p1] of [
            [1, expected.positive_p0, expected.positive_p1],
            [0, expected.negative_p0, expected.negative_p1],
          ] as const) {
            const rate = mean(probabilities, (row) => sensitive[row] === group && e2e.labels[row] === label);
            expect(rate).to.be.closeTo(p1, PRINTED);
            expect(1 - rate).to.be.closeTo(p0, PRINTED);
          }
        }
      });
    }
  });

  describe('complete runs', () => {
    for (const run of runs) {
      const { example, constraints: constraint, objective, flip, interpolation, prob } = run;
      it(`${example}, ${constraint}, ${objective}, flip ${flip}: rules, best value and probabilities`, async () => {
        expect([objective, run.tol, run.grid_size]).to.deep.equal(['accuracy_score', null, 1000]);
        const fitted = await fitExample(example.replace('ex', 'example '), constraint, flip);
        const rules = fitted.optimizer.describe();
        expect(Object.keys(fitted.optimizer.interpolation)).to.deep.equal(Object.keys(interpolation));
        for (const [group, { p0, p1, operation0, operation1, ...rest }] of Object.entries(interpolation)) {
          const own = fitted.optimizer.interpolation[group];
          expect(own?.operation0).to.deep.equal({ operator: operation0.op, threshold: Number(operation0.thr) });
          expect(own?.operation1).to.deep.equal({ operator: operation1.op, threshold: Number(operation1.thr) });
          expect(own?.p0).to.be.closeTo(p0, EXACT);
          expect(own?.p1).to.be.closeTo(p1, EXACT);
          expect(own?.pIgnore).to.be.closeTo(rest.p_ignore ?? 0, EXACT);
          expect(own?.predictionConstant).to.be.closeTo(rest.prediction_constant ?? 0, EXACT);
        }
        // For equalized odds, fairlearn reports the common true positive rate as its best value.
        const best = constraint === 'equalized_odds' ? rules.groups[0]?.truePositiveRate : rules.objectiveValue;
        expect(best).to.be.closeTo(run.y_best, EXACT);
        expect(fitted.probabilities).to.have.length(prob.length);
        for (const [row, probability] of prob.entries()) {
          expect(fitted.probabilities[row]).to.be.closeTo(probability, EXACT);
        }
      });
    }
  });

  for (const { x, y, keep } of hull) {
    it(`the upper hull of (${x.join(', ')}), (${y.join(', ')}) is at ${keep.join(', ')}`, () => {
      expect(upperHull(x, y)).to.deep.equal(keep);
    });
  }

  for (const { x, ys, weights, tol, indices, maximum } of tolerance) {
    it(`the best of ${JSON.stringify(ys)} within ${tol} is at ${indices.join(', ')}`, () => {
      const curves = ys.map((values) => Float64Array.from(values));
      const found = bestWithinTolerance(Float64Array.from(x), curves, weights, tol);
      expect(found.indices).to.deep.equal(indices);
      expect(found.maximum).to.be.closeTo(maximum, EXACT);
    });
  }

  for (const constraint of ['demographic_parity', 'equalized_odds'] as const) {
    it(`${constraint}: rejects a group of one label if a rate is undefined for it`, async () => {
      const objective = 'balanced_accuracy_score';
      const y = e2e.labels.map((label, row) => (e2e.sensitive_ex1[row] === 'B' ? 1 : label));
      const optimizer = new ThresholdOptimizer({ constraint, objective });
      const error: unknown = await optimizer
        .fit(e2e.scores, y, { sensitive: e2e.sensitive_ex1 })
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(/group 'B' has no row labelled 0/);
    });
  }
});
