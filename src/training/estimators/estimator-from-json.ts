import { DataValidationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { ConstantClassifier } from './constant-classifier.ts';
import type { Estimator } from './estimator.ts';
import { LinearRegression } from './linear-regression.ts';
import { LogisticRegression } from './logistic-regression.ts';
import { MlLogisticRegression } from './ml-logistic-regression.ts';

/** For each kind of estimator, the function that reads its JSON. */
const READERS: Readonly<Record<string, (json: unknown) => Estimator>> = {
  constant_classifier: (json) => ConstantClassifier.fromJSON(json),
  linear_regression: (json) => LinearRegression.fromJSON(json),
  logistic_regression: (json) => LogisticRegression.fromJSON(json),
  ml_logistic_regression: (json) => MlLogisticRegression.fromJSON(json),
};

/**
 * Restores an estimator of any kind from the output of its `toJSON`. The `kind` field selects the class. Models wrapped
 * by `adaptEstimator` are not supported: read them with their own library, and adapt them again.
 * @param json plain data, as returned by `JSON.parse`
 * @throws {DataValidationError} if the kind is unknown, or if fields are missing or have the wrong type
 * @example
 * ```ts
 * import { estimatorFromJson, LinearRegression } from 'evenhand/training';
 *
 * const model = await new LinearRegression().fit([[0], [1]], [0, 2]);
 * const copy = estimatorFromJson(JSON.parse(JSON.stringify(model)));
 * console.log([...(await copy.predict([[2]]))]);
 * // [ 4 ]
 * ```
 */
export function estimatorFromJson(json: unknown): Estimator {
  const kind =
    typeof json === 'object' && json !== null && 'kind' in json && typeof json.kind === 'string' ? json.kind : '';
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined;
  if (read !== undefined) return read(json);
  throw new DataValidationError(
    `The kind of an estimator must be one of ${Object.keys(READERS).join(', ')}. Got '${kind}' instead.`,
    { code: 'invalid-value', context: { kind }, suggestion: suggestNames(kind, Object.keys(READERS), 'kinds') },
  );
}
