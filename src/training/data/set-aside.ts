import { DataValidationError } from '../../exceptions/index.ts';
import { stratifiedSplit } from './stratified-split.ts';

/** Share of the rows trained on that decides when to stop. */
const VALIDATION_SHARE = 0.1;

/**
 * Sets a tenth of the rows aside, of each stratum alike, to decide when to stop.
 * @param strata the stratum of each row
 * @throws {DataValidationError} where no row is left for either
 */
export function setAside(strata: ArrayLike<number>, seed: number): [fitting: Int32Array, validation: Int32Array] {
  const [fitting, validation] = stratifiedSplit(strata, [1 - VALIDATION_SHARE, VALIDATION_SHARE], seed) as [
    Int32Array,
    Int32Array,
  ];
  if (fitting.length > 0 && validation.length > 0) return [fitting, validation];
  throw new DataValidationError(`There are too few rows to train on: ${String(strata.length)}.`, {
    context: { rows: strata.length },
    suggestion: 'Training, stopping and testing each need rows; give at least a few dozen.',
  });
}
