import { COUNT_CASES } from './cases/counts.ts';
import { LAYER_CASES } from './cases/layers.ts';
import { LOSS_CASES } from './cases/losses.ts';
import { SUM_CASES } from './cases/sums.ts';
import type { NumericsCase } from './numerics-case.ts';

/** What every tensor op is asked: our own, and those of TensorFlow.js that they and the networks lean on. */
export const NUMERICS_CASES: readonly NumericsCase[] = [...COUNT_CASES, ...SUM_CASES, ...LAYER_CASES, ...LOSS_CASES];
