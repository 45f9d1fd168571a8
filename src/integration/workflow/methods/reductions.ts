import { LinearRegression } from '../../../training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../training/estimators/logistic-regression.ts';
import type { ReductionsOptions } from '../../../training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../training/reductions/reductions-wrapper.ts';
import type { ModelOutputs } from '../measure-predictions.ts';
import type { EncodedRows, MethodSettings, TrainedModel, TrainingMethodDefinition } from './training-method.ts';

/** A mixture of linear models by the exponentiated gradient reduction. */
export const REDUCTIONS: TrainingMethodDefinition = {
  async train({ x, y, specs, groups, sampleWeight }, settings) {
    const { signal, onProgress, task } = settings;
    const wrapper = new ReductionsWrapper(optionsOf(settings));
    await wrapper.fit(x, y, { sensitive: groups, sampleWeight, signal, onProgress });
    // The search may end before its last iteration.
    onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
    const trained: TrainedModel = {
      model: wrapper,
      features: specs,
      predict: (rows, threshold) => predict(wrapper, rows, threshold, task),
      candidates: async (rows) => (task === 'binary' ? candidates(wrapper, rows) : []),
      warnings: wrapper.warnings,
    };
    return trained;
  },
};

function optionsOf({ params, task, classWeight, seed }: MethodSettings): ReductionsOptions {
  const given: ReductionsOptions = { ...params, seed };
  // On the host: one fit follows another on the same rows, and neither backend nor upload should matter.
  if (task === 'regression') {
    return {
      constraint: 'bounded_group_loss',
      loss: 'square',
      ...given,
      estimator: new LinearRegression({ precision: 'float64' }),
    };
  }
  // Its class weight becomes costs of errors, by the true labels; one among the method's parameters comes first.
  const isLossBound = given.constraint === 'bounded_group_loss';
  const isWeighed = !isLossBound && given.classWeight === undefined;
  const estimator = new LogisticRegression({ precision: 'float64', classWeight: isWeighed ? classWeight : null });
  return { ...(isLossBound ? { loss: 'zero_one' as const } : {}), ...given, estimator };
}

async function predict(
  wrapper: ReductionsWrapper,
  { x }: EncodedRows,
  threshold: number | null,
  task: MethodSettings['task'],
): Promise<ModelOutputs> {
  if (task === 'regression') return { decisions: await wrapper.predictMean(x), scores: null };
  const scores = await wrapper.predictProba(x);
  const decisions =
    threshold === null
      ? Uint8Array.from(await wrapper.predict(x))
      : Uint8Array.from(scores, (score) => Number(score >= threshold));
  return { decisions, scores };
}

async function candidates(wrapper: ReductionsWrapper, { x }: EncodedRows): Promise<Uint8Array[]> {
  const drawn = wrapper.predictors.filter((_, index) => (wrapper.weights[index] as number) > 0);
  return Promise.all(drawn.map(async (predictor) => Uint8Array.from(await predictor.predict(x, { threshold: 0.5 }))));
}
