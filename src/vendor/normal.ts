import normalCdf from '@stdlib/stats-base-dists-normal-cdf';
import normalQuantile from '@stdlib/stats-base-dists-normal-quantile';

/** Returns the probability that a normal variable with a mean and a standard deviation is at most a value. */
export const cdf: (value: number, mean: number, deviation: number) => number = normalCdf;

/** Returns the quantile of a normal variable with a mean and a standard deviation at a probability. */
export const quantile: (probability: number, mean: number, deviation: number) => number = normalQuantile;
