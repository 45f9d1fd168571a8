export {
  betaBinomialLogMixture,
  betaBinomialMixtureBound,
  type BetaBinomialMixtureOptions,
} from './beta-binomial-mixture.ts';
export { betaBinomialLower, betaBinomialSequence, betaBinomialUpper } from './beta-binomial-sequence.ts';
export { bernoulliConfidenceInterval, type BernoulliIntervalOptions } from './bernoulli-confidence-interval.ts';
export {
  bettingAudit,
  type BettingAudit,
  type BettingAuditOptions,
  type BettingPath,
  type TolerantBettingAudit,
} from './betting-audit.ts';
export { type BettingOptions, BettingProcess, type BettingState } from './betting-process.ts';
export { doubleStitchingBound, type DoubleStitchingOptions } from './double-stitching-bound.ts';
export {
  type BoundedMeanState,
  type EmpiricalBernsteinOptions,
  empiricalBernsteinSequence,
} from './empirical-bernstein-sequence.ts';
export { empiricalProcessLilBound, type EmpiricalProcessLilOptions } from './empirical-process-lil-bound.ts';
export {
  gammaExponentialLogMixture,
  gammaExponentialMixtureBound,
  type ScaledMixtureOptions,
} from './gamma-exponential-mixture.ts';
export { gammaPoissonLogMixture, gammaPoissonMixtureBound } from './gamma-poisson-mixture.ts';
export { type MixtureOptions, twoSidedNormalBestRho } from './mixture-parameters.ts';
export { msprt, type MsprtInput, type MsprtResult } from './msprt.ts';
export { normalLogMixture, normalMixtureBound, type NormalMixtureOptions } from './normal-mixture.ts';
export { polyStitchingBound, type PolyStitchingOptions, type StitchingShape } from './poly-stitching-bound.ts';
export { type SubGaussianOptions, subGaussianSequence, type WeightedShareState } from './sub-gaussian-sequence.ts';
