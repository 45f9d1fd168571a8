export {
  betaBinomialLogMixture,
  betaBinomialMixtureBound,
  type BetaBinomialMixtureOptions,
} from './beta-binomial-mixture.ts';
export * from './beta-binomial-sequence.ts';
export * from './bernoulli-confidence-interval.ts';
export * from './betting-audit.ts';
export * from './betting-process.ts';
export * from './double-stitching-bound.ts';
export * from './empirical-bernstein-sequence.ts';
export * from './empirical-process-lil-bound.ts';
export {
  gammaExponentialLogMixture,
  gammaExponentialMixtureBound,
  type ScaledMixtureOptions,
} from './gamma-exponential-mixture.ts';
export * from './gamma-poisson-mixture.ts';
export { type MixtureOptions, twoSidedNormalBestRho } from './mixture-parameters.ts';
export * from './msprt.ts';
export { normalLogMixture, normalMixtureBound, type NormalMixtureOptions } from './normal-mixture.ts';
export { polyStitchingBound, type PolyStitchingOptions, type StitchingShape } from './poly-stitching-bound.ts';
export * from './sub-gaussian-sequence.ts';
