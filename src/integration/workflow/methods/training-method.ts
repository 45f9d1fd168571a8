import type { OnProgress } from '../../../internal/progress.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import type { BackendChoice } from '../../../tensor/index.ts';
import type { FeatureSpec } from '../../../training/data/feature-encoder.ts';
import type { Matrix } from '../../../training/data/read-matrix.ts';
import type { ClassWeight } from '../../../training/estimators/class-weight.ts';
import type { SavableModel } from '../../../training/models/describe-model.ts';
import type { ModelOutputs } from '../measure-predictions.ts';

/** Rows ready for a model. */
export interface EncodedRows {
  /** The columns of the features. */
  readonly table: Table;
  /** The same columns, encoded. */
  readonly x: Matrix;
}

/** The training rows of a method. */
export interface MethodRows extends EncodedRows {
  /** The encoding of columns, which was learned before and is only applied here. */
  readonly specs: readonly FeatureSpec[];
  /** 0 or 1, or numbers: [rows]. */
  readonly y: Uint8Array | Float64Array;
  readonly groups: CategoricalColumn;
  /** Weights from the pipeline, with mean 1; undefined if it gives none. */
  readonly sampleWeight: Float64Array | undefined;
}

/** Settings of a training method. */
export interface MethodSettings {
  /** The method's constructor options, from the configuration. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly task: 'binary' | 'regression';
  readonly classWeight: ClassWeight;
  /** The decision threshold on the probability; null if the model's own `predict` decides. */
  readonly decisionThreshold: number | null;
  readonly seed: number;
  readonly backend: BackendChoice | undefined;
  readonly onProgress: OnProgress | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A model that a method trained. */
export interface TrainedModel {
  readonly model: SavableModel;
  /** The encoding of columns; undefined if the model has it. */
  readonly features: readonly FeatureSpec[] | undefined;
  /** Predicts; decisions come from a threshold on scores, or from the model's own `predict` if it is null. */
  predict(rows: EncodedRows, threshold: number | null): Promise<ModelOutputs>;
  /** Returns the decisions of the predictors of a mixture; an empty list for other models. */
  candidates(rows: EncodedRows): Promise<readonly Uint8Array[]>;
  readonly warnings: readonly string[];
}

/** A training method with a fairness constraint. A new method needs a file, an entry in the registry, and a schema. */
export interface TrainingMethodDefinition {
  train(rows: MethodRows, settings: MethodSettings): Promise<TrainedModel>;
}
