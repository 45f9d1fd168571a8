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
  /** The columns that the features need. */
  readonly table: Table;
  /** The same, encoded. */
  readonly x: Matrix;
}

/** What a method learns from. */
export interface MethodRows extends EncodedRows {
  /** How columns become inputs; learned before, and only applied here. */
  readonly specs: readonly FeatureSpec[];
  /** 0 or 1, or numbers: [rows]. */
  readonly y: Uint8Array | Float64Array;
  readonly groups: CategoricalColumn;
  /** Weights that the pipeline gave, mean 1; undefined where it gave none. */
  readonly sampleWeight: Float64Array | undefined;
}

/** How a method learns. */
export interface MethodSettings {
  /** The method's constructor options, from the configuration. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly task: 'binary' | 'regression';
  readonly classWeight: ClassWeight;
  /** The probability that decides; null where the model's own `predict` does. */
  readonly decisionThreshold: number | null;
  readonly seed: number;
  readonly backend: BackendChoice | undefined;
  readonly onProgress: OnProgress | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A model that a method trained. */
export interface TrainedModel {
  readonly model: SavableModel;
  /** How its inputs are made from columns, where the model itself does not know. */
  readonly features: readonly FeatureSpec[] | undefined;
  /** Predictions; decisions by a threshold on scores, or by the model's own `predict` where it is null. */
  predict(rows: EncodedRows, threshold: number | null): Promise<ModelOutputs>;
  /** Decisions of the predictors that a mixture draws from; none for other models. */
  candidates(rows: EncodedRows): Promise<readonly Uint8Array[]>;
  readonly warnings: readonly string[];
}

/** A way to train under a fairness constraint. Adding one takes a file, its line in the registry, and its schema. */
export interface TrainingMethodDefinition {
  train(rows: MethodRows, settings: MethodSettings): Promise<TrainedModel>;
}
