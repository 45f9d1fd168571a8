export {
  betweenGroupCoefficientOfVariation,
  betweenGroupCoefficientOfVariationOf,
  betweenGroupGeneralizedEntropyIndex,
  betweenGroupGeneralizedEntropyIndexOf,
  betweenGroupTheilIndex,
  betweenGroupTheilIndexOf,
} from './between-group-generalized-entropy-index.ts';
export {
  coefficientOfVariation,
  coefficientOfVariationOf,
  generalizedEntropyIndex,
  generalizedEntropyIndexOf,
  theilIndex,
  theilIndexOf,
  type UngroupedRowOptions,
} from './generalized-entropy-index.ts';
export {
  conditionalDemographicDisparity,
  conditionalDemographicDisparityOf,
} from './conditional-demographic-disparity.ts';
export { type ConsistencyOptions, consistencyScore } from './consistency-score.ts';
export {
  differentialFairnessBiasAmplification,
  differentialFairnessBiasAmplificationOf,
} from './differential-fairness-bias-amplification.ts';
export {
  discountedCumulativeGain,
  normalizedDiscountedCumulativeGain,
  type NormalizedGainOptions,
  type RankingOptions,
} from './discounted-cumulative-gain.ts';
export {
  type DifferentialFairnessOptions,
  empiricalDifferentialFairness,
  empiricalDifferentialFairnessOf,
} from './differential-fairness.ts';
export type { EntropyOptions } from './entropy.ts';
export type { FeatureSource } from './feature-columns.ts';
export { type InfeasibleIndex, infeasibleIndex } from './infeasible-index.ts';
