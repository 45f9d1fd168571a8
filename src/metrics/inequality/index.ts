export * from './between-group-generalized-entropy-index.ts';
export * from './conditional-demographic-disparity.ts';
export * from './consistency-score.ts';
export * from './differential-fairness-bias-amplification.ts';
export {
  type DifferentialFairnessOptions,
  empiricalDifferentialFairness,
  empiricalDifferentialFairnessOf,
} from './differential-fairness.ts';
export {
  discountedCumulativeGain,
  normalizedDiscountedCumulativeGain,
  type NormalizedGainOptions,
  type RankingOptions,
} from './discounted-cumulative-gain.ts';
export type { BenefitRowOptions, DecisionRowOptions, EntropyOptions } from './entropy.ts';
export type { FeatureSource } from './feature-columns.ts';
export * from './generalized-entropy-index.ts';
export * from './infeasible-index.ts';
