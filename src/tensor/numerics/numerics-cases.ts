import { ARRANGING_CASES } from './cases/arranging.ts';
import { COUNT_CASES } from './cases/counts.ts';
import { ELEMENTWISE_CASES } from './cases/elementwise.ts';
import { GRADIENT_CASES } from './cases/gradients.ts';
import { LAYER_CASES } from './cases/layers.ts';
import { LOSS_CASES } from './cases/losses.ts';
import { MISSING_CASES } from './cases/missing.ts';
import { PRODUCT_CASES } from './cases/products.ts';
import { REDUCTION_CASES } from './cases/reductions.ts';
import { SUM_CASES } from './cases/sums.ts';
import { TRAINING_CASES } from './cases/training.ts';
import type { NumericsCase } from './numerics-case.ts';

/** All cases for tensor ops: our own ops, and the TensorFlow.js ops used by our ops and by the networks. */
export const NUMERICS_CASES: readonly NumericsCase[] = [
  ...COUNT_CASES,
  ...SUM_CASES,
  ...LAYER_CASES,
  ...LOSS_CASES,
  ...PRODUCT_CASES,
  ...ELEMENTWISE_CASES,
  ...REDUCTION_CASES,
  ...ARRANGING_CASES,
  ...MISSING_CASES,
  ...GRADIENT_CASES,
  ...TRAINING_CASES,
];
