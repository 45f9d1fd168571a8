import { adaptEstimator } from '../../../src/training/estimators/adapt-estimator.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { estimatorFromJson } from '../../../src/training/estimators/estimator-from-json.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../../../src/training/estimators/ml-logistic-regression.ts';
import { describeEstimator } from '../../conformance/estimator.ts';
import { NearestMean } from './nearest-mean.ts';

const fromJson = estimatorFromJson;

describeEstimator({
  title: 'LogisticRegression in float64',
  create: () => new LogisticRegression({ precision: 'float64' }),
  fromJson,
  tolerance: 1e-9,
});
for (const backend of ['cpu', 'wasm'] as const) {
  describeEstimator({
    title: `LogisticRegression in float32 on ${backend}`,
    create: () => new LogisticRegression({ backend }),
    fromJson,
    tolerance: 1e-5,
  });
}
describeEstimator({
  title: 'LogisticRegression without a penalty, balanced',
  create: () => new LogisticRegression({ l2: 0, classWeight: 'balanced', precision: 'float64' }),
  fromJson,
  tolerance: 1e-9,
});
describeEstimator({
  title: 'LinearRegression',
  create: () => new LinearRegression(),
  fromJson,
  task: 'regression',
  tolerance: 1e-9,
});
describeEstimator({
  title: 'LinearRegression in float32',
  create: () => new LinearRegression({ l2: 0.5, precision: 'float32', backend: 'wasm' }),
  fromJson,
  task: 'regression',
  tolerance: 1e-5,
});
describeEstimator({
  title: 'MlLogisticRegression',
  create: () => new MlLogisticRegression({ numSteps: 200 }),
  fromJson,
  tolerance: 1e-9,
});
describeEstimator({
  title: 'ConstantClassifier',
  create: () => new ConstantClassifier(0.7),
  fromJson,
  learns: false,
  tolerance: 0,
});
describeEstimator({
  title: 'a model adapted by a function',
  create: () => adaptEstimator(() => new NearestMean()),
  tolerance: 1e-9,
});
describeEstimator({
  title: 'a model adapted as an object',
  create: () => adaptEstimator(new NearestMean(), { features: 'rows' }),
  tolerance: 1e-9,
});
