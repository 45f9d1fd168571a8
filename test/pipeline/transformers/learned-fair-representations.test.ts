import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import {
  LearnedFairRepresentations,
  type LearnedFairRepresentationsOptions,
} from '../../../src/pipeline/transformers/representations/learned-fair-representations.ts';
import { PrototypeObjective } from '../../../src/pipeline/transformers/representations/prototype-objective.ts';

const random = createRandom(1);
const n = 240;
const g = Array.from({ length: n }, (_, row) => (row % 3 === 0 ? 'a' : 'b'));
const x1 = g.map((group) => random.normal() + (group === 'a' ? 1.5 : 0));
const x2 = x1.map((value) => 100 + 20 * random.normal() + 5 * value);
const x3 = g.map(() => random.normal());
const y = x1.map((value, row) => Number(value + (x3[row] ?? 0) + random.normal() > 0.5));
const ROWS = { g, x1, x2, x3, y };

interface Learned {
  readonly features: readonly { readonly feature: string; readonly mean: number; readonly scale: number }[];
  readonly labels: readonly number[];
  readonly positions: readonly (readonly number[])[];
}

const learn = (options: Partial<LearnedFairRepresentationsOptions> = {}, rows: Record<string, unknown[]> = ROWS) =>
  new LearnedFairRepresentations({ sensitive: 'g', label: 'y', ...options }).fit(rows);

const learnedBy = (learner: LearnedFairRepresentations) => learner.toJSON().state as unknown as Learned;

/** A second implementation of the source's model, row by row: memberships, reconstruction and label of one row. */
const represent = ({ labels, positions }: Pick<Learned, 'labels' | 'positions'>, row: readonly number[]) => {
  const exps = positions.map((position) =>
    Math.exp(-Math.hypot(...position.map((value, p) => value - (row[p] ?? NaN)))),
  );
  const sum = exps.reduce((total, value) => total + value, 0);
  const shares = exps.map((value) => value / sum);
  return {
    shares,
    estimate: row.map((_, p) => shares.reduce((total, share, k) => total + share * (positions[k]?.[p] ?? NaN), 0)),
    label: shares.reduce((total, share, k) => total + share * (labels[k] ?? NaN), 0),
  };
};

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The parts of the loss as AIF360 defines them for two groups. */
const lossOf = (learned: Learned) => {
  const scaled = g.map((_, row) =>
    learned.features.map(({ feature, mean: centre, scale }) => {
      const values = ROWS[feature as 'x1'];
      return ((values[row] ?? NaN) - centre) / scale;
    }),
  );
  const found = scaled.map((row) => represent(learned, row));
  const of = (group: string) => [...g.keys()].filter((row) => g[row] === group);
  const errors = (rows: readonly number[]) =>
    mean(rows.flatMap((row) => (scaled[row] ?? []).map((value, p) => ((found[row]?.estimate[p] ?? NaN) - value) ** 2)));
  const share = (rows: readonly number[], k: number) => mean(rows.map((row) => found[row]?.shares[k] ?? NaN));
  return {
    reconstruction: errors(of('a')) + errors(of('b')),
    prediction: mean(found.map(({ label }, row) => -Math.log(y[row] === 1 ? label : 1 - label))),
    parity: mean(learned.labels.map((_, k) => Math.abs(share(of('a'), k) - share(of('b'), k)))),
  };
};

describe('LearnedFairRepresentations', () => {
  it("ends at the loss that AIF360's formulas give for its prototypes", async () => {
    const learner = await learn({ maxIterations: 30 });
    const expected = lossOf(learnedBy(learner));
    for (const part of ['reconstruction', 'prediction', 'parity'] as const) {
      expect(learner.losses.end[part], part).to.be.closeTo(expected[part], 1e-10);
    }
  });

  it('standardises features by their mean and population deviation', async () => {
    const [first] = learnedBy(await learn({ maxIterations: 1, features: ['x2'] })).features;
    const centre = mean(x2);
    expect(first?.mean).to.be.closeTo(centre, 1e-10);
    expect(first?.scale).to.be.closeTo(Math.sqrt(mean(x2.map((value) => (value - centre) ** 2))), 1e-10);
  });

  it('gives each row the mixture of prototypes, in the units of the features', async () => {
    const learner = await learn({ maxIterations: 20 });
    const learned = learnedBy(learner);
    const { table } = await learner.transform(ROWS);
    for (const row of [0, 1, 77]) {
      const values = learned.features.map(({ feature, mean: centre, scale }) => {
        return ((ROWS[feature as 'x1'][row] ?? NaN) - centre) / scale;
      });
      const { estimate } = represent(learned, values);
      learned.features.forEach(({ feature, mean: centre, scale }, p) => {
        expect(table.numeric(feature).values[row]).to.be.closeTo(centre + scale * (estimate[p] ?? NaN), 1e-9);
      });
    }
    expect(table.select(['g', 'y']).toColumns()).to.deep.equal({ g, y });
  });

  describe('has a gradient that finite differences confirm', () => {
    for (const groupCount of [1, 2, 3]) {
      it(`with ${groupCount} groups and weights`, () => {
        const draw = createRandom(groupCount);
        const objective = new PrototypeObjective(
          {
            x: Float64Array.from({ length: 60 }, () => draw.normal()),
            columns: 3,
            y: Float64Array.from({ length: 20 }, (_, row) => row % 2),
            groups: Int32Array.from({ length: 20 }, (_, row) => row % groupCount),
            groupCount,
            weights: Float64Array.from({ length: 20 }, () => 0.1 + draw.next()),
          },
          4,
          { reconstruction: 0.7, prediction: 1.3, parity: 2 },
        );
        const point = Float64Array.from({ length: 16 }, () => draw.normal());
        const gradient = new Float64Array(16);
        objective.evaluate(point, gradient);
        const at = (index: number, by: number) =>
          objective.evaluate(
            point.map((value, position) => value + (position === index ? by : 0)),
            new Float64Array(16),
          );
        gradient.forEach((slope, index) => {
          expect(slope, `parameter ${index}`).to.be.closeTo((at(index, 1e-5) - at(index, -1e-5)) / 2e-5, 1e-8);
        });
      });
    }
  });

  it('lowers the weighted loss and, by its default weights, the gap of prototype shares to near nothing', async () => {
    const { start, end } = (await learn()).losses;
    const total = ({ reconstruction, prediction, parity }: typeof start) =>
      0.01 * reconstruction + prediction + 50 * parity;
    expect(total(end)).to.be.below(total(start));
    expect(end.parity).to.be.below(0.01 * start.parity);
    expect(end.parity).to.be.below(1e-3);
  });

  it('approximates the features themselves if only reconstruction counts', async () => {
    const learner = await learn({ prediction: 0, parity: 0, reconstruction: 1, prototypes: 12 });
    const { table } = await learner.transform(ROWS);
    for (const name of ['x1', 'x2', 'x3'] as const) {
      const values = ROWS[name];
      const left = mean(values.map((value, row) => (value - (table.numeric(name).values[row] ?? NaN)) ** 2));
      const centre = mean(values);
      expect(left / mean(values.map((value) => (value - centre) ** 2)), name).to.be.below(0.1);
    }
  });

  it('lowers the gap of any number of groups', async () => {
    const three = g.map((_, row) => ['p', 'q', 'r'][row % 3]);
    const shifted = x1.map((value, row) => value + (row % 3));
    const { start, end } = (await learn({}, { ...ROWS, g: three, x1: shifted })).losses;
    expect(end.parity).to.be.below(0.05 * start.parity);
  });

  it('returns the same digits for the same seed, and others for another seed', async () => {
    const options = { maxIterations: 10 };
    const [first, again, other] = [await learn(options), await learn(options), await learn({ ...options, seed: 7 })];
    expect(again.toJSON()).to.deep.equal(first.toJSON());
    expect(other.toJSON().state).to.not.deep.equal(first.toJSON().state);
  });

  it('weights means by sampleWeight: a row of weight 2 counts as two rows', async () => {
    // Away from the minimum and with fixed scales: the twin of each value keeps mean and spread.
    const rows = { g: ['a', 'b', 'a', 'b'], x: [-1, 1, -1, 1], y: [0, 1, 1, 0] };
    const twice = { g: [...rows.g, 'a', 'b'], x: [...rows.x, -1, 1], y: [...rows.y, 0, 1] };
    const options = { sensitive: 'g', label: 'y', prototypes: 2, maxIterations: 3 };
    const weighted = await new LearnedFairRepresentations(options).fit(rows, { sampleWeight: [2, 2, 1, 1] });
    const repeated = await new LearnedFairRepresentations(options).fit(twice);
    expect(weighted.losses.end.prediction).to.be.closeTo(repeated.losses.end.prediction, 1e-9);
    expect(weighted.losses.start.parity).to.be.closeTo(repeated.losses.start.parity, 1e-12);
  });

  it('needs neither the sensitive column nor the label in transform', async () => {
    const learner = await learn({ maxIterations: 5 });
    const { table } = await learner.transform({ x1, x2, x3 });
    const complete = (await learner.transform(ROWS)).table.select(['x1', 'x2', 'x3']);
    expect(table.toColumns()).to.deep.equal(complete.toColumns());
  });

  it('leaves missing values missing, each counting as its mean', async () => {
    const learner = await learn({ maxIterations: 5 });
    const [, second] = learnedBy(learner).features;
    const { table } = await learner.transform({ x1: [1, 1], x2: [null, second?.mean], x3: [0.5, 0.5] });
    const { x1: first, x2: middle } = table.toColumns();
    expect(middle?.[0]).to.equal(null);
    expect(first?.[0]).to.equal(first?.[1]);
  });

  it('keeps constant columns constant, and names them', async () => {
    const learner = await learn({ maxIterations: 2 }, { ...ROWS, flat: g.map(() => 3) });
    const { table } = await learner.transform({ x1: [1], x2: [100], x3: [0], flat: [9] });
    expect(table.toColumns()['flat']).to.deep.equal([3]);
    expect(learner.warnings.join()).to.match(/^constant: 'flat'; other values become that constant(,|$)/);
  });

  it('excludes rows without a group or a label from fit, and counts them', async () => {
    const holes = { ...ROWS, g: [...g.slice(0, -1), null], y: [null, ...y.slice(1)] };
    expect((await learn({ maxIterations: 2 }, holes)).warnings.join()).to.match(
      /^2 rows without a group or a label are excluded from the fit,/,
    );
  });

  it('warns if the search ended early, or if there is only one group', async () => {
    expect((await learn({ maxIterations: 2 })).warnings.join()).to.match(
      /^the search stopped after 2 iterations without reaching a minimum$/,
    );
    expect((await learn({ maxIterations: 2 }, { ...ROWS, g: g.map(() => 'a') })).warnings.join()).to.match(
      /^there is only one group, so there is no gap to constrain,/,
    );
  });

  it('reports progress and respects a signal', async () => {
    const events: number[] = [];
    const learner = new LearnedFairRepresentations({ sensitive: 'g', label: 'y', maxIterations: 4 });
    await learner.fit(ROWS, { onProgress: ({ done, total }) => events.push(done / total) });
    expect(events).to.deep.equal([0.25, 0.5, 0.75, 1]);
    const abort = new AbortController();
    const reason = new Error('enough');
    const failure = await new LearnedFairRepresentations({ sensitive: 'g', label: 'y' })
      .fit(ROWS, {
        signal: abort.signal,
        onProgress: () => {
          abort.abort(reason);
        },
      })
      .catch((error: unknown) => error);
    expect(failure).to.equal(reason);
  });

  it('accepts any two text labels, or a named positive label', async () => {
    const texts = { ...ROWS, y: y.map((value) => (value === 1 ? 'yes' : 'no')) };
    const three = { ...ROWS, y: y.map((value, row) => (value === 1 ? 'yes' : ['no', 'never'][row % 2])) };
    const plain = await learn({ maxIterations: 5 });
    expect((await learn({ maxIterations: 5 }, texts)).losses).to.deep.equal(plain.losses);
    expect((await learn({ maxIterations: 5, positiveLabel: 'yes' }, three)).losses).to.deep.equal(plain.losses);
    const failure = await learn({}, three).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as DataValidationError).suggestion).to.match(/positiveLabel.*A numeric target cannot be used/);
  });

  it('rejects text features, and features without spread', async () => {
    for (const rows of [
      { ...ROWS, x1: g },
      { ...ROWS, x1: g.map(() => 1) },
    ]) {
      const failure = await learn({ features: ['x1'] }, rows).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(DataValidationError);
    }
  });

  for (const options of [
    { prototypes: 1 },
    { reconstruction: -1 },
    { parity: Infinity },
    { prediction: NaN },
    { maxIterations: 0 },
    { seed: 0.5 },
    { label: '' },
  ]) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new LearnedFairRepresentations({ sensitive: 'g', label: 'y', ...options })).to.throw(ValueError);
    });
  }
});
