import incompleteBeta from '@stdlib/math-base-special-betainc';
import incompleteGamma from '@stdlib/math-base-special-gammainc';
import quantile from '@stdlib/stats-base-dists-beta-quantile';

/** Returns the incomplete beta function of x, a and b; regularized and of the lower tail by default. */
export const betainc: (x: number, a: number, b: number, regularized?: boolean, upper?: boolean) => number =
  incompleteBeta;

/** Returns the incomplete gamma function of x and the shape; regularized and of the lower tail by default. */
export const gammainc: (x: number, shape: number, regularized?: boolean, upper?: boolean) => number = incompleteGamma;

/** Returns the quantile of a beta variable of the two shapes at a probability. */
export const betaQuantile: (probability: number, alpha: number, beta: number) => number = quantile;
