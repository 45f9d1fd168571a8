import type { NumericsCase } from './numerics-case.ts';

/** What every tensor op is asked. */
export const NUMERICS_CASES: readonly NumericsCase[] = [];
