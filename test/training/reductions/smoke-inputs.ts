import type { MisclassificationCosts } from '../../../src/training/reductions/constraint-options.ts';
import type { ReductionConstraint } from '../../../src/training/reductions/constraint-names.ts';
import { readVectors } from '../../helpers/reference.ts';

/** Maps fairlearn's names of constraints to ours. */
const NAMES: Readonly<Record<string, ReductionConstraint>> = {
  DemographicParity: 'demographic_parity',
  EqualizedOdds: 'equalized_odds',
  ErrorRateParity: 'error_rate_parity',
  TruePositiveRateParity: 'true_positive_rate_parity',
  FalsePositiveRateParity: 'false_positive_rate_parity',
};

export function ourName(moment: string): ReductionConstraint {
  const name = NAMES[moment];
  if (name === undefined) throw new Error(`no constraint for ${moment}`);
  return name;
}

/** Converts a name such as "+|all|A" to our "all/A/+". */
export function ourMultiplier(location: string): string {
  const [sign = '', event = '', group = ''] = location.split('|');
  return `${event}/${group}/${sign}`;
}

interface SmokeCase {
  readonly eps: number;
  readonly best_gap: number;
  readonly last_iter: number;
  readonly best_iter: number;
  readonly n_oracle_calls: number;
  readonly n_oracle_calls_dummy_returned: number;
  readonly n_predictors: number;
}

export interface ClassificationCase extends SmokeCase {
  readonly constraint: string;
  readonly disp: number;
  readonly error: number;
  readonly flipped_labels: boolean;
  readonly objective_costs?: { readonly fp: number; readonly fn: number };
  readonly computed: {
    readonly weights: number[];
    readonly nu: number;
    readonly predict_prob: number[];
    readonly predictor_coefs: number[][];
    readonly best_gap: number;
  };
}

interface RegressionCase extends SmokeCase {
  readonly upper_bound: number;
  readonly max_iter?: number;
  readonly nu?: number;
  readonly disp: number[];
  readonly error: number[];
  readonly weights: number[];
  readonly loss: { readonly type: string };
}

interface SmokeFile {
  readonly inputs: {
    readonly X1: number[];
    readonly X2: number[];
    readonly X3: number[];
    readonly labels: number[];
    readonly sensitive: string[];
    readonly regression_targets: number[];
  };
  readonly classification: ClassificationCase[];
  readonly regression: RegressionCase[];
  readonly tolerance: number;
}

/** Twenty rows with three features, and their groups A, B and C. */
export interface SmokeRows {
  readonly x: readonly number[][];
  readonly labels: readonly number[];
  readonly sensitive: readonly string[];
  readonly regressionTargets: readonly number[];
}

/** Reads the inputs and the cases of fairlearn's smoke test. */
export function readSmoke(): { rows: SmokeRows } & Pick<SmokeFile, 'classification' | 'regression' | 'tolerance'> {
  const { inputs, ...file } = readVectors('fairlearn_expgrad_smoke.json') as SmokeFile;
  return {
    ...file,
    rows: {
      x: inputs.X1.map((value, row) => [value, inputs.X2[row] ?? NaN, inputs.X3[row] ?? NaN]),
      labels: inputs.labels,
      sensitive: inputs.sensitive,
      regressionTargets: inputs.regression_targets,
    },
  };
}

export function costsOf({ objective_costs: costs }: ClassificationCase): MisclassificationCosts | undefined {
  return costs === undefined ? undefined : { falsePositive: costs.fp, falseNegative: costs.fn };
}
