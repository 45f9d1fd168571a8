export {
  betweenGroupCoefficientOfVariation,
  betweenGroupCoefficientOfVariationOf,
} from './between-group-coefficient-of-variation.ts';
export {
  betweenGroupGeneralizedEntropyIndex,
  betweenGroupGeneralizedEntropyIndexOf,
} from './between-group-generalized-entropy-index.ts';
export { betweenGroupTheilIndex, betweenGroupTheilIndexOf } from './between-group-theil-index.ts';
export { coefficientOfVariation, coefficientOfVariationOf } from './coefficient-of-variation.ts';
export {
  conditionalDemographicDisparity,
  conditionalDemographicDisparityOf,
} from './conditional-demographic-disparity.ts';
export { type ConsistencyOptions, consistencyScore } from './consistency-score.ts';
export {
  differentialFairnessBiasAmplification,
  differentialFairnessBiasAmplificationOf,
} from './differential-fairness-bias-amplification.ts';
export { discountedCumulativeGain, type RankingOptions } from './discounted-cumulative-gain.ts';
export { empiricalDifferentialFairness, empiricalDifferentialFairnessOf } from './empirical-differential-fairness.ts';
export type { EntropyOptions } from './entropy.ts';
export type { FeatureSource } from './feature-columns.ts';
export { generalizedEntropyIndex, generalizedEntropyIndexOf } from './generalized-entropy-index.ts';
export { type InfeasibleIndex, infeasibleIndex } from './infeasible-index.ts';
export {
  type NormalizedGainOptions,
  normalizedDiscountedCumulativeGain,
} from './normalized-discounted-cumulative-gain.ts';
export type { UngroupedRowOptions } from './reduce-without-groups.ts';
export type { DifferentialFairnessOptions } from './smoothed-rates.ts';
export { theilIndex, theilIndexOf } from './theil-index.ts';
