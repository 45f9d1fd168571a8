export { reduceClassificationTensors } from './tensors/classification-tensors.ts';
export { reduceRegressionTensors } from './tensors/regression-tensors.ts';
export { reduceScoreTensors } from './tensors/score-tensors.ts';
