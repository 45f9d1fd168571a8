import { expect } from 'chai';
import type { z } from 'zod';

import { toCamelCase, toSnakeCase } from '../../../src/internal/arguments.ts';
import { parsePipelineConfig } from '../../../src/pipeline/config/index.ts';
import { TRAINING_METHODS, TRAINING_PARAMS } from '../../../src/schemas/pipeline/training-params.ts';
import { TENSOR_BACKENDS } from '../../../src/tensor/index.ts';
import {
  FAIRNESS_PENALTIES,
  LagrangianFairnessTrainer,
  type LagrangianFairnessTrainerOptions,
  REDUCTION_CONSTRAINTS,
  type ReductionsOptions,
  ReductionsWrapper,
  RegularizedFairnessTrainer,
  type RegularizedFairnessTrainerOptions,
} from '../../../src/training/index.ts';
import { PRECISIONS } from '../../../src/training/estimators/fitting/fit-linear-model.ts';
import { FAIRNESS_CONSTRAINTS } from '../../../src/training/networks/fairness-events.ts';
import { SCHEDULES } from '../../../src/training/networks/network-options.ts';
import { GROUP_LOSSES } from '../../../src/training/reductions/constraint-names.ts';
import { RANDOMIZATIONS } from '../../../src/training/reductions/mixture.ts';

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer First}${infer Rest}`
  ? `${Head}${Uppercase<First>}${CamelCase<Rest>}`
  : Text;
type Keys<Schema extends z.ZodObject> = CamelCase<keyof z.output<Schema> & string>;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

/** Checked by the compiler: each method has every option of its trainer, except functions and those that a workflow sets. */
const KEYS_ARE_THE_TRAINERS: {
  readonly reductions: Same<
    Keys<typeof TRAINING_PARAMS.reductions>,
    Exclude<keyof ReductionsOptions, 'estimator' | 'seed'>
  >;
  readonly regularized: Same<
    Keys<typeof TRAINING_PARAMS.regularized>,
    Exclude<keyof RegularizedFairnessTrainerOptions, 'seed' | 'task' | 'network'>
  >;
  readonly lagrangian: Same<
    Keys<typeof TRAINING_PARAMS.lagrangian>,
    Exclude<keyof LagrangianFairnessTrainerOptions, 'seed' | 'task' | 'network'>
  >;
} = { reductions: true, regularized: true, lagrangian: true };

const TRAINERS: Readonly<Record<string, (params: object) => unknown>> = {
  reductions: (params) => new ReductionsWrapper(params),
  regularized: (params) => new RegularizedFairnessTrainer(params),
  lagrangian: (params) => new LagrangianFairnessTrainer(params),
};

/** Returns the names that a parameter may have. */
function namesIn(schema: z.ZodOptional<z.ZodEnum>): readonly (string | number)[] {
  return schema.unwrap().options;
}

/** Returns the parameters as a trainer receives them; undefined if the configuration is rejected. */
function decode(method: string, params: object): object | undefined {
  try {
    const training = { method, target_column: 'y', params };
    return parsePipelineConfig({ sensitive: 's', training }).training?.params;
  } catch {
    return undefined;
  }
}

describe('parameters of training methods', () => {
  const { reductions, regularized, lagrangian } = TRAINING_PARAMS;

  it('are named as the options of their trainers', () => {
    expect(Object.keys(KEYS_ARE_THE_TRAINERS)).to.deep.equal(TRAINING_METHODS);
  });

  for (const { title, schema, names } of [
    { title: 'constraint', schema: reductions.shape.constraint, names: REDUCTION_CONSTRAINTS },
    { title: 'loss', schema: reductions.shape.loss, names: GROUP_LOSSES },
    { title: 'randomization', schema: reductions.shape.randomization, names: RANDOMIZATIONS },
    { title: 'precision', schema: reductions.shape.precision, names: PRECISIONS },
    { title: 'penalty', schema: regularized.shape.penalty, names: FAIRNESS_PENALTIES },
    { title: 'fairness', schema: lagrangian.shape.fairness, names: FAIRNESS_CONSTRAINTS },
    { title: 'schedule', schema: regularized.shape.schedule, names: SCHEDULES },
    { title: 'backend', schema: lagrangian.shape.backend, names: ['auto', ...TENSOR_BACKENDS] },
  ]) {
    it(`${title} has the names that the trainer accepts`, () => {
      expect(namesIn(schema)).to.deep.equal([...names]);
    });
  }

  for (const [method, params] of [
    [
      'reductions',
      {
        constraint: 'equalized_odds',
        eps: 0.02,
        difference_bound: 0,
        bound: 'pairwise',
        T: 1,
        nu: 0,
        eta0: 0.1,
        randomization: 'row',
        precision: 'float64',
        costs: { false_positive: 0, false_negative: 1 },
        class_weight: { 1: 2 },
      },
    ],
    ['reductions', { ratio_bound: 1, ratio_bound_slack: 0, class_weight: 'balanced' }],
    ['reductions', { constraint: 'bounded_group_loss', loss: 'absolute', range: [-1, 2], upper_bound: 0 }],
    ['reductions', { class_weight: null, eps: 1e-12 }],
    [
      'regularized',
      {
        eta: 0,
        penalty: 'mmd',
        epochs: 1,
        lr: 0.1,
        batch_size: 1,
        hidden: [],
        patience: 1,
        weight_decay: 0,
        schedule: 'cosine',
        backend: 'wasm',
        pos_weight: 0.5,
      },
    ],
    [
      'lagrangian',
      {
        fairness: 'equal_opportunity',
        dp_tol: 0,
        eo_tol: 0.1,
        model_lr: 0.1,
        lambda_lr: 1,
        epochs: 2,
        batch_size: 8,
        hidden: [4, 4],
        patience: 1,
        weight_decay: 0.1,
        schedule: 'linear',
        backend: 'cpu',
        pos_weight: 2,
        temperature: 1,
        smoothing: 0,
        min_group_size: 1,
      },
    ],
  ] as const) {
    it(`${method} accepts ${Object.keys(params).join(', ')}, and so does its trainer`, () => {
      const decoded = decode(method, params);
      expect(decoded).to.have.all.keys(...Object.keys(params).map(toCamelCase));
      expect(() => TRAINERS[method]?.(decoded ?? {})).not.to.throw();
    });
  }

  for (const [method, params] of [
    ['reductions', { eps: 0 }],
    ['reductions', { difference_bound: -0.01 }],
    ['reductions', { ratio_bound: 0 }],
    ['reductions', { ratio_bound: 1.1 }],
    ['reductions', { upper_bound: -1, constraint: 'bounded_group_loss' }],
    ['reductions', { T: 0 }],
    ['reductions', { T: 1.5 }],
    ['reductions', { nu: -1 }],
    ['reductions', { eta0: 0 }],
    ['reductions', { costs: { false_positive: -1, false_negative: 1 } }],
    ['reductions', { class_weight: { 1: 0 } }],
    ['reductions', { class_weight: 'heavy' }],
    ['regularized', { eta: -1 }],
    ['regularized', { epochs: 0 }],
    ['regularized', { lr: 0 }],
    ['regularized', { batch_size: 1.5 }],
    ['regularized', { hidden: [0] }],
    ['regularized', { patience: 0 }],
    ['regularized', { weight_decay: -1 }],
    ['regularized', { pos_weight: 0 }],
    ['lagrangian', { dp_tol: -1 }],
    ['lagrangian', { eo_tol: -0.5 }],
    ['lagrangian', { model_lr: 0 }],
    ['lagrangian', { lambda_lr: 0 }],
    ['lagrangian', { temperature: 0 }],
    ['lagrangian', { smoothing: 1 }],
    ['lagrangian', { min_group_size: 0 }],
  ] as const) {
    it(`${method} rejects ${JSON.stringify(params)}, as its trainer does`, () => {
      expect(decode(method, params)).to.equal(undefined);
      const camel = Object.fromEntries(
        Object.entries(params).map(([name, value]) => [
          toCamelCase(name),
          name === 'costs' ? { falsePositive: -1, falseNegative: 1 } : value,
        ]),
      );
      expect(() => TRAINERS[method]?.(camel)).to.throw();
    });
  }
});

describe('letter cases', () => {
  it('of every parameter can be converted back', () => {
    const names = Object.values(TRAINING_PARAMS).flatMap(({ shape }) => Object.keys(shape));
    expect(names).to.include.members(['T', 'eta0', 'ratio_bound_slack']);
    expect(names.map((name) => toSnakeCase(toCamelCase(name)))).to.deep.equal(names);
  });

  for (const [snake, camel] of [
    ['max_weight', 'maxWeight'],
    ['T', 'T'],
    ['eta0', 'eta0'],
    ['dp_tol', 'dpTol'],
    ['min_group_size', 'minGroupSize'],
  ] as const) {
    it(`${snake} is ${camel}`, () => {
      expect([toCamelCase(snake), toSnakeCase(camel)]).to.deep.equal([camel, snake]);
    });
  }
});
