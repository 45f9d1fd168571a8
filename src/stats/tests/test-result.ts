/** A test of one hypothesis. */
export interface TestResult {
  /** NaN where the test is undefined; Infinity where the hypothesis cannot hold. */
  readonly statistic: number;
  /** Degrees of freedom: one number of chi-square, of F those of its numerator and denominator. */
  readonly degrees: readonly number[];
  /** The probability of a statistic at least as large under the hypothesis; NaN where undefined. */
  readonly pValue: number;
}
