import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { countReads, loadTensorflow } from '../../../src/tensor/index.ts';
import { adaptEstimator } from '../../../src/training/estimators/adapt-estimator.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../../../src/training/estimators/ml-logistic-regression.ts';
import type { SavableModel } from '../../../src/training/models/describe-model.ts';
import { loadModel } from '../../../src/training/models/load-model.ts';
import type { SavedModel } from '../../../src/training/models/saved-model.ts';
import { type ModelDescription, saveModel } from '../../../src/training/models/save-model.ts';
import { LagrangianFairnessTrainer } from '../../../src/training/networks/lagrangian-fairness-trainer.ts';
import { RegularizedFairnessTrainer } from '../../../src/training/networks/regularized-fairness-trainer.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';
import { makeRows, matrixOf } from './made-rows.ts';
import { encodeByHand, predictWithPlainTfjs, readCard } from './plain-tfjs.ts';

const folder = useTemporaryFolder();
const rows = makeRows();
const [columns, matrix] = [rows.columns, matrixOf(rows)];
const named = { priors: matrix.map(([, priors]) => priors), age: matrix.map(([age]) => age) };
const sensitive = rows.sensitive;
const network = { epochs: 3, batchSize: 64, hidden: [6], backend: 'cpu' } as const;
const exact = { precision: 'float64' } as const;

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/**
 * A model, its input rows, and its own predictions before it is saved. Backends may differ in the last digits of
 * float32.
 */
function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found.length).to.equal(expected.length);
  expect(Math.max(...Array.from(found, (value, row) => Math.abs(value - (expected[row] ?? NaN))))).to.be.below(1e-6);
}

/** A network of the user's own, with layers that the trainers do not have. */
function userModel(activation: 'sigmoid' | 'linear', seed: number): tf.LayersModel {
  const given = tf.input({ shape: [2] });
  const kernel = (): ReturnType<typeof tf.initializers.glorotNormal> => tf.initializers.glorotNormal({ seed });
  const dense = tf.layers.dense({ units: 5, activation: 'tanh', kernelInitializer: kernel() }).apply(given);
  const normal = tf.layers.batchNormalization().apply(tf.layers.dropout({ rate: 0.5 }).apply(dense));
  const joined = tf.layers.concatenate().apply([given, normal as tf.SymbolicTensor]);
  const outputs = tf.layers.dense({ units: 1, activation, kernelInitializer: kernel() }).apply(joined);
  return tf.model({ inputs: given, outputs: outputs as tf.SymbolicTensor });
}

function userScores(model: tf.LayersModel): Promise<ArrayLike<number>> {
  return Promise.resolve(tf.tidy(() => (model.predict(tf.tensor2d(matrix)) as tf.Tensor).dataSync()));
}

interface Case {
  readonly fit: () => Promise<SavableModel>;
  readonly scores: (model: never) => Promise<ArrayLike<number>>;
  readonly input: 'table' | 'matrix';
  readonly card: Readonly<Record<string, unknown>>;
  /** The tolerance between float32 and the model's own float64 digits. */
  readonly close?: number;
}

const probabilities = (model: LogisticRegression): Promise<Float64Array> => model.predictProba(matrix);
const tableScores = (model: LagrangianFairnessTrainer): Promise<Float64Array> => model.predictProba(columns);

const cases: Readonly<Record<string, Case>> = {
  'a lagrangian network': {
    fit: () => new LagrangianFairnessTrainer({ ...network, modelLr: 0.01 }).fit(columns, rows.y, { sensitive }),
    scores: tableScores,
    input: 'table',
    card: {
      method: 'lagrangian',
      task: 'binary',
      constraint: { fairness: 'demographic_parity', dp_tol: 0.02, eo_tol: 0.02 },
      output: 'probability of the positive label',
      backend: 'cpu',
    },
  },
  'a regularized network without hidden layers': {
    fit: () => new RegularizedFairnessTrainer({ ...network, lr: 0.01, hidden: [] }).fit(columns, rows.y, { sensitive }),
    scores: tableScores,
    input: 'table',
    card: { method: 'regularized', constraint: { penalty: 'covariance', eta: 0.5 } },
  },
  'a regression by a network, in the units of the target': {
    fit: () => new RegularizedFairnessTrainer({ ...network, lr: 0.01, task: 'regression' }).fit(columns, rows.values, { sensitive }), // prettier-ignore
    scores: tableScores,
    input: 'table',
    card: { task: 'regression', output: 'value' },
    // Values are about 1000.
    close: 1e-3,
  },
  'a logistic regression': {
    fit: () => new LogisticRegression(exact).fit(matrix, rows.y),
    scores: probabilities,
    input: 'matrix',
    card: { method: 'logistic_regression', constraint: null, seed: null },
  },
  'an ml logistic regression': {
    fit: () => new MlLogisticRegression({ numSteps: 50 }).fit(matrix, rows.y),
    scores: probabilities,
    input: 'matrix',
    card: { method: 'ml_logistic_regression' },
  },
  'a linear regression': {
    fit: () => new LinearRegression().fit(matrix, rows.values),
    scores: (model: LinearRegression) => model.predict(matrix),
    input: 'matrix',
    card: { method: 'linear_regression', task: 'regression', output: 'value' },
    close: 1e-3,
  },
  'reductions, a randomised mixture of logistic regressions': {
    fit: () => new ReductionsWrapper({ estimator: new LogisticRegression(exact), eps: 0.03, seed: 5 }).fit(matrix, rows.y, { sensitive }), // prettier-ignore
    scores: probabilities,
    input: 'matrix',
    card: {
      method: 'reductions',
      seed: 5,
      constraint: { constraint: 'demographic_parity', eps: 0.03 },
      output: 'probability of a positive randomised decision',
    },
  },
  'reductions, a randomised mixture of linear regressions that decide from 0.5': {
    fit: () => new ReductionsWrapper({ estimator: new LinearRegression(exact), eps: 0.03, seed: 5 }).fit(matrix, rows.y, { sensitive }), // prettier-ignore
    scores: probabilities,
    input: 'matrix',
    card: {
      method: 'reductions',
      seed: 5,
      constraint: { constraint: 'demographic_parity', eps: 0.03 },
      output: 'probability of a positive randomised decision',
    },
  },
  'reductions of values, a mixture of linear regressions cut to a range': {
    fit: () =>
      new ReductionsWrapper({
        constraint: 'bounded_group_loss',
        estimator: new LinearRegression(),
        loss: 'square',
        range: [900, 1300],
        upperBound: 9000,
        eps: 0.05,
        T: 8,
      }).fit(matrix, rows.values, { sensitive }),
    scores: (model: ReductionsWrapper) => model.predictMean(matrix),
    input: 'matrix',
    card: { method: 'reductions', task: 'regression', output: 'value' },
    close: 1e-3,
  },
  'your own network': {
    fit: () => Promise.resolve(userModel('sigmoid', 3)),
    scores: userScores,
    input: 'matrix',
    card: { method: 'layers_model', task: 'binary', output: 'probability of the positive label', constraint: null },
  },
  'your own network of values': {
    fit: () => Promise.resolve(userModel('linear', 4)),
    scores: userScores,
    input: 'matrix',
    card: { method: 'layers_model', task: 'regression', output: 'value' },
  },
  'a grid search': {
    fit: () =>
      new GridSearchReduction({ gridSize: 5, estimator: new LogisticRegression(exact) }).fit(matrix, rows.y, {
        sensitive,
      }),
    scores: probabilities,
    input: 'matrix',
    card: { method: 'grid_search', output: 'score, positive from 0.5' },
  },
};

describe('saved models', () => {
  for (const [title, { fit, scores, input, card, close = 1e-6 }] of Object.entries(cases)) {
    describe(title, () => {
      const index = (): string => path.join(folder(), title.slice(0, 12).replaceAll(' ', '-'), String(title.length));
      let model: SavableModel;
      before(async () => {
        model = await fit();
        await saveModel(model, index());
      });

      it('loads in plain TensorFlow.js, which gives the same scores from inputs encoded by the card', async () => {
        const read = readCard(index());
        const inputs = input === 'table' ? rows.records.map((row) => encodeByHand(read, row)) : matrix;
        const found = await predictWithPlainTfjs(index(), inputs);
        const expected = await scores(model as never);
        found.forEach((score, row) => {
          expect(score, `row ${row}`).to.be.closeTo(expected[row] as number, close);
        });
        expect(new Set(found.map((score) => score.toFixed(4))).size).to.be.greaterThan(1);
      });

      it('gives the same scores as before it was saved', async () => {
        const loaded = await loadModel(index(), { backend: 'cpu' });
        const found = await loaded.scores(input === 'table' ? columns : matrix);
        const expected = Float64Array.from(await scores(model as never));
        // A regression network's units are folded into float32 weights; all else is kept to the last digit.
        if (input === 'table' && close > 1e-6)
          found.forEach((score, row) => expect(score).to.be.closeTo(expected[row] as number, close)); // prettier-ignore
        else expect(found).to.deep.equal(expected);
      });

      it('has a card that describes it', () => {
        const read = readCard(index());
        expect(read).to.deep.include({ kind: 'evenhand model', data: null, groups: null, metrics: [], notes: [], ...card }); // prettier-ignore
        expect(read['versions']).to.deep.include({ evenhand: VERSION, tfjs: '4.22.0' });
        expect(readdirSync(index()).sort()).to.deep.equal([...(read['files'] as string[]), 'card.json'].sort());
      });
    });
  }

  it('a trainer fitted on a matrix accepts names for its columns, as a reduction does', async () => {
    const trainer = new RegularizedFairnessTrainer({ ...network, lr: 0.01 });
    await trainer.fit(matrix, rows.y, { sensitive });
    const location = path.join(folder(), 'named-trainer');
    const card = await saveModel(trainer, location, { features: ['age', 'priors'] });
    expect(card.features.map(({ name }) => name)).to.deep.equal(['age', 'priors']);
    const loaded = await loadModel(location);
    expectClose(await loaded.predictProba(named), await trainer.predictProba(matrix));
  });

  it('a trainer fitted on a table keeps its own columns, whatever the order of the names', async () => {
    const trainer = new RegularizedFairnessTrainer({ ...network, lr: 0.01 });
    const [age, priors] = [named.age, named.priors];
    await trainer.fit({ age, priors }, rows.y, { sensitive });
    const location = path.join(folder(), 'named-table-trainer');
    const card = await saveModel(trainer, location, { features: ['priors', 'age'] });
    expect(card.features.map(({ name }) => name)).to.deep.equal(['age', 'priors']);
    expectClose(await (await loadModel(location)).predictProba(named), await trainer.predictProba({ age, priors }));
    for (const features of [['age', 'income'], ['age'], ['priors', 'years']]) {
      const error = await errorOf(saveModel(trainer, path.join(folder(), 'refused'), { features }));
      expect(error, features.join()).to.be.instanceOf(ValueError);
    }
  });

  it('a constant predicts its probability, with one input per named feature', async () => {
    const location = path.join(folder(), 'constant');
    await saveModel(new ConstantClassifier(0.3), location, { features: ['a', 'b'] });
    expect((await predictWithPlainTfjs(location, [[1, 2]]))[0]).to.be.closeTo(0.3, 1e-7);
    expect([...(await (await loadModel(location)).predictProba({ a: [1, 5], b: [2, 2] }))]).to.deep.equal([0.3, 0.3]);
    expect(await errorOf(saveModel(new ConstantClassifier(0.3), location))).to.be.instanceOf(ValueError);
  });

  it('a mixture decides ties as 1, and supports constants and predictors of probability 0', async () => {
    const step = async (slope: number): Promise<LogisticRegression> =>
      LogisticRegression.fromJSON({
        ...(await new LogisticRegression(exact).fit([[0], [1]], [0, 1])).toJSON(),
        state: { coefficients: [slope], intercept: 0, iterations: 1, converged: true, warnings: [], deviance: 0 },
      });
    const wrapper = await new ReductionsWrapper({ estimator: new LogisticRegression(exact), eps: 0.1 }).fit(
      matrix.slice(0, 60).map(([, priors]) => [priors as number]),
      rows.y.slice(0, 60),
      { sensitive: sensitive.slice(0, 60) },
    );
    const json = wrapper.toJSON();
    const pool = [await step(1), await step(-2), new ConstantClassifier(1), new ConstantClassifier(0), await step(7)];
    const shares = { weights: [0.5, 0.25, 0.125, 0.125, 0], errors: [0, 0, 0, 0, 0], excesses: [0, 0, 0, 0, 0] };
    const mixed = ReductionsWrapper.fromJSON({
      ...json,
      state: { ...json.state, ...shares, predictors: pool.map((predictor) => predictor.toJSON()) },
    });
    const location = path.join(folder(), 'ties');
    await saveModel(mixed, location);
    const x = [[0], [1e-6], [-1e-6], [1e20], [-1e20]];
    // At 0 both predictors decide 1; the constant 1 always adds 0.125.
    expect(await predictWithPlainTfjs(location, x)).to.deep.equal([0.875, 0.625, 0.375, 0.625, 0.375]);
    expect([...(await (await loadModel(location)).predictProba(x))]).to.deep.equal([0.875, 0.625, 0.375, 0.625, 0.375]);
  });

  it('keeps the features, groups, constraint and threshold of a network of your own', async () => {
    const model = userModel('linear', 8);
    const location = path.join(folder(), 'own-described');
    const card = await saveModel(model, location, {
      features: ['age', 'priors'],
      groups: { a: 30, b: 20 },
      constraint: { penalty: 'mean_gap', eta: 2 },
      decisionThreshold: 0,
    });
    expect(card).to.deep.include({ constraint: { penalty: 'mean_gap', eta: 2 }, groups: { a: 30, b: 20 } });
    const expected = Uint8Array.from(await userScores(model), (score) => Number(score >= 0));
    expect(await (await loadModel(location, { backend: 'cpu' })).predict(named)).to.deep.equal(expected);
  });

  it('refuses a network of your own with other inputs, and a constraint for a model that has its own', async () => {
    const twoOutputs = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [2] })] });
    const sequence = tf.sequential({
      layers: [tf.layers.flatten({ inputShape: [2, 3] }), tf.layers.dense({ units: 1 })],
    });
    const trainer = await (cases['a lagrangian network'] as Case).fit();
    const attempts: [SavableModel, ModelDescription][] = [
      [twoOutputs, {}],
      [sequence, {}],
      [userModel('sigmoid', 1), { features: ['age'] }],
      [trainer, { constraint: { eta: 1 } }],
    ];
    for (const [index, [model, description]] of attempts.entries()) {
      const error = await errorOf(saveModel(model, path.join(folder(), `own-refused-${String(index)}`), description));
      expect(error, String(index)).to.be.instanceOf(ValueError);
    }
  });

  it('reports a damaged network of your own', async () => {
    const location = path.join(folder(), 'own-damaged');
    await saveModel(userModel('sigmoid', 5), location, { features: ['age', 'priors'] });
    const file = path.join(location, 'weights.bin');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 4));
    expect(await errorOf(loadModel(location))).to.be.instanceOf(DataValidationError);
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(await errorOf(loadModel(location))).to.be.instanceOf(DataValidationError);
  });

  it('a randomised model keeps its draw, and accepts another seed or randomisation', async () => {
    const wrapper = await (cases['reductions, a randomised mixture of logistic regressions'] as Case).fit();
    const location = path.join(folder(), 'draws');
    await saveModel(wrapper, location, { features: ['age', 'priors'] });
    const model = await loadModel(location);
    expect(model.isRandomized).to.equal(true);
    expect(await model.predict(named)).to.deep.equal(await (wrapper as ReductionsWrapper).predict(matrix));
    for (const options of [{ seed: 9 }, { randomization: 'row' as const }]) {
      expect(await model.predict(named, options)).to.deep.equal(await (wrapper as ReductionsWrapper).predict(matrix, options)); // prettier-ignore
    }
    const p = await model.predictProba(named);
    expect([...(await model.predict(named, { threshold: 0.4 }))]).to.deep.equal(
      [...p].map((one) => Number(one >= 0.4)),
    );
    for (const options of [
      { threshold: 0.5, seed: 1 },
      { threshold: 0.5, randomization: 'row' as const },
    ]) {
      expect(await errorOf(model.predict(named, options))).to.be.instanceOf(ValueError);
    }
  });

  it('finds columns by name, in any order and among others', async () => {
    const model = await new LogisticRegression(exact).fit(matrix, rows.y);
    const location = path.join(folder(), 'named');
    await saveModel(model, location, { features: ['age', 'priors'] });
    const loaded = await loadModel(location);
    expect(loaded.columns).to.deep.equal(['age', 'priors']);
    expect(await loaded.predictProba({ other: named.age, ...named })).to.deep.equal(await model.predictProba(matrix));
  });

  it('names every missing column, each with the most similar name', async () => {
    const location = path.join(folder(), 'missing');
    await saveModel(await new LogisticRegression(exact).fit(matrix, rows.y), location, { features: ['age', 'priors'] });
    const error = (await errorOf((await loadModel(location)).scores({ Age: [1], prior: [2] }))) as DataValidationError;
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error.message).to.match(
      /lack 2 columns .*'age' \(did you mean 'Age'\?\), 'priors' \(did you mean 'prior'\?\)/,
    );
  });

  it('writes the given data, groups and metrics to the card, including names like __proto__', async () => {
    const location = path.join(folder(), 'told');
    const groups = JSON.parse('{"__proto__": 3, "constructor": 4}') as Record<string, number>;
    const described: ModelDescription = {
      features: ['__proto__', 'constructor'],
      data: { target: 'y', positiveLabel: 'yes', sensitive: ['__proto__'], nTrain: 7, nTest: 2, nDropped: 1 },
      groups,
      metrics: [{ rows: 'test', accuracy: 0.5, dp_diff: NaN }],
    };
    await saveModel(await new LogisticRegression(exact).fit(matrix, rows.y), location, described);
    const { card, scores } = await loadModel(location).then((model) => ({
      card: model.card,
      scores: (x: [string, number[]][]) => model.scores(Object.fromEntries(x)),
    }));
    expect(card.data).to.deep.equal({ target: 'y', positive_label: 'yes', sensitive: ['__proto__'], na_values: null, n_train: 7, n_test: 2, n_dropped: 1 }); // prettier-ignore
    expect(Object.entries(card.groups ?? {})).to.deep.equal([['__proto__', 3], ['constructor', 4]]); // prettier-ignore
    expect(card.metrics).to.deep.equal([{ rows: 'test', accuracy: 0.5, dp_diff: null }]);
    expect([...(await scores([['__proto__', [0]], ['constructor', [0]]]))].length).to.equal(1); // prettier-ignore
    expect(({} as Record<string, unknown>)['0']).to.equal(undefined);
    const missing = (await errorOf(scores([['a', [0]]]))) as Error;
    expect(missing.message).to.match(/'__proto__', 'constructor'/);
  });

  it('saves predictors that are not linear as JSON alone, with a note in the card', async () => {
    class Odd {
      fit(): void {}
      predict(x: number[][]): number[] {
        return x.map(([first = 0]) => Number(Math.sin(first) > 0));
      }
      toJSON(): unknown {
        return { odd: true };
      }
    }
    const wrapper = await new ReductionsWrapper({ estimator: adaptEstimator(() => new Odd()), T: 2 }).fit(matrix, rows.y, { sensitive }); // prettier-ignore
    const location = path.join(folder(), 'odd');
    await saveModel(wrapper, location, { features: ['a', 'b'] });
    expect(readdirSync(location).sort()).to.deep.equal(['card.json', 'reductions.json']);
    expect((readCard(location)['notes'] as string[])[0]).to.match(/no model\.json: the predictors are not linear/);
    const error = (await errorOf(loadModel(location))) as DataValidationError;
    expect(error.message).to.match(/reductions\.json: The kind of an estimator must be one of .* Got 'adapted'/);
  });

  const refusals: [string, () => Promise<unknown>, new (...given: never[]) => Error, RegExp][] = [
    [
      'an unfitted trainer',
      () => saveModel(new LagrangianFairnessTrainer(), index()),
      TrainingError,
      /not been fitted/,
    ],
    ['an unfitted reduction', () => saveModel(new ReductionsWrapper(), index()), TrainingError, /not been fitted/],
    ['an unfitted estimator', () => saveModel(new LogisticRegression(), index()), TrainingError, /not been fitted/],
    [
      'no model',
      () => saveModel({} as never, index()),
      ValueError,
      /must be a trainer, a reduction, an estimator or a LayersModel/,
    ],
    [
      'too few features',
      async () => saveModel(await new LogisticRegression(exact).fit(matrix, rows.y), index(), { features: ['a'] }),
      ValueError,
      /must encode to 2 inputs. Got 1/,
    ],
  ];
  const index = (): string => path.join(folder(), 'refused');
  for (const [title, run, kind, message] of refusals) {
    it(`rejects ${title}, and writes nothing`, async () => {
      const error = await errorOf(run());
      expect(error).to.be.instanceOf(kind);
      expect((error as Error).message).to.match(message);
      expect(readdirSync(folder())).to.not.include('refused');
    });
  }

  it('rejects probabilities of a model of values', async () => {
    const values = path.join(folder(), 'values');
    await saveModel(await new LinearRegression().fit(matrix, rows.values), values);
    const model = await loadModel(values);
    expect(await errorOf(model.predictProba(matrix))).to.be.instanceOf(ValueError);
    expect(await model.predict(matrix)).to.deep.equal(await model.scores(matrix));
    expect(await errorOf(model.predict(matrix, { seed: 1 }))).to.be.instanceOf(ValueError);
  });

  it('replaces the folder of a model, but never one with other content', async () => {
    const model = await new LogisticRegression(exact).fit(matrix, rows.y);
    const target = path.join(folder(), 'again');
    await saveModel(model, target);
    await saveModel(model, target);
    writeFileSync(path.join(target, 'notes.txt'), 'mine');
    expect(await errorOf(saveModel(model, target))).to.be.instanceOf(DataValidationError);
    expect(readFileSync(path.join(target, 'notes.txt'), 'utf8')).to.equal('mine');
    const foreign = path.join(folder(), 'foreign');
    mkdirSync(foreign);
    writeFileSync(path.join(foreign, 'card.json'), '{"kind": "evenhand sweep", "networks": []}');
    expect(await errorOf(saveModel(model, foreign))).to.be.instanceOf(DataValidationError);
    expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('writes the same bytes for the same model', async () => {
    const model = await (cases['a lagrangian network'] as Case).fit();
    const [first, second] = ['one', 'two'].map((name) => path.join(folder(), name)) as [string, string];
    await saveModel(model, first);
    await saveModel(model, second);
    for (const name of readdirSync(first)) {
      expect(readFileSync(path.join(first, name)).equals(readFileSync(path.join(second, name))), name).to.equal(true);
    }
  });
});

/** The two numbers of the rows in float32, with the missing ages as NaN. */
const numbers = {
  age: Float32Array.from(rows.records, ({ age }) => Number(age ?? NaN)),
  priors: Float32Array.from(rows.records, ({ priors }) => Number(priors)),
};
/** The same numbers, standardised and without missing values. */
const complete = Array.from(matrix, (row) => Array.from(Float32Array.from(row)));
const names = ['age', 'priors'];

/** A saved model, with features that it accepts. */
interface TensorCase {
  readonly save: (location: string) => Promise<unknown>;
  /** Whether the model accepts missing values. */
  readonly acceptsMissing?: boolean;
  /** The tolerance between float32 and float64. */
  readonly close?: number;
}

const saved = (name: string, more: ModelDescription = {}) => {
  return async (location: string): Promise<unknown> =>
    saveModel(await (cases[name] as Case).fit(), location, { features: names, ...more });
};

const tensorCases: Readonly<Record<string, TensorCase>> = {
  'a lagrangian network': {
    save: async (location) =>
      saveModel(
        await new LagrangianFairnessTrainer({ ...network, modelLr: 0.01 }).fit(numbers, rows.y, { sensitive }),
        location,
      ),
    acceptsMissing: true,
  },
  'a regression by a network': {
    save: async (location) =>
      saveModel(
        await new RegularizedFairnessTrainer({ ...network, task: 'regression' }).fit(numbers, rows.values, {
          sensitive,
        }),
        location,
      ),
    acceptsMissing: true,
    close: 1e-2,
  },
  'a logistic regression': { save: saved('a logistic regression') },
  'a logistic regression of encoded features': {
    save: async (location) => {
      const known = numbers.age.map((age) => (Number.isNaN(age) ? 0 : (age - 40) / 12));
      const x = Array.from(known, (age, row) => [age, Number(age === 0), numbers.priors[row] ?? NaN]);
      await saveModel(await new LogisticRegression(exact).fit(x, rows.y), location, {
        features: [
          { kind: 'numeric', name: 'age', mean: 40, scale: 12, marksMissing: true },
          { kind: 'numeric', name: 'priors', mean: 0, scale: 1, marksMissing: false },
        ],
      });
    },
    acceptsMissing: true,
  },
  'an ml logistic regression': { save: saved('an ml logistic regression') },
  'a linear regression, with a threshold': { save: saved('a linear regression', { decisionThreshold: 1000 }), close: 1e-2 },
  'a constant': { save: (location) => saveModel(new ConstantClassifier(0.3), location, { features: names }) },
  'reductions': { save: saved('reductions, a randomised mixture of logistic regressions') },
  'reductions of linear regressions': {
    save: saved('reductions, a randomised mixture of linear regressions that decide from 0.5'),
  },
  'reductions of values': {
    save: saved('reductions of values, a mixture of linear regressions cut to a range'),
    close: 1e-2,
  },
  'a grid search': { save: saved('a grid search') },
  'your own network': { save: saved('your own network'), acceptsMissing: true },
  'your own network of values': { save: saved('your own network of values'), acceptsMissing: true },
}; // prettier-ignore

describe('saved models of tensors', () => {
  const models = new Map<string, string>();
  before('save each model once', async () => {
    for (const [title, { save }] of Object.entries(tensorCases)) {
      const location = path.join(folder(), `tensors-${String(models.size)}`);
      await save(location);
      models.set(title, location);
    }
  });
  const load = (title: string): Promise<SavedModel> => loadModel(models.get(title) as string, { backend: 'cpu' });

  /** Uploads features, [rows, columns], with the caller's own import of TensorFlow.js. */
  const upload = ({ age, priors }: typeof numbers): tf.Tensor2D =>
    tf.tidy(() => tf.stack([tf.tensor1d(age), tf.tensor1d(priors)], 1) as tf.Tensor2D);
  const without = {
    age: Float32Array.from(complete, ([age = NaN]) => age),
    priors: Float32Array.from(complete, ([, priors = NaN]) => priors),
  };

  for (const backend of TESTED_BACKENDS) {
    describeOn(backend, `on ${backend}`, () => {
      onDevice(backend);

      for (const [title, { acceptsMissing = false, close = 1e-5 }] of Object.entries(tensorCases)) {
        it(`${title}: scores and predictions equal those of arrays and are tensors`, async () => {
          const model = await load(title);
          const given = acceptsMissing ? numbers : without;
          const scores = await model.scores(given);
          const predictions = await model.predict(given);
          await loadTensorflow({ backend });
          const x = upload(given);
          const held = tf.memory().numTensors;
          const found: readonly tf.Tensor1D[] = [await model.scores(x), await model.predict(x)];
          expect(tf.memory().numTensors).to.equal(held + 2);
          for (const tensor of found) expect([tensor.dtype, tensor.shape]).to.deep.equal(['float32', [scores.length]]);
          const [own, decided] = [await (found[0] as tf.Tensor).data(), await (found[1] as tf.Tensor).data()];
          scores.forEach((score, row) => {
            expect(own[row], `row ${String(row)}`).to.be.closeTo(score, close);
          });
          // A score within the tolerance of a threshold may be decided differently.
          const others = predictions.filter((one, row) => Math.abs(one - (decided[row] ?? NaN)) > close).length;
          expect(others).to.be.at.most(model.isRandomized ? 0 : 1);
          if (model.card.task === 'binary') {
            const p = await model.predictProba(x);
            expect(await p.data()).to.deep.equal(own);
            p.dispose();
          }
          tf.dispose([x, ...found]);
        });
      }

      it('a threshold decides on the device, and a seed draws as for arrays', async () => {
        const model = await load('reductions');
        const x = upload(without);
        for (const options of [{ threshold: 0.4 }, { seed: 9 }, {}]) {
          const decided = await model.predict(x, options);
          expect([...(await decided.data())]).to.deep.equal([...(await model.predict(without, options))]);
          decided.dispose();
        }
        x.dispose();
      });

      it('no rows give no scores', async () => {
        for (const title of Object.keys(tensorCases)) {
          const model = await load(title);
          const x = tf.zeros<tf.Rank.R2>([0, 2]);
          const found = [await model.scores(x), await model.predict(x)];
          expect(
            found.map(({ shape }) => shape),
            title,
          ).to.deep.equal([[0], [0]]);
          expect(await model.describeGaps(x)).to.deep.equal([]);
          tf.dispose([x, ...found]);
        }
      });
    });
  }

  describe('on wasm alone', () => {
    onDevice('wasm');
    let tensors = 0;
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves only the tensors of the models', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    it('what is read does not depend on the number of rows', async () => {
      const small = upload(without);
      for (const title of Object.keys(tensorCases)) {
        const model = await load(title);
        tensors = tf.memory().numTensors - 1;
        const readsOf = async (times: number): Promise<number[]> => {
          const x = small.tile<tf.Tensor2D>([times, 1]);
          const { reads, values } = await countReads(tf, async () => {
            tf.dispose([await model.scores(x), await model.predict(x)]);
          });
          x.dispose();
          return [reads, values];
        };
        const few = await readsOf(25);
        expect(few[1], title).to.be.below(400);
        expect(await readsOf(125), title).to.deep.equal(few);
      }
      small.dispose();
    });

    it('columns x0 and x1 are found by name, and other columns are not used', async () => {
      const trainer = new RegularizedFairnessTrainer(network);
      // The second column never varies, so the network has the columns x0 and x2.
      const wide = complete.map(([age = NaN, priors = NaN]) => [age, 7, priors]);
      await trainer.fit(wide, rows.y, { sensitive });
      const location = path.join(folder(), 'tensor-wide');
      await saveModel(trainer, location);
      const model = await loadModel(location);
      expect(model.columns).to.deep.equal(['x0', 'x2']);
      const x = tf.tensor2d(wide.map(([age = NaN, , priors = NaN]) => [age, Infinity, priors]));
      const [scores, expected] = [await model.scores(x), await model.scores(wide)];
      expectClose(await scores.data(), expected);
      const narrow = tf.zeros<tf.Rank.R2>([3, 2]);
      const error = (await errorOf(model.scores(narrow))) as DataValidationError;
      expect(error.message).to.match(/needs the columns 'x0', 'x2', but .* 2 columns are named x0, x1/);
      tf.dispose([x, scores, narrow]);
    });

    it('the columns of a tensor or matrix have the order of the card if the features have names', async () => {
      const model = await load('a logistic regression');
      expect(await model.scores(complete)).to.deep.equal(await model.scores(without));
      for (const wrong of [tf.zeros<tf.Rank.R2>([3, 3]), [[1, 2, 3]]]) {
        const error = (await errorOf(model.scores(wrong as tf.Tensor2D))) as DataValidationError;
        expect(error).to.be.instanceOf(DataValidationError);
        expect(error.code).to.equal('unknown-column');
        expect(error.message).to.equal(
          "The model needs the columns 'age', 'priors', but a tensor or matrix has no names: its 3 columns are named x0, x1, x2.",
        );
        expect(error.suggestion).to.match(/exactly these 2 columns, in this order, or a table with columns of these names/); // prettier-ignore
        if (wrong instanceof tf.Tensor) wrong.dispose();
      }
    });

    it('counts missing values on the device', async () => {
      const model = await load('a lagrangian network');
      const location = path.join(folder(), 'no-missing');
      await saveModel(await new RegularizedFairnessTrainer(network).fit(without, rows.y, { sensitive }), location);
      const strict = await loadModel(location);
      tensors = tf.memory().numTensors;
      const x = upload(numbers);
      const missing = numbers.age.filter(Number.isNaN).length;
      const { reads, result } = await countReads(tf, () => strict.describeGaps(x));
      expect(result).to.deep.equal([
        `feature 'age': ${String(missing)} rows have no value, though all training rows had one; the mean is used`,
      ]);
      expect(result).to.deep.equal(await strict.describeGaps(numbers));
      expect(reads).to.equal(1);
      expect(await model.describeGaps(x)).to.deep.equal([]);
      x.dispose();
    });

    const unusable: readonly (readonly [string, string, () => tf.Tensor, object, RegExp])[] = [
      ['a disposed tensor', 'reductions', () => { const x = tf.zeros([2, 2]); x.dispose(); return x; }, {}, /X is a tensor that has been disposed/],
      ['one dimension', 'your own network', () => tf.zeros([2]), {}, /X must be a 2-D tensor, \[rows, features\]; got one of shape \[2\]/],
      ['an infinite value', 'a lagrangian network', () => tf.tensor2d([[1, 2], [3, -Infinity]]), {}, /'priors' must be finite, but row 2 holds -Infinity/],
      ['a value far outside the training rows', 'a lagrangian network', () => tf.tensor2d([[1e30, 2]]), {}, /'age' holds .*far outside/],
      ['a missing value that the model cannot use', 'a logistic regression', () => tf.tensor2d([[1, NaN]]), {}, /X must be finite, but holds NaN/],
      ['draws by a hash of the row', 'reductions', () => tf.zeros([2, 2]), { randomization: 'row' }, /hashes features on the host, but X is a tensor/],
      ['an option without effect', 'a grid search', () => tf.zeros([2, 2]), { seed: 1 }, /not randomised/],
    ]; // prettier-ignore
    for (const [title, name, make, options, message] of unusable) {
      it(`rejects ${title}`, async () => {
        const model = await load(name);
        tensors = tf.memory().numTensors;
        const x = make();
        const error = await errorOf(model.predict(x as tf.Tensor2D, options));
        expect((error as Error).message).to.match(message);
        x.dispose();
      });
    }

    it('rejects tensors for a model that reads text, and probabilities of values', async () => {
      const location = path.join(folder(), 'texts');
      const trainer = await new RegularizedFairnessTrainer(network).fit(columns, rows.y, { sensitive });
      await saveModel(trainer, location);
      const [model, values] = [await loadModel(location), await load('a linear regression, with a threshold')];
      tensors = tf.memory().numTensors;
      const x = tf.zeros<tf.Rank.R2>([2, 3]);
      const error = (await errorOf(model.scores(x))) as DataValidationError;
      expect(error.message).to.match(/needs the columns 'age', 'job', 'priors'/);
      expect(error.suggestion).to.match(/'job' holds texts, so give a table/);
      expect(await errorOf(values.predictProba(x))).to.be.instanceOf(ValueError);
      x.dispose();
    });
  });
});
