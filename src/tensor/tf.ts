import type * as tensorflow from '@tensorflow/tfjs';

/** TensorFlow.js, from any of its packages. */
export type Tf = typeof tensorflow;
