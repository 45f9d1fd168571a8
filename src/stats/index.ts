export { type BetaBinomialOptions, betaBinomialInterval } from './bayesian/index.ts';
export {
  bootstrapCi,
  type BootstrapMethod,
  type BootstrapOptions,
  type BootstrapStatistic,
} from './bootstrap/index.ts';
export { cohensD, riskRatio } from './effect-size/index.ts';
export { gapIntervals, type GapIntervalOptions, type GapIntervals } from './gap-interval.ts';
export { type MeanFamily } from './mean-family.ts';
export {
  type DetectableGapOptions,
  type DetectableMeanGapOptions,
  type DetectionOptions,
  minimumDetectableGap,
  minimumDetectableMeanGap,
} from './minimum-detectable-gap.ts';
export { emptyMoments, type GroupMoments, groupMoments, mergeMoments, type Moments, removeMoments } from './moments.ts';
export { type AdjustedPValues, benjaminiHochberg, bonferroni, holm } from './multipletests/index.ts';
export { permutationPValue, type PermutationOptions, type PermutationStratum } from './permutation-test.ts';
export { type Interval, wilsonInterval } from './proportion-interval.ts';
export { quantileSorted } from './quantile.ts';
export { type LogRateFamily, type RateFamily } from './rate-family.ts';
export { drawBinomial } from './draw-binomial.ts';
export { normalCdf } from './normal-cdf.ts';
export { criticalValue, normalQuantile } from './normal-quantile.ts';
