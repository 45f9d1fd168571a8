import * as tf from '@tensorflow/tfjs';
import { loadTensorflow } from './src/tensor/index.ts';
import { reduceScoreTensors, reduceRegressionTensors, reduceClassificationTensors } from './src/metrics/reduce-tensors.ts';
import { reduceScores } from './src/metrics/reduce-scores.ts';
import { reduceRegression } from './src/metrics/reduce-regression.ts';
const time = async (n: string, w: () => Promise<unknown> | unknown) => { const t = performance.now(); await w(); console.log(n, (performance.now() - t).toFixed(0)); };
for (const backend of ['cpu', 'wasm'] as const) {
  await loadTensorflow({ backend });
  const f = (n: number) => Float32Array.from({ length: n }, () => Math.random());
  const yScore = tf.tensor1d(f(20000)), yTrue = tf.tensor1d(f(20000).map((x) => +(x > .5))), sensitive = tf.tensor1d(Int32Array.from({ length: 20000 }, (_, i) => i % 2000), 'int32');
  await time(backend + ' scores 2000 groups', () => reduceScoreTensors({ yScore, yTrue, sensitive }));
  const n = 1_000_000, s = f(n), y = f(n).map((x) => +(x > .5)), g = Float32Array.from({ length: n }, (_, i) => i % 4), w = f(n);
  const [S, Y, G, W] = [s, y, g, w].map((v) => tf.tensor1d(v)) as tf.Tensor1D[];
  for (let k = 0; k < 2; k++) {
  await time(backend + ' cls 1M', () => reduceClassificationTensors({ yPred: Y!, yTrue: Y!, sensitive: G! }));
  await time(backend + ' cls w 1M', () => reduceClassificationTensors({ yPred: Y!, yTrue: Y!, sensitive: G!, sampleWeight: W! }));
  await time(backend + ' scores 1M', () => reduceScoreTensors({ yScore: S!, yTrue: Y!, sensitive: G! }));
  await time(backend + ' scores w 1M', () => reduceScoreTensors({ yScore: S!, yTrue: Y!, sensitive: G!, sampleWeight: W! }));
  await time(backend + ' reg 1M', () => reduceRegressionTensors({ yPred: S!, yTrue: Y!, sensitive: G! }));
  }
  await time('host scores 1M', () => reduceScores({ yScore: s, yTrue: y, sensitive: g }));
  await time('host reg 1M', () => reduceRegression({ yPred: s, yTrue: y, sensitive: g }));
}
