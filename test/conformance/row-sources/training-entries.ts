import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';

import type { TensorBackend } from '../../../src/tensor/index.ts';
import * as training from '../../../src/training/index.ts';
import type { Entry } from './entry.ts';
import { ARRAYS, type Rows } from './sources.ts';

/** A network that is trained within a second. With many rows, one epoch is enough to count what is read. */
const network = ({ backend, count }: Rows) => ({
  backend,
  hidden: [4],
  patience: 100,
  ...(count > 1000 ? { epochs: 1, batchSize: 8192 } : { epochs: 2, batchSize: 64 }),
});

/** Estimators that compute on the device compare with the host's float64. */
const precision = ({ kind }: Rows) => ({ precision: kind === 'tensors' ? 'float32' : 'float64' }) as const;

type Model = Pick<training.Estimator, 'predict' | 'predictProba'>;

const scoresOf = (model: unknown) => (model as Model).predictProba(ARRAYS.x);
const decisionsOf = (model: unknown) => (model as Model).predict(ARRAYS.x);

/** How the methods of a model treat tensors. */
type Treatment = Omit<Entry, 'call' | 'answer' | 'prepare'>;

/** A model that leaves tensors on their device, and returns predictions on the host, one for each row. */
const ON_DEVICE: Treatment = { agreement: 'reductions', tensors: 'device' };
const ASKED: Treatment = { ...ON_DEVICE, readsOfRow: 1 };
const FITTED: Treatment = { ...ON_DEVICE, isIterative: true };

/** A model that reads tensors, and computes in the precision of float32 tensors. */
const READ: Treatment = { agreement: 'reductions', tensors: 'host' };

/** Returns the entries of an estimator: its fit, and its predictions from a fit on arrays. */
function estimatorEntries(
  name: string,
  create: (rows: Rows) => training.Estimator,
  [fit, predict]: readonly [fit: Treatment, predict: Treatment],
): [string, Entry][] {
  const prepare = () => create(ARRAYS).fit(ARRAYS.x, ARRAYS.label);
  const fitted: Entry = {
    ...fit,
    call: (rows) => create(rows).fit(rows.x, rows.label, { sampleWeight: rows.weight }),
    answer: scoresOf,
  };
  return [
    [`${name}.fit`, fitted],
    [`${name}.predict`, { ...predict, prepare, call: ({ x }, model) => (model as Model).predict(x) }],
    [`${name}.predictProba`, { ...predict, prepare, call: ({ x }, model) => (model as Model).predictProba(x) }],
  ];
}

/** The predictions that an estimator returns as a tensor. */
const tensorOf = (create: () => training.TensorEstimator): Entry => ({
  ...ON_DEVICE,
  takesOnlyTensors: true,
  prepare: () => create().fit(ARRAYS.x, ARRAYS.label),
  call: ({ x }, model) => (model as training.TensorEstimator).predictTensor(x as tf.Tensor2D),
});

/** The trainers of one network. */
const TRAINERS = {
  RegularizedFairnessTrainer: (rows: Rows) => new training.RegularizedFairnessTrainer({ ...network(rows), lr: 0.02 }),
  LagrangianFairnessTrainer: (rows: Rows) =>
    new training.LagrangianFairnessTrainer({ ...network(rows), modelLr: 0.02, minGroupSize: 5 }),
};

const trainerEntries = Object.entries(TRAINERS).flatMap(([name, create]): [string, Entry][] => {
  const onNetwork = { agreement: 'networks', tensors: 'device' } as const;
  const prepare = (backend: TensorBackend) =>
    create({ ...ARRAYS, backend }).fit(ARRAYS.x, ARRAYS.label, { sensitive: ARRAYS.group });
  return [
    [
      `${name}.fit`,
      {
        ...onNetwork,
        call: (rows) => create(rows).fit(rows.x, rows.label, { sensitive: rows.group, sampleWeight: rows.weight }),
        answer: decisionsOf,
      },
    ],
    [`${name}.predict`, { ...onNetwork, prepare, call: ({ x }, model) => (model as Model).predict(x) }],
    [`${name}.predictProba`, { ...onNetwork, prepare, call: ({ x }, model) => (model as Model).predictProba(x) }],
  ];
});

/** Few iterations, because reads of an iteration are the same. */
const REDUCTION = { constraint: 'demographic_parity', T: 2, nu: 0 } as const;
const GRID = { constraint: 'demographic_parity', gridSize: 3 } as const;

const REDUCTIONS: Readonly<Record<string, (rows: Rows) => training.ReductionsWrapper | training.GridSearchReduction>> =
  {
    ReductionsWrapper: (rows) => new training.ReductionsWrapper({ ...REDUCTION, ...precision(rows) }),
    GridSearchReduction: (rows) => new training.GridSearchReduction({ ...GRID, ...precision(rows) }),
  };

const reductionEntries = Object.entries(REDUCTIONS).flatMap(([name, create]): [string, Entry][] => {
  const prepare = () => create(ARRAYS).fit(ARRAYS.x, ARRAYS.label, { sensitive: ARRAYS.group });
  return [
    [
      `${name}.fit`,
      {
        ...FITTED,
        call: (rows) => create(rows).fit(rows.x, rows.label, { sensitive: rows.group, sampleWeight: rows.weight }),
        answer: scoresOf,
      },
    ],
    [`${name}.predict`, { ...ON_DEVICE, readsOfRow: 1, prepare, call: ({ x }, model) => (model as Model).predict(x) }],
    [
      `${name}.predictProba`,
      { ...ON_DEVICE, readsOfRow: 1, prepare, call: ({ x }, model) => (model as Model).predictProba(x) },
    ],
  ];
});

const LOSS_BOUND = { constraint: 'bounded_group_loss', upperBound: 0.2, T: 2 } as const;

const CALIBRATORS: readonly training.GroupFairnessCalibratorOptions[] = [
  { method: 'platt' },
  { method: 'platt', input: 'score' },
  { method: 'temperature' },
  { method: 'isotonic' },
];

const calibratorEntries = CALIBRATORS.flatMap((options, index): [string, Entry][] => {
  const create = () => new training.GroupFairnessCalibrator(options);
  const own = { agreement: 'calibration', tensors: 'device' } as const;
  const fit = { ...own, isIterative: true };
  const given = ({ group, weight }: Rows) => ({ groups: group, sampleWeight: weight });
  const name = (method: string): string => `GroupFairnessCalibrator.${method} (${Object.values(options).join(' of ')})`;
  const both: Entry = { ...fit, call: (rows) => create().fitTransform(rows.score, rows.label, given(rows)) };
  return [
    [
      name('fit'),
      {
        ...fit,
        call: (rows) => create().fit(rows.score, rows.label, given(rows)),
        answer: (fitted) =>
          (fitted as training.GroupFairnessCalibrator).transform(ARRAYS.score, { groups: ARRAYS.group }),
      },
    ],
    [
      name('transform'),
      {
        ...own,
        prepare: () => create().fit(ARRAYS.score, ARRAYS.label, { groups: ARRAYS.group }),
        call: ({ score, group }, fitted) =>
          (fitted as training.GroupFairnessCalibrator).transform(score, { groups: group }),
      },
    ],
    ...(index === 0 ? [[name('fitTransform'), both] as [string, Entry]] : []),
  ];
});

const thresholdFit = ({ score, label, group, weight }: Rows) =>
  new training.ThresholdOptimizer().fit(score, label, { sensitive: group, sampleWeight: weight });

/** Rejected rows are listed, or marked in a tensor. These rows have none. */
const decisionsAndChances: Entry['answer'] = (decided) => {
  const { decisions, probabilities, rejected } = decided as training.ThresholdDecisions;
  if (rejected instanceof tf.Tensor) rejected.dispose();
  return [decisions, probabilities];
};

const thresholds = (method: 'predict' | 'predictProba' | 'decide'): [string, Entry] => [
  `ThresholdOptimizer.${method}`,
  {
    agreement: 'calibration',
    tensors: 'device',
    prepare: () => thresholdFit(ARRAYS),
    call: ({ score, group }, fitted) => (fitted as training.ThresholdOptimizer)[method](score, { sensitive: group }),
    answer: method === 'decide' ? decisionsAndChances : undefined,
  },
];

/** A model of one layer with known weights, of the features x0, x1 and x2. */
function plainModel(): tf.LayersModel {
  const dense = tf.layers.dense({ units: 1, inputShape: [3], kernelInitializer: 'zeros', biasInitializer: 'zeros' });
  return tf.sequential({ layers: [dense] });
}

/** The loss of one model with its targets. */
async function lossOf(rows: Rows, options: training.CompileFairOptions) {
  const model = plainModel();
  const fair = training.compileFair(model, options);
  const x = tf.zeros([rows.count, 3]);
  try {
    const targets = await fair.targets(rows.label, rows.group, rows.weight);
    const results = model.evaluate(x, targets, { batchSize: rows.count }) as tf.Scalar[];
    tf.dispose(targets);
    return results;
  } finally {
    fair.dispose();
    model.dispose();
    x.dispose();
  }
}

async function watchOf(rows: Rows) {
  const model = plainModel();
  const fair = training.compileFair(model, { groupCount: 3 });
  const x = tf.zeros([rows.count, 3]);
  try {
    const watch = fair.watch({ x, labels: rows.label, groups: rows.group });
    await watch.onEpochEnd?.(0, {});
    return watch.epochs;
  } finally {
    fair.dispose();
    model.dispose();
    x.dispose();
  }
}

/** Runs a loss of tensors, whose one-hot groups are made on the device. */
function lossOfTensors(loss: (rows: Rows, groups: tf.Tensor) => unknown): Entry['call'] {
  return (rows) => {
    const oneHot = tf.oneHot(rows.group as tf.Tensor1D, 3);
    const value = loss(rows, oneHot);
    oneHot.dispose();
    return value;
  };
}

async function savedModel(): Promise<training.SavedModel> {
  const folder = await mkdtemp(path.join(tmpdir(), 'evenhand-row-sources-'));
  try {
    const model = await new training.LogisticRegression({ precision: 'float64' }).fit(ARRAYS.x, ARRAYS.label);
    await training.saveModel(model, folder, { features: ['x0', 'x1', 'x2'] });
    return await training.loadModel(folder, { backend: 'cpu' });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const savedEntries = (['scores', 'predictProba', 'predict', 'describeGaps'] as const).map((method): [string, Entry] => [
  `SavedModel.${method}`,
  {
    agreement: 'reductions',
    tensors: 'device',
    prepare: savedModel,
    call: ({ x }, model) => (model as training.SavedModel)[method](x),
  },
]);

/** A model of another library: it decides 1 if the first feature is above its mean. */
function plainEstimator() {
  let mean = 0;
  return {
    fit(x: readonly (readonly number[])[]) {
      mean = x.reduce((sum, [first = 0]) => sum + first / x.length, 0);
    },
    predict: (x: readonly (readonly number[])[]) => x.map(([first = 0]) => Number(first > mean)),
  };
}

const JOB = { minGroupSize: 5 };

const jobSource = (rows: Rows) => ({
  table: rows.table('skill', 'years', 'town', 'label', 'group'),
  target: 'label',
  sensitive: 'group',
});

const sweepOptions = (rows: Rows) => ({ ...network(rows), lr: 0.02, etas: [0, 1], minGroupSize: 5, threads: 1 });

/** The entries of `evenhand/training` that take rows. */
export const TRAINING_ENTRIES: Readonly<Record<string, Entry>> = {
  ...Object.fromEntries([
    ...estimatorEntries('LogisticRegression', (rows) => new training.LogisticRegression(precision(rows)), [
      FITTED,
      ASKED,
    ]),
    ...estimatorEntries('LinearRegression', (rows) => new training.LinearRegression(precision(rows)), [FITTED, ASKED]),
    ...estimatorEntries('ConstantClassifier', () => new training.ConstantClassifier(1), [ON_DEVICE, ON_DEVICE]),
    ...estimatorEntries('MlLogisticRegression', () => new training.MlLogisticRegression({ numSteps: 20 }), [
      READ,
      READ,
    ]),
    ...estimatorEntries('adaptEstimator', () => training.adaptEstimator(plainEstimator), [READ, READ]),
    ...estimatorEntries('toEstimator', () => training.toEstimator(plainEstimator), [READ, READ]),
    ...trainerEntries,
    ...reductionEntries,
    ...calibratorEntries,
    ...savedEntries,
    ...(['predict', 'predictProba', 'decide'] as const).map(thresholds),
  ]),
  'LogisticRegression.predictTensor': tensorOf(() => new training.LogisticRegression(precision(ARRAYS))),
  'LinearRegression.predictTensor': tensorOf(() => new training.LinearRegression(precision(ARRAYS))),
  'MlLogisticRegression.predictTensor': tensorOf(() => new training.MlLogisticRegression({ numSteps: 20 })),
  'ConstantClassifier.predictTensor': tensorOf(() => new training.ConstantClassifier(1)),
  'ReductionsWrapper.predictMean': {
    ...ON_DEVICE,
    readsOfRow: 1,
    prepare: () =>
      new training.ReductionsWrapper({ ...LOSS_BOUND, precision: 'float64' }).fit(ARRAYS.x, ARRAYS.label, {
        sensitive: ARRAYS.group,
      }),
    call: ({ x }, model) => (model as training.ReductionsWrapper).predictMean(x),
  },
  ...Object.fromEntries(
    (['predictTensor', 'predictMeanTensor'] as const).map((method): [string, Entry] => [
      `ReductionsWrapper.${method}`,
      {
        agreement: 'reductions',
        tensors: 'device',
        takesOnlyTensors: true,
        prepare: () =>
          new training.ReductionsWrapper({ ...REDUCTION, precision: 'float64' }).fit(ARRAYS.x, ARRAYS.label, {
            sensitive: ARRAYS.group,
          }),
        call: ({ x }, model) => (model as training.ReductionsWrapper)[method](x as tf.Tensor2D),
      },
    ]),
  ),
  'SavedModel.predictWithScores': {
    agreement: 'exact',
    tensors: 'host',
    prepare: savedModel,
    call: ({ x }, model) => (model as training.SavedModel).predictWithScores(x as number[][]),
  },
  'ThresholdOptimizer.fit': {
    agreement: 'calibration',
    tensors: 'device',
    call: thresholdFit,
    answer: (fitted) => (fitted as training.ThresholdOptimizer).describe(),
  },
  measureCalibration: {
    agreement: 'calibration',
    tensors: 'device',
    call: ({ score, label, group, weight }) =>
      training.measureCalibration(score, label, group, { sampleWeight: weight }),
  },
  reliabilityCurve: {
    agreement: 'calibration',
    tensors: 'device',
    call: ({ score, label, group }) => training.reliabilityCurve(score, label, group),
  },
  calibrateHeldOut: {
    agreement: 'calibration',
    tensors: 'device',
    // More rows are in other folds, whose fits may take another step.
    isIterative: true,
    call: async ({ score, label, group }) => {
      const { calibrated, rows, foldOf } = await training.calibrateHeldOut(score, label, { groups: group, folds: 2 });
      return [calibrated, rows, foldOf];
    },
  },
  calibrateTable: {
    agreement: 'exact',
    tensors: 'host',
    call: (rows) =>
      training.calibrateTable(
        { table: rows.table('score', 'label', 'group'), target: 'label', group: 'group' },
        { folds: 2 },
      ),
    answer: (result) => {
      const { table, before, after, curves } = result as Awaited<ReturnType<typeof training.calibrateTable>>;
      return [table, before, after, curves];
    },
  },
  predictTable: {
    agreement: 'exact',
    tensors: 'host',
    prepare: savedModel,
    call: async (rows, model) => {
      const { skill: x0, years: x1, town: x2 } = rows;
      const given = rows.kind === 'danfojs' ? (rows.x as Parameters<typeof training.predictTable>[1]) : { x0, x1, x2 };
      return (await training.predictTable(model as training.SavedModel, given)).table;
    },
  },
  sweepPareto: {
    agreement: 'networks',
    tensors: 'device',

    call: (rows) => {
      if (rows.kind !== 'tensors') return training.sweepPareto(jobSource(rows), sweepOptions(rows));
      const { x, label, group } = rows as unknown as Record<string, tf.Tensor>;
      const source = { features: x as tf.Tensor2D, target: label as tf.Tensor1D, sensitive: group as tf.Tensor1D };
      return training.sweepPareto(source, sweepOptions(rows));
    },
    answer: (points) =>
      (points as training.ParetoSweep).map(({ eta, accuracy, dpDiff, eoDiff }) => ({ eta, accuracy, dpDiff, eoDiff })),
  },
  'sweepPareto (a table of tensors)': {
    agreement: 'networks',
    tensors: 'host',

    call: (rows) => training.sweepPareto(jobSource(rows), sweepOptions(rows)),
    answer: (points) =>
      (points as training.ParetoSweep).map(({ eta, accuracy, dpDiff }) => ({ eta, accuracy, dpDiff })),
  },
  trainLagrangian: {
    agreement: 'networks',
    tensors: 'host',

    call: (rows) => training.trainLagrangian(jobSource(rows), { ...JOB, ...network(rows) }),
    answer: (job) => (job as Awaited<ReturnType<typeof training.trainLagrangian>>).final,
  },
  trainReductions: {
    agreement: 'exact',
    tensors: 'host',
    call: (rows) => training.trainReductions(jobSource(rows), { ...JOB, T: 2 }),
    answer: (job) => (job as Awaited<ReturnType<typeof training.trainReductions>>).final,
  },
  'FairnessRegularizerLoss.compute': {
    agreement: 'sums',
    tensors: 'device',
    takesOnlyTensors: true,
    call: lossOfTensors(({ score, label }, groups) =>
      new training.FairnessRegularizerLoss({ penalty: 'equalized_odds' }).compute(
        score as tf.Tensor,
        label as tf.Tensor,
        groups,
      ),
    ),
  },
  'MinDiffLoss.compute': {
    agreement: 'sums',
    tensors: 'device',
    takesOnlyTensors: true,
    call: ({ label, score }) =>
      new training.MinDiffLoss({ loss: 'correlation' }).compute(label as tf.Tensor, score as tf.Tensor),
  },
  'compileFair (targets)': {
    agreement: 'sums',
    tensors: 'device',
    call: (rows) => lossOf(rows, { groupCount: 3, penalty: 'mean_gap', eta: 1 }),
  },
  'compileFair (watch)': { agreement: 'exact', tensors: 'device', call: watchOf },
};
