import { decide } from '../../../training/estimators/estimator-rows.ts';
import { LinearRegression } from '../../../training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../training/estimators/logistic-regression.ts';
import type { LossRange } from '../../../training/reductions/constraint-names.ts';
import { type ReductionsOptions, unmetWarnings } from '../../../training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../training/reductions/reductions-wrapper.ts';
import type { ModelOutputs } from '../measure-predictions.ts';
import type {
  EncodedRows,
  MethodRows,
  MethodSettings,
  TrainedModel,
  TrainingMethodDefinition,
} from './training-method.ts';

/** Trains a mixture of linear models by the exponentiated gradient reduction. */
export const REDUCTIONS: TrainingMethodDefinition = {
  async train({ x, y, specs, groups, sampleWeight }, settings) {
    const { signal, onProgress, task } = settings;
    const options = optionsOf(settings, y);
    const wrapper = new ReductionsWrapper(options);
    await wrapper.fit(x, y, { sensitive: groups, sampleWeight, signal, onProgress });
    // The search may end before its last iteration.
    onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
    const trained: TrainedModel = {
      model: wrapper,
      features: specs,
      predict: (rows, threshold) => predict(wrapper, rows, threshold, task),
      candidates: async (rows) => (task === 'binary' ? candidates(wrapper, rows) : []),
      warnings: [
        ...wrapper.warnings,
        ...rangeWarning(options, y),
        ...thresholdWarning(settings),
        ...unmetWarnings(wrapper.result, options),
      ],
    };
    return trained;
  },
};

function optionsOf({ params, task, classWeight, seed }: MethodSettings, y: MethodRows['y']): ReductionsOptions {
  const given: ReductionsOptions = { ...params, seed };
  // On the host: the fits reuse the same rows, so the result depends on no backend and nothing is uploaded.
  if (task === 'regression') {
    return {
      constraint: 'bounded_group_loss',
      loss: 'square',
      // Predictions are clipped to this range.
      range: extentOf(y),
      ...given,
      estimator: new LinearRegression({ precision: 'float64' }),
    };
  }
  // The class weight becomes costs of errors, by the true labels. A class weight in the method's parameters has
  // priority.
  const isLossBound = given.constraint === 'bounded_group_loss';
  const isWeighed = !isLossBound && given.classWeight === undefined;
  const estimator = new LogisticRegression({ precision: 'float64', classWeight: isWeighed ? classWeight : null });
  return { ...(isLossBound ? { loss: 'zero_one' as const } : {}), ...given, estimator };
}

function extentOf(y: ArrayLike<number>): LossRange {
  let [low, high] = [Infinity, -Infinity];
  for (let row = 0; row < y.length; row++) {
    low = Math.min(low, y[row] as number);
    high = Math.max(high, y[row] as number);
  }
  return [low, high];
}

/** Returns a warning if a threshold replaces the randomised decisions that the constraint was met with. */
function thresholdWarning({ decisionThreshold }: MethodSettings): string[] {
  if (decisionThreshold === null) return [];
  return ['the constraint was met with randomised decisions; with a decision threshold it may not hold'];
}

/** Returns a warning about targets outside the range, which cannot be predicted. */
function rangeWarning({ constraint, range }: ReductionsOptions, y: ArrayLike<number>): string[] {
  if (constraint !== 'bounded_group_loss' || range === undefined) return [];
  let outside = 0;
  for (let row = 0; row < y.length; row++) {
    outside += Number((y[row] as number) < range[0] || (y[row] as number) > range[1]);
  }
  if (outside === 0) return [];
  return [
    `${outside.toLocaleString('en-US')} training rows have a target outside the range [${range.join(', ')}] to which predictions are clipped`,
  ];
}

async function predict(
  wrapper: ReductionsWrapper,
  { x }: EncodedRows,
  threshold: number | null,
  task: MethodSettings['task'],
): Promise<ModelOutputs> {
  if (task === 'regression') return { decisions: await wrapper.predictMean(x), scores: null };
  const scores = await wrapper.predictProba(x);
  const decisions = threshold === null ? Uint8Array.from(await wrapper.predict(x)) : decide(scores, threshold);
  return { decisions, scores };
}

async function candidates(wrapper: ReductionsWrapper, { x }: EncodedRows): Promise<Uint8Array[]> {
  const drawn = wrapper.predictors.filter((_, index) => (wrapper.weights[index] as number) > 0);
  return Promise.all(drawn.map(async (predictor) => Uint8Array.from(await predictor.predict(x, { threshold: 0.5 }))));
}
