import type { OnProgress } from '../../internal/progress.ts';
import { joinRows } from '../data/row-splits.ts';
import type { TrainingRows } from '../data/training-data.ts';
import { type DecisionQuality, judgeDecisions } from '../decision-quality.ts';
import type { FilledJobOptions } from './job-options.ts';
import type { JobRows } from './job-rows.ts';
import type { JudgedModels } from './job-result.ts';

/** Each model's probability of the decision 1, for each row. */
export interface JobDecisions {
  readonly baseline: ArrayLike<number>;
  readonly final: ArrayLike<number>;
}

/** Both models of a job, fitted on the same rows. */
export interface JobFit {
  readonly warnings: readonly string[];
  decide(rows: TrainingRows): Promise<JobDecisions>;
}

/** Fits both models of a job. */
type FitModels<Fit extends JobFit> = (train: TrainingRows, onProgress: OnProgress | undefined) => Promise<Fit>;

/**
 * Fits and evaluates the models of a job on held-out rows. With folds, it fits once per fold and evaluates all held-out
 * rows together. It then fits the returned models on all rows.
 */
export async function fitJob<Fit extends JobFit>(
  { splits, complete }: JobRows,
  options: FilledJobOptions,
  fit: FitModels<Fit>,
): Promise<{ readonly kept: Fit; readonly judged: JudgedModels; readonly warnings: readonly string[] }> {
  const parts = splits.length + Number(complete !== undefined);
  const heldOut: JobDecisions[] = [];
  const warnings = new Set<string>();
  let kept: Fit | undefined;
  for (const [index, { train, test }] of splits.entries()) {
    kept = await fit(train, partOf(options.onProgress, index, parts));
    heldOut.push(await kept.decide(test));
    for (const warning of kept.warnings) warnings.add(warning);
  }
  if (complete !== undefined) {
    kept = await fit(complete, partOf(options.onProgress, parts - 1, parts));
    for (const warning of kept.warnings) warnings.add(warning);
  }
  const fitted = complete ?? splits[0]?.train;
  if (kept === undefined || fitted === undefined) throw new TypeError('a job has a split');
  const join = (model: keyof JobDecisions): Float64Array =>
    Float64Array.from(heldOut.flatMap((decisions) => Array.from(decisions[model])));
  const test = joinRows(splits.map((split) => split.test));
  const own = await kept.decide(fitted);
  const judge = (probabilities: ArrayLike<number>, rows: Pick<TrainingRows, 'y' | 'groups'>): DecisionQuality =>
    judgeDecisions(probabilities, rows.y, rows.groups, options);
  return {
    kept,
    judged: {
      baseline: judge(join('baseline'), test),
      final: judge(join('final'), test),
      train: Object.freeze({ baseline: judge(own.baseline, fitted), final: judge(own.final, fitted) }),
    },
    warnings: [...warnings],
  };
}

/** Returns a callback that maps the progress of one of several equal parts to the progress of the job. */
export function partOf(
  onProgress: OnProgress | undefined,
  part: number,
  parts: number,
  stage?: string,
): OnProgress | undefined {
  if (onProgress === undefined) return undefined;
  return ({ stage: own, done, total }) => {
    onProgress({ stage: stage ?? own, done: part * total + done, total: parts * total });
  };
}
