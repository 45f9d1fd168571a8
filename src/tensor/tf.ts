import type * as tensorflow from '@tensorflow/tfjs';

/** TensorFlow.js, whichever package of it was loaded. */
export type Tf = typeof tensorflow;
