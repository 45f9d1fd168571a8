import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { flag, fraction, type ParameterTable } from './parameter-table.ts';

/** What both HDDM detectors may be told. */
export interface HddmParameters {
  /**
   * What may go wrong in calling a change at one value, in (0, 1).
   * @defaultValue 0.001
   */
  readonly driftConfidence: number;
  /**
   * The same for a warning; not below `driftConfidence`.
   * @defaultValue 0.005
   */
  readonly warningConfidence: number;
  /**
   * Whether decreases count too, and not increases alone.
   * @defaultValue false
   */
  readonly twoSidedTest: boolean;
}

/** The rules of {@link HddmParameters}. */
export const HDDM_PARAMETERS: ParameterTable<HddmParameters> = {
  driftConfidence: fraction(0.001),
  warningConfidence: fraction(0.005),
  twoSidedTest: flag(false),
};

/** Warnings must come no later than changes. */
export function requireWarningFirst({ driftConfidence, warningConfidence }: HddmParameters): void {
  if (warningConfidence >= driftConfidence) return;
  const required = `be at least driftConfidence = ${String(driftConfidence)}`;
  throw invalidParameter('warningConfidence', required, warningConfidence);
}
