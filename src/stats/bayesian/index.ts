export { type BetaBinomialOptions, betaBinomialInterval } from './beta-binomial-interval.ts';
