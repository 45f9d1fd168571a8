/** Smaller differences of errors and gaps count as rounding, as in the reference implementation. */
export const PRECISION = 1e-8;
