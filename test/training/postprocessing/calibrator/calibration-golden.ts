import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../../helpers/project-files.ts';

/** Rows with weights, in the format of the golden file. */
interface GoldenRows {
  readonly scores: readonly number[];
  readonly labels: readonly number[];
  readonly weights: readonly number[];
}

/** Reference values of scikit-learn and SciPy; `scripts/golden/calibration.py` creates the file. */
interface CalibrationGolden {
  readonly isotonic: readonly (GoldenRows & {
    readonly name: string;
    readonly queries: readonly number[];
    readonly expected: readonly number[];
  })[];
  readonly sigmoid: readonly (GoldenRows & {
    readonly name: string;
    readonly input: 'logit' | 'score';
    readonly sklearn: { readonly slope: number; readonly intercept: number };
    readonly scipy: { readonly slope: number; readonly intercept: number };
  })[];
  readonly temperature: readonly (GoldenRows & { readonly name: string; readonly temperature: number })[];
  readonly curve: {
    readonly scores: readonly number[];
    readonly labels: readonly number[];
    readonly mean_scores: readonly number[];
    readonly positive_rates: readonly number[];
  };
  readonly losses: GoldenRows & { readonly brier_score: number; readonly log_loss: number };
}

export const golden = JSON.parse(
  readFileSync(path.join(projectRoot, 'test/golden/calibration.json'), 'utf8'),
) as CalibrationGolden;
