import type { ThresholdQuality } from '../../../src/training/pareto/held-out-scores.ts';
import type { Problem } from './protocol.ts';

/** The settings of a sweep. */
export interface SweepSettings {
  readonly target: string;
  readonly positiveLabel?: string | undefined;
  readonly sensitive: string;
  readonly features: readonly string[];
  readonly etas: readonly number[];
  readonly epochs: number;
  readonly seed: number;
  readonly backend: 'wasm' | 'webgpu';
  readonly decimal?: ',' | undefined;
}

/** A point of the trade-off: one network. */
export interface SweepPoint {
  readonly eta: number;
  readonly accuracy: number;
  readonly accuracy_ci: readonly [number, number];
  readonly dp_diff: number;
  readonly dp_diff_ci: readonly [number, number] | null;
  readonly eo_diff: number;
  readonly loss: number;
  readonly dominated: boolean;
}

/** The result of a sweep: the JSON of `evenhand train-regularized`. */
export interface SweepResult {
  readonly points: readonly SweepPoint[];
  readonly hypervolume: number;
  readonly n_train: number;
  readonly n_test: number;
  readonly positive_label: string | null;
  readonly warnings: readonly string[];
}

/** A request: to train, or to measure the decisions of a trained network at a threshold. */
export type TrainRequest =
  | { readonly kind: 'train'; readonly file: File; readonly settings: SweepSettings }
  | { readonly kind: 'judge'; readonly network: number; readonly threshold: number };

/** A finished sweep. */
export interface TrainedSweep {
  readonly result: SweepResult;
  readonly command: string;
}

/** A message of the worker that trains. */
export type TrainAnswer =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  | { readonly kind: 'trained'; readonly value: TrainedSweep }
  | { readonly kind: 'judged'; readonly value: ThresholdQuality }
  | { readonly kind: 'problem'; readonly problem: Problem };
