export { type BetaBinomialOptions, betaBinomialInterval } from './bayesian/index.ts';
export {
  bootstrapCi,
  type BootstrapMethod,
  type BootstrapOptions,
  type BootstrapStatistic,
} from './bootstrap/index.ts';
export { cohensD, riskRatio } from './effect-size/index.ts';
export {
  type DetectableGapOptions,
  type DetectableMeanGapOptions,
  type DetectionOptions,
  minimumDetectableGap,
  minimumDetectableMeanGap,
} from './minimum-detectable-gap.ts';
export { type AdjustedPValues, benjaminiHochberg, bonferroni, holm } from './multipletests/index.ts';
export { type Interval, wilsonInterval } from './proportion-interval.ts';
