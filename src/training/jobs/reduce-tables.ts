import { type BackendChoice, loadTensorflow, type TensorBackend } from '../../tensor/index.ts';
import { encodedMatrix, type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import type { TrainingRows, TrainingSource } from '../data/training-data.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { THRESHOLD } from '../reductions/oracle.ts';
import type { ReductionsOptions } from '../reductions/reductions-options.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { fitJob, type JobDecisions, prepareJob } from './fit-job.ts';
import type { FilledJobOptions } from './job-options.ts';
import { type DescribedRows, describeRows, type JudgedModels } from './job-result.ts';

/** The models of `trainReductions`, before they are fitted. */
export interface ReductionModels {
  /** The model without the constraint. */
  readonly estimator: Estimator;
  /** The options of the constrained model. */
  readonly options: ReductionsOptions;
  readonly backend: BackendChoice | undefined;
  /** Returns warnings about the fitted model without the constraint. */
  readonly notesOf: (baseline: Estimator) => readonly string[];
}

/** The fitted models of `trainReductions`, with their quality. */
export interface FittedReduction {
  readonly wrapper: ReductionsWrapper;
  readonly specs: readonly FeatureSpec[];
  readonly judged: JudgedModels;
  readonly described: DescribedRows;
  readonly backend: TensorBackend;
  readonly warnings: readonly string[];
}

/** Fits and evaluates the models of `trainReductions` on tables. */
export async function reduceTables(
  source: TrainingSource,
  { estimator, options: given, backend: asked, notesOf }: ReductionModels,
  options: FilledJobOptions,
): Promise<FittedReduction> {
  const { signal } = options;
  const wrapper = new ReductionsWrapper(given);
  const rows = await prepareJob(source, options);
  const { backend } = await loadTensorflow({ backend: asked });
  const { kept, judged, warnings } = await fitJob(rows, options, async (train, onProgress) => {
    const { specs, warnings: notes } = fitFeatures(train.table, rows.training.features);
    const x = encodedMatrix(train.table, specs);
    const baseline = await estimator.clone().fit(x, train.y, { signal });
    await wrapper.fit(x, train.y, { sensitive: train.groups, signal, onProgress });
    // The search may end before the maximum number of iterations, so completion is reported here.
    onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
    return {
      specs,
      warnings: [...notes, ...notesOf(baseline), ...wrapper.result.warnings],
      decide: async ({ table }: TrainingRows): Promise<JobDecisions> => {
        const matrix = encodedMatrix(table, specs);
        return {
          baseline: await baseline.predict(matrix, { threshold: THRESHOLD }),
          final: await wrapper.predictProba(matrix),
        };
      },
    };
  });
  return {
    wrapper,
    specs: kept.specs,
    judged,
    described: describeRows(rows),
    backend,
    warnings: [...warnings, ...rows.warnings],
  };
}
