export { fisherExactTest, type FisherExactResult, type TwoByTwoTable } from './fisher-exact-test.ts';
export {
  type KolmogorovSmirnovMethod,
  type KolmogorovSmirnovOptions,
  type KolmogorovSmirnovResult,
  twoSampleKolmogorovSmirnov,
} from './kolmogorov-smirnov.ts';
export {
  binnedPopulationStabilityIndex,
  type BinnedStability,
  populationStabilityIndex,
} from './population-stability-index.ts';
export { jensenShannonDistance, largestShareDifference, totalVariationDistance } from './share-distances.ts';
export {
  type DeviationThreshold,
  type DeviationThresholdOptions,
  standardDeviationThreshold,
} from './standard-deviation-threshold.ts';
export { normedWassersteinDistance, wassersteinDistance } from './wasserstein-distance.ts';
