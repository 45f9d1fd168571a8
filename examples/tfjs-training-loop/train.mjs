// Your own training loop in TensorFlow.js, once without and once with a fairness penalty: node train.mjs
import * as tf from '@tensorflow/tfjs';
import { sampleData } from 'evenhand';
import { demographicParityDifference } from 'evenhand/metrics';
import { FairnessRegularizerLoss } from 'evenhand/training';

const table = sampleData('cps-wages');
const numbers = (name) => table.numeric(name).values;
const gender = table.categorical('gender');
const labels = numbers('wage_above_median');

const occupation = table.categorical('occupation');
const features = tf.tidy(() => {
  const columns = ['education', 'experience', 'union'].map((name) => tf.tensor1d(Float32Array.from(numbers(name))));
  const { mean, variance } = tf.moments(tf.stack(columns, 1), 0);
  const oneHot = tf.oneHot(tf.tensor1d(Int32Array.from(occupation.codes), 'int32'), occupation.labels.length);
  return tf.concat([tf.stack(columns, 1).sub(mean).div(variance.sqrt()), oneHot], 1);
});
const targets = tf.tensor1d(Float32Array.from(labels));
const groups = tf.oneHot(tf.tensor1d(Int32Array.from(gender.codes), 'int32'), gender.labels.length);

for (const eta of [0, 20]) {
  const weights = tf.variable(tf.zeros([features.shape[1], 1]));
  const bias = tf.variable(tf.scalar(0));
  const logits = () => features.matMul(weights).add(bias).squeeze([1]);

  const loss = new FairnessRegularizerLoss({ eta, penalty: 'mean_gap' });
  const optimizer = tf.train.adam(0.05);
  for (let step = 0; step < 200; step++) optimizer.minimize(() => loss.compute(logits(), targets, groups));

  const decisions = tf.tidy(() => logits().greater(0)).dataSync();
  const correct = decisions.reduce((sum, decision, row) => sum + Number(decision === labels[row]), 0);
  const gap = demographicParityDifference(decisions, gender);
  const [low, high] = gap.ci.map((end) => end.toFixed(2));
  console.log(
    `eta ${eta}: accuracy ${(correct / labels.length).toFixed(2)}, gap ${gap.value.toFixed(2)} (95% interval ${low} to ${high})`,
  );
}
