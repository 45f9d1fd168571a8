import { z } from 'zod';

import { backendName, batchSize, lagrangianFairness, optionalField, reductionConstraint } from '../fields.ts';
import { MIN_GROUP_SIZE_DEFAULT } from '../min-group-size.ts';

const count = z.int().min(1);
/**
 * An upper bound for numbers that affect run time or memory. A larger number is a mistake: a backend would fail or
 * never finish.
 */
const boundedCount = count.max(1_000_000);
const positive = z.number().gt(0);
const atLeastZero = z.number().min(0);

const reductions = z.strictObject({
  constraint: optionalField(
    reductionConstraint,
    'The rates that the constraint compares between groups. Default: demographic_parity.',
  ),
  eps: optionalField(
    z.number().min(1e-12),
    'The allowed violation. It limits the sum of the multipliers, and is the bound if no bound is given. Default: 0.01.',
  ),
  difference_bound: optionalField(
    atLeastZero,
    "The largest difference between a group's rate and the overall rate. Default: eps.",
  ),
  ratio_bound: optionalField(z.number().gt(0).max(1), 'A bound on ratios of rates, instead of a bound on differences.'),
  ratio_bound_slack: optionalField(atLeastZero, 'The slack of a ratio bound. Default: 0.'),
  upper_bound: optionalField(atLeastZero, 'For bounded_group_loss: the largest mean loss of a group. Default: eps.'),
  bound: optionalField(
    z.enum(['overall', 'pairwise']),
    'overall: compares each group with all rows, so two groups may differ by twice the bound. pairwise: no two groups differ by more than the bound. Default: overall.',
  ),
  loss: optionalField(z.enum(['square', 'absolute', 'zero_one']), 'For bounded_group_loss: the loss. Default: square.'),
  range: optionalField(
    z.tuple([z.number(), z.number()]),
    'For bounded_group_loss: the range to which targets and predictions are clipped. Default: [0, 1].',
  ),
  costs: optionalField(
    z.strictObject({ false_positive: atLeastZero.max(1e100), false_negative: atLeastZero.max(1e100) }),
    'The costs of wrong decisions. Default: 1 for both.',
  ),
  class_weight: optionalField(
    z.union([z.literal('balanced'), z.strictObject({ 0: positive.optional(), 1: positive.optional() }), z.null()]),
    'Factors for the costs of errors, by the true class. With balanced, both classes count equally.',
  ),
  T: optionalField(boundedCount, 'The maximum number of iterations. Default: 50.'),
  nu: optionalField(
    atLeastZero,
    'The duality gap at which the search stops. Default: from the sampling noise of the error.',
  ),
  eta0: optionalField(positive, 'The first learning rate of the multipliers. Default: 2.'),
  randomization: optionalField(
    z.enum(['draw', 'row']),
    'draw: a random draw for each row of a call; row: a draw fixed by the features of the row. Default: draw.',
  ),
  precision: optionalField(
    z.enum(['float32', 'float64']),
    'float64: computes on the host; float32: computes on tensors. Default: the faster of both.',
  ),
});

const networkParams = {
  batch_size: optionalField(
    batchSize,
    'Rows per step; auto: chosen from the number of rows and the device. Default: 128.',
  ),
  hidden: optionalField(
    z.array(count.max(4096)).max(16),
    'Units of each hidden layer; [] makes the model linear. Default: [32].',
  ),
  weight_decay: optionalField(atLeastZero, 'Decoupled weight decay. Default: 0.'),
  schedule: optionalField(
    z.enum(['constant', 'linear', 'cosine']),
    'The schedule of the learning rate over the epochs. Default: constant.',
  ),
  backend: optionalField(backendName, 'The tensor backend. Default: auto.'),
  pos_weight: optionalField(positive, 'A factor on the loss of rows with a positive label. Default: 1.'),
};

const regularized = z.strictObject({
  eta: optionalField(atLeastZero, 'The weight of the penalty relative to the error. Default: 0.5.'),
  penalty: optionalField(
    z.enum(['covariance', 'mean_gap', 'equalized_odds', 'mmd', 'correlation', 'adversarial']),
    'The fairness penalty. Default: covariance.',
  ),
  epochs: optionalField(boundedCount, 'Passes over the rows. Default: 20.'),
  lr: optionalField(positive, "Adam's learning rate. Default: 0.001."),
  patience: optionalField(count, 'Stops after this many epochs without a better validation loss. Default: 5.'),
  ...networkParams,
});

const lagrangian = z.strictObject({
  fairness: optionalField(lagrangianFairness, 'The fairness constraint. Default: demographic_parity.'),
  dp_tol: optionalField(atLeastZero, 'For demographic_parity: the largest gap of selection rates. Default: 0.02.'),
  eo_tol: optionalField(
    atLeastZero,
    'For the other constraints: the largest gap of true (and false) positive rates. Default: 0.02.',
  ),
  model_lr: optionalField(positive, "Adam's learning rate for the network. Default: 0.001."),
  lambda_lr: optionalField(positive, 'The change of a multiplier per unit of violation. Default: 0.01.'),
  epochs: optionalField(boundedCount, 'Passes over the rows. Default: 50.'),
  patience: optionalField(count, 'Stops after this many epochs without a better validation loss. Default: 10.'),
  temperature: optionalField(positive, 'The divisor of logits before rates are computed. Default: 0.1.'),
  smoothing: optionalField(atLeastZero.lt(1), 'The weight of earlier batches in the running rates. Default: 0.9.'),
  min_group_size: optionalField(
    count,
    `The minimum number of rows of a group. Smaller groups are not constrained. ${MIN_GROUP_SIZE_DEFAULT}`,
  ),
  ...networkParams,
});

/**
 * The parameters of each training method in a configuration. The parameters are the options of `ReductionsWrapper`,
 * `RegularizedFairnessTrainer` and `LagrangianFairnessTrainer`, except the options that a workflow sets (estimator,
 * task, seed). The trainers fill in the defaults.
 */
export const TRAINING_PARAMS = { reductions, regularized, lagrangian } as const;

/** The name of a training method of workflows. */
export type TrainingMethod = keyof typeof TRAINING_PARAMS;

/** The names of all training methods. */
export const TRAINING_METHODS = Object.keys(TRAINING_PARAMS) as readonly TrainingMethod[];
