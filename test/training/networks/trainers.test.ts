import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { Table } from '../../../src/table/index.ts';
import {
  FAIRNESS_PENALTIES,
  LagrangianFairnessTrainer,
  type LagrangianFairnessTrainerOptions,
  RegularizedFairnessTrainer,
  type RegularizedFairnessTrainerOptions,
} from '../../../src/training/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';

/** Rows in which members of one group more often have a feature and, with it, the positive outcome. */
function rows(n: number, seed = 1): { x: Table; y: number[]; s: string[] } {
  const random = createRandom(seed);
  const s = Array.from({ length: n }, () => (random.next() < 0.5 ? 'a' : 'b'));
  const skill = s.map((group) => random.normal() + (group === 'a' ? 0.8 : 0));
  const y = skill.map((value) => Number(random.next() < 1 / (1 + Math.exp(-2 * value))));
  const town = s.map((group) => (random.next() < (group === 'a' ? 0.8 : 0.3) ? 'north' : 'south'));
  return { x: Table.from({ skill, town }), y, s };
}

/** Returns the gap of selection rates of decisions, by its definition, independent of the code under test. */
function gapOf(
  decisions: ArrayLike<number>,
  s: readonly string[],
  counts: (row: number) => boolean = () => true,
): number {
  const rates = [...new Set(s)].map((group) => {
    const members = s.flatMap((one, row) => (one === group && counts(row) ? [decisions[row] ?? NaN] : []));
    return members.reduce((sum, value) => sum + value, 0) / members.length;
  });
  return Math.max(...rates) - Math.min(...rates);
}

const DATA = rows(2000);
const QUICK = { backend: 'wasm', epochs: 15, modelLr: 0.01 } as const;

const lagrangian = (options: LagrangianFairnessTrainerOptions = {}): Promise<LagrangianFairnessTrainer> =>
  new LagrangianFairnessTrainer({ ...QUICK, ...options }).fit(DATA.x, DATA.y, { sensitive: DATA.s });

describe('LagrangianFairnessTrainer', () => {
  for (const [fairness, counts] of [
    ['demographic_parity', () => true],
    ['equal_opportunity', (row: number) => DATA.y[row] === 1],
    ['equalized_odds', (row: number) => DATA.y[row] === 0],
  ] as const) {
    it(`brings the gap of ${fairness} within the tolerance on the training rows${fairness === 'demographic_parity' ? '' : ' @slow'}`, async () => {
      const free = await lagrangian({ fairness, dpTol: 1, eoTol: 1 });
      const bound = await lagrangian({ fairness, epochs: 60, lambdaLr: 0.05 });
      const gap = async (trainer: LagrangianFairnessTrainer): Promise<number> =>
        gapOf(await trainer.predict(DATA.x), DATA.s, counts);
      expect(await gap(free)).to.be.above(0.1);
      // A tenth of the rows was held out.
      expect(await gap(bound)).to.be.below(0.02 + 0.02);
      expect(bound.history[bound.bestEpoch - 1]?.violationHard).to.be.at.most(0.02);
    });
  }

  describe('logs a warning', () => {
    const warnings = useLoggedWarnings();

    it('with the tolerance and the gap that was reached, if no epoch was within the tolerance', async () => {
      const { history, bestEpoch } = await lagrangian({ dpTol: 0, epochs: 1 });
      const gap = history[bestEpoch - 1]?.violationHard ?? 0;
      expect(gap).to.be.above(0);
      expect(warnings()).to.have.lengthOf(1);
      expect(warnings()[0])
        .to.match(/^the gap was never within the tolerance/)
        .and.include('no epoch was within 0 on the training rows')
        .and.include(`a gap of ${gap.toPrecision(3)}`);
    });

    it('not if an epoch was within the tolerance', async () => {
      await lagrangian({ dpTol: 1, epochs: 1 });
      expect(warnings()).to.deep.equal([]);
    });
  });

  it('has multipliers that rise, fall and stay at 0 or above', async () => {
    const { history } = await lagrangian({ epochs: 40, patience: 40 });
    const lambdas = history.map(({ lambdas: [lambda = NaN] }) => lambda);
    const moves = lambdas.slice(1).map((lambda, index) => lambda - (lambdas[index] ?? NaN));
    expect(Math.max(...moves)).to.be.above(0);
    expect(Math.min(...moves)).to.be.below(0);
    expect(Math.min(...lambdas)).to.be.at.least(0);
  });

  it('has multipliers of 0 and trains as without a constraint if the tolerance is never exceeded', async () => {
    const trainer = await lagrangian({ dpTol: 1 });
    expect(trainer.history.every(({ lambdas }) => lambdas.every((lambda) => lambda === 0))).to.equal(true);
    const plain = await new RegularizedFairnessTrainer({
      backend: QUICK.backend,
      epochs: QUICK.epochs,
      lr: QUICK.modelLr,
      eta: 0,
      patience: 10,
    }).fit(DATA.x, DATA.y, { sensitive: DATA.s });
    const [a, b] = await Promise.all([trainer.predictProba(DATA.x), plain.predictProba(DATA.x)]);
    expect(Math.max(...a.map((value, row) => Math.abs(value - (b[row] ?? NaN))))).to.be.below(1e-5);
  });

  it('scores epochs with the posWeight of training', async () => {
    const shared = { backend: 'wasm', epochs: 15, patience: 15, posWeight: 20 } as const;
    const bound = new LagrangianFairnessTrainer({ ...shared, modelLr: 0.02, dpTol: 1 });
    const plain = new RegularizedFairnessTrainer({ ...shared, lr: 0.02, eta: 0 });
    await bound.fit(DATA.x, DATA.y, { sensitive: DATA.s });
    await plain.fit(DATA.x, DATA.y, { sensitive: DATA.s });
    expect(bound.bestEpoch).to.equal(plain.bestEpoch);
  });

  it('moves its multiplier by the rate times the excess of the gap over the tolerance', async () => {
    // One batch and one epoch of a network whose first outputs do not depend on the rows: its soft rates are those of
    // the start, and differ between groups only as the features do.
    const options = { backend: 'cpu', epochs: 1, batchSize: 10_000, hidden: [], smoothing: 0, temperature: 1 } as const;
    const fit = (tol: number, lambdaLr: number) =>
      new LagrangianFairnessTrainer({ ...options, dpTol: tol, lambdaLr }).fit(DATA.x, DATA.y, { sensitive: DATA.s });
    const lambda = async (tol: number, rate: number): Promise<number> =>
      (await fit(tol, rate)).history[0]?.lambdas[0] ?? NaN;
    const [at0, at2] = [await lambda(0, 1), await lambda(0.02, 1)];
    // lambda = rate (gap - tolerance) after one step from 0.
    expect(at0 - at2).to.be.closeTo(0.02, 1e-6);
    expect(await lambda(0, 3)).to.be.closeTo(3 * at0, 1e-6);
    expect(await lambda(1, 1)).to.equal(0);
  });

  it('reports the violation of decisions according to its definition', async () => {
    const trainer = await lagrangian({ epochs: 3, patience: 3 });
    const last = trainer.history[trainer.bestEpoch - 1];
    // The history covers nine tenths of the rows, so both gaps are of nearly the same rows.
    expect(last?.violationHard).to.be.closeTo(gapOf(await trainer.predict(DATA.x), DATA.s), 0.03);
  });

  it('has one multiplier per gap: two for equalized odds', async () => {
    const { history } = await lagrangian({ fairness: 'equalized_odds', epochs: 2 });
    expect(history.map(({ lambdas }) => lambdas.length)).to.deep.equal([2, 2]);
  });

  it('constrains the means of a regression', async () => {
    const y = DATA.s.map((group, row) => 100 * ((DATA.x.numeric('skill').values[row] ?? 0) + Number(group === 'a')));
    const fit = (dpTol: number): Promise<LagrangianFairnessTrainer> =>
      new LagrangianFairnessTrainer({ ...QUICK, task: 'regression', dpTol, epochs: 30, patience: 30 }).fit(DATA.x, y, {
        sensitive: DATA.s,
      });
    const gap = async (trainer: LagrangianFairnessTrainer): Promise<number> =>
      gapOf(await trainer.predict(DATA.x), DATA.s);
    expect(await gap(await fit(10))).to.be.above(100);
    // In standard deviations of the target, some 150.
    expect(await gap(await fit(0.1))).to.be.below(30);
  });

  it('excludes small groups, and names them', async () => {
    const s = DATA.s.map((group, row) => (row < 10 ? 'few' : group));
    const trainer = await new LagrangianFairnessTrainer({ ...QUICK, epochs: 1 }).fit(DATA.x, DATA.y, { sensitive: s });
    expect(trainer.warnings.filter((warning) => warning.includes("'few'"))).to.have.length(1);
  });

  for (const [parameter, options] of [
    ['dpTol', { dpTol: -0.1 }],
    ['lambdaLr', { lambdaLr: 0 }],
    ['modelLr', { modelLr: NaN }],
    ['temperature', { temperature: 0 }],
    ['smoothing', { smoothing: 1 }],
    ['epochs', { epochs: 0 }],
    ['fairness', { fairness: 'equal_odds' as 'equalized_odds' }],
    ['fairness', { task: 'regression', fairness: 'equalized_odds' }],
    ['schedule', { schedule: 'step' as 'linear' }],
    ['weightDecay', { weightDecay: 2000 }],
    ['seed', { seed: NaN }],
    ['dpTol', { dpTol: Infinity }],
  ] as const) {
    it(`rejects an invalid ${parameter}: ${JSON.stringify(options)}`, () => {
      expect(() => new LagrangianFairnessTrainer(options)).to.throw(ValueError, parameter);
    });
  }
});

describe('RegularizedFairnessTrainer', () => {
  const scoresWith = async (options: RegularizedFairnessTrainerOptions): Promise<Float64Array> => {
    const all = { backend: 'wasm', epochs: 12, lr: 0.01, patience: 12, ...options } as const;
    const trainer = await new RegularizedFairnessTrainer(all).fit(DATA.x, DATA.y, { sensitive: DATA.s });
    return trainer.predictProba(DATA.x);
  };
  let unconstrained: Promise<Float64Array> | undefined;

  for (const penalty of FAIRNESS_PENALTIES) {
    it(`with ${penalty} gives a smaller gap than without`, async () => {
      const gap = (scores: Float64Array): number =>
        penalty === 'equalized_odds'
          ? // It is about gaps within each label.
            [0, 1].reduce((sum, label) => sum + gapOf(scores, DATA.s, (row) => DATA.y[row] === label), 0)
          : gapOf(scores, DATA.s);
      unconstrained ??= scoresWith({ eta: 0 });
      expect(gap(await scoresWith({ penalty, eta: 3 }))).to.be.below(0.7 * gap(await unconstrained));
    });
  }

  it('rejects a negative eta, an unknown penalty, and equalized odds of a regression', () => {
    expect(() => new RegularizedFairnessTrainer({ eta: -1 })).to.throw(ValueError, 'eta');
    expect(() => new RegularizedFairnessTrainer({ penalty: 'gap' as 'mmd' })).to.throw(ValueError, 'mean_gap');
    expect(() => new RegularizedFairnessTrainer({ penalty: 'equalized_odds', task: 'regression' })).to.throw(
      ValueError,
    );
  });
});

/** The parts of a trainer's JSON that tests change. */
interface TrainerJson {
  readonly params: Record<string, unknown>;
  readonly state: {
    readonly network: {
      layers: { readonly kernel: number[] }[];
      specs: unknown[];
      readonly target: { scale: number };
      backend: string;
    };
  };
}

/** Both trainers, which must pass the same tests. */
const TRAINERS = [
  {
    name: 'LagrangianFairnessTrainer',
    create: (options: object = {}) => new LagrangianFairnessTrainer({ backend: 'wasm', epochs: 3, ...options }),
    restore: (json: unknown) => LagrangianFairnessTrainer.fromJSON(json),
    rate: 'modelLr',
  },
  {
    name: 'RegularizedFairnessTrainer',
    create: (options: object = {}) =>
      new RegularizedFairnessTrainer({ backend: 'wasm', epochs: 3, penalty: 'mean_gap', ...options }),
    restore: (json: unknown) => RegularizedFairnessTrainer.fromJSON(json),
    rate: 'lr',
  },
] as const;

for (const { name, create, restore, rate } of TRAINERS) {
  describe(`${name}, as every trainer`, () => {
    const { x, y, s } = rows(400, 5);
    const difference = (a: Float64Array, b: Float64Array): number =>
      Math.max(...a.map((value, row) => Math.abs(value - (b[row] ?? NaN))));

    it('returns the same for the same seed, and something else for another', async () => {
      const fit = async (seed: number): Promise<Float64Array> =>
        (await create({ seed }).fit(x, y, { sensitive: s })).predictProba(x);
      const [first, again, other] = [await fit(1), await fit(1), await fit(2)];
      expect(first).to.deep.equal(again);
      expect(difference(first, other)).to.be.above(1e-3);
    });

    it('learns the same with weights of one as without weights', async () => {
      const fit = async (sampleWeight?: number[]): Promise<Float64Array> =>
        (await create().fit(x, y, { sensitive: s, sampleWeight })).predictProba(x);
      expect(difference(await fit(), await fit(s.map(() => 1)))).to.be.below(1e-5);
    });

    it('uses weights: rows of weight 0 have no effect', async () => {
      const flipped = y.map((value, row) => (row % 2 === 0 ? 1 - value : value));
      const weights = y.map((_, row) => row % 2);
      const options = { [rate]: 0.02, epochs: 30, patience: 30 };
      const trainer = await create(options).fit(x, flipped, { sensitive: s, sampleWeight: weights });
      const decisions = await trainer.predict(x);
      const right = y.reduce((sum, value, row) => sum + Number(value === decisions[row]), 0);
      expect(right / y.length).to.be.above(0.6);
    });

    it('accepts rows of numbers, tensors and tables', async () => {
      const numbers = Array.from(x.numeric('skill').values, (value, row) => [value, row % 3]);
      const names = Table.from({ x0: numbers.map(([a]) => a ?? NaN), x1: numbers.map(([, b]) => b ?? NaN) });
      const tensor = tf.tensor2d(numbers);
      const scores = await Promise.all(
        [numbers, names, tensor].map(async (given) => {
          const scored = await (await create().fit(given, y, { sensitive: s })).predictProba(given as typeof numbers);
          return given === tensor ? (scored as unknown as tf.Tensor1D).data() : scored;
        }),
      );
      tensor.dispose();
      expect(scores[1]).to.deep.equal(scores[0]);
      expect(difference(scores[2] as Float64Array, scores[0] as Float64Array)).to.be.below(1e-4);
    });

    it('rejects a matrix with another number of columns than in fit, and one without rows and columns', async () => {
      // The constant column is excluded from the network, but is a column of the matrix.
      const numbers = Array.from(x.numeric('skill').values, (value, row) => [value, row % 3, 1]);
      const given = tf.tensor2d(numbers);
      const wide = tf.tensor2d([[1, 5, 1, 99]]);
      const fitted = await create({ epochs: 1 }).fit(numbers, y, { sensitive: s });
      const onDevice = await create({ epochs: 1 }).fit(given, y, { sensitive: s });
      const back = restore(JSON.parse(JSON.stringify(fitted)));
      const message = 'X has 4 features, but the estimator was fitted on 3.';
      for (const trainer of [fitted, onDevice, back]) {
        for (const matrix of [[[1, 5, 1, 99]], wide]) {
          for (const method of ['predictProba', 'predict'] as const) {
            const error: unknown = await trainer[method](matrix as number[][]).catch((cause: unknown) => cause);
            expect(error).to.be.instanceOf(DataValidationError).with.property('message', message);
          }
        }
        const empty: unknown = await trainer.predictProba([]).catch((cause: unknown) => cause);
        expect(empty).to.be.instanceOf(DataValidationError);
        expect((empty as Error).message).to.equal('X has no rows and no columns, so there is nothing to predict.');
        expect(await trainer.predictProba([[1, 5, 1]])).to.have.length(1);
        expect(await trainer.predictProba({ rows: 0, columns: 3, values: new Float64Array(0) })).to.have.length(0);
      }
      const flat = tf.tensor1d([1, 5]);
      const error: unknown = await onDevice
        .predictProba(flat as unknown as tf.Tensor2D)
        .catch((cause: unknown) => cause);
      expect((error as Error).message).to.include('must be a 2-D tensor');
      tf.dispose([given, wide, flat]);
    });

    it('crosses several sensitive columns, and supports any number of groups', async () => {
      const sensitive = { s, half: s.map((_, row) => (row % 2 === 0 ? 'even' : 'odd')) };
      const trainer = await create().fit(x, y, { sensitive });
      expect(trainer.state?.groups).to.deep.equal(['a||even', 'a||odd', 'b||even', 'b||odd']);
    });

    it('survives JSON', async () => {
      const trainer = await create().fit(x, y, { sensitive: s });
      const back = restore(JSON.parse(JSON.stringify(trainer)));
      expect(await back.predictProba(x)).to.deep.equal(await trainer.predictProba(x));
      expect(back.options).to.deep.equal(trainer.options);
      expect(back.history).to.deep.equal(trainer.history);
    });

    for (const [what, change] of [
      ['no layers', (json: TrainerJson) => (json.state.network.layers = [])],
      ['no features', (json: TrainerJson) => (json.state.network.specs = [])],
      ['a scale of 0', (json: TrainerJson) => (json.state.network.target.scale = 0)],
      ['a kernel cut short', (json: TrainerJson) => json.state.network.layers[0]?.kernel.pop()],
      ['a feature too many', (json: TrainerJson) => json.state.network.specs.push(json.state.network.specs[0])],
      ['hidden layers of text', (json: TrainerJson) => (json.params['hidden'] = 'abc')],
      ['another task than its network', (json: TrainerJson) => (json.params['task'] = 'regression')],
    ] as const) {
      it(`rejects JSON with ${what}`, async () => {
        const json = JSON.parse(JSON.stringify(await create({ epochs: 1 }).fit(x, y, { sensitive: s }))) as TrainerJson;
        change(json);
        expect(() => restore(json)).to.throw(DataValidationError);
      });
    }

    it('predicts even if the backend of its fit cannot start', async () => {
      const trainer = await create({ epochs: 1 }).fit(x, y, { sensitive: s });
      const json = JSON.parse(JSON.stringify(trainer)) as TrainerJson;
      json.state.network.backend = 'node';
      expect(difference(await restore(json).predictProba(x), await trainer.predictProba(x))).to.be.below(1e-6);
    });

    it('learns the same from weights of any size, and excludes rows of weight 0', async () => {
      const fit = async (weights: number[], given = { x, y, s }): Promise<Float64Array> =>
        (await create().fit(given.x, given.y, { sensitive: given.s, sampleWeight: weights })).predictProba(x);
      const weights = y.map((_, row) => 1 + (row % 3));
      const plain = await fit(weights);
      for (const factor of [2 ** 900, 2 ** -900]) {
        expect(await fit(weights.map((weight) => weight * factor))).to.deep.equal(plain);
      }
      const kept = [...y.keys()].filter((row) => row % 4 !== 0);
      const pick = <T>(values: readonly T[]): T[] => kept.map((row) => values[row] as T);
      const without = await fit(pick(weights), { x: x.take(kept), y: pick(y), s: pick(s) });
      expect(await fit(weights.map((weight, row) => (row % 4 === 0 ? 0 : weight)))).to.deep.equal(without);
    });

    it('names a value far outside the training range', async () => {
      const trainer = await create().fit(x, y, { sensitive: s });
      const error = await trainer
        .predictProba(Table.from({ skill: [0, 1e300], town: ['north', 'south'] }))
        .catch(String);
      expect(error).to.match(/'skill' holds 1e\+300 in row 2/);
    });

    it('rejects a threshold that is not a number', async () => {
      const trainer = await create({ epochs: 1 }).fit(x, y, { sensitive: s });
      expect(await trainer.predict(x, { threshold: NaN }).catch(String)).to.match(
        /threshold parameter must be a number/,
      );
    });

    it('rejects JSON of something else', () => {
      expect(() => restore({ kind: 'logistic_regression' })).to.throw(DataValidationError);
    });

    it('leaves no tensor behind, even if it fails', async () => {
      await create().fit(x, y, { sensitive: s });
      const before = tf.memory().numTensors;
      await create().fit(x, y, { sensitive: s });
      await create({ [rate]: 1e30, epochs: 5 })
        .fit(x, y, { sensitive: s })
        .catch(() => undefined);
      expect(tf.memory().numTensors).to.equal(before);
    });

    it('reports the epoch at which the loss diverged, and the likely cause', async () => {
      const error = await create({ [rate]: 1e30, epochs: 5 })
        .fit(x, y, { sensitive: s })
        .then(
          () => undefined,
          (caught: unknown) => caught,
        );
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as Error).message).to.match(/epoch \d: a learning rate of 1e\+30 is likely too high/);
    });

    it('reports progress once per epoch, and the end once if it stops early', async () => {
      for (const patience of [1, 50]) {
        const seen: number[] = [];
        const trainer = create({ epochs: 8, patience, [rate]: 0.2 });
        await trainer.fit(x, y, {
          sensitive: s,
          onProgress: ({ done, total }) => {
            expect(total).to.equal(8);
            seen.push(done);
          },
        });
        const epochs = trainer.history.length;
        expect(seen).to.deep.equal([...Array.from({ length: epochs - 1 }, (_, epoch) => epoch + 1), 8]);
      }
    });

    it('stops at a signal, keeps an earlier fit, and rejects with the reason', async () => {
      const trainer = await create().fit(x, y, { sensitive: s });
      const scores = await trainer.predictProba(x);
      const controller = new AbortController();
      const reason = new Error('enough');
      const error = await trainer
        .fit(x, y, {
          sensitive: s,
          signal: controller.signal,
          onProgress: () => {
            controller.abort(reason);
          },
        })
        .catch((caught: unknown) => caught);
      expect(error).to.equal(reason);
      expect(await trainer.predictProba(x)).to.deep.equal(scores);
    });

    it('cannot predict before it has been fitted', async () => {
      const error = await create()
        .predictProba(x)
        .catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(TrainingError);
    });

    for (const [what, given, message] of [
      ['one group', { s: s.map(() => 'a') }, 'one group'],
      ['one class', { y: y.map(() => 1) }, 'nothing to learn'],
      ['labels beside 0 and 1', { y: y.map((_, row) => row % 3) }, '0 and 1'],
      ['a missing group', { s: s.map((group, row) => (row === 7 ? null : group)) }, 'index 7'],
      ['a missing label', { y: y.map((value, row) => (row === 3 ? null : value)) }, 'index 3'],
      ['fewer labels than rows', { y: y.slice(1) }, 'differ in length'],
      ['a negative weight', { sampleWeight: y.map((_, row) => (row === 2 ? -1 : 1)) }, 'index 2'],
      ['no rows', { x: Table.from({ a: [] }), y: [], s: [] }, ''],
      ['features that never vary', { x: Table.from({ a: y.map(() => 1) }) }, 'no feature'],
    ] as const) {
      it(`rejects ${what}`, async () => {
        const rowsGiven = { x, y, s, ...given } as { x: Table; y: number[]; s: string[]; sampleWeight?: number[] };
        const error = await create()
          .fit(rowsGiven.x, rowsGiven.y, { sensitive: rowsGiven.s, sampleWeight: rowsGiven.sampleWeight })
          .then(
            () => undefined,
            (caught: unknown) => caught,
          );
        expect(error).to.be.instanceOf(DataValidationError);
        expect((error as Error).message).to.contain(message);
      });
    }
  });
}
