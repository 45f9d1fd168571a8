import { z } from 'zod';

import { invalidParameter } from '../../internal/arguments.ts';
import { count, noteWarning, WARNING_FIELDS, warningAge, type WarningZone } from './detector-state.ts';
import { type DetectorKernel, KernelDetector, loadPlain, savePlain } from './kernel-detector.ts';
import { fillParameters, type Given, type ParameterTable, positive, whole } from './parameter-table.ts';

/** The parameters of {@link DdmDetector}. */
export interface DdmParameters {
  /**
   * Nothing is found in the first so many values.
   * @defaultValue 30
   */
  readonly warmStart: number;
  /**
   * Standard deviations above the lowest rate that are a warning; not above `driftThreshold`.
   * @defaultValue 2
   */
  readonly warningThreshold: number;
  /**
   * Standard deviations above the lowest rate that are a change.
   * @defaultValue 3
   */
  readonly driftThreshold: number;
}

/** Options of {@link DdmDetector}: its parameters, all of which have defaults. */
export type DdmOptions = Given<DdmParameters>;

const PARAMETERS: ParameterTable<DdmParameters> = {
  warmStart: whole(30, 1),
  warningThreshold: positive(2),
  driftThreshold: positive(3),
};

interface DdmMemory extends WarningZone {
  n: number;
  rate: number;
  /** The rate and its standard deviation where their sum was lowest; null before the first. */
  lowestRate: number | null;
  lowestDeviation: number;
}

const share = z.number().min(0).max(1);

const SCHEMA = z.strictObject({
  n: count,
  rate: share,
  lowestRate: share.nullable(),
  lowestDeviation: share,
  ...WARNING_FIELDS,
});

const KERNEL: DetectorKernel<DdmParameters, DdmMemory> = {
  name: 'ddm',
  domain: 'share',
  start: () => ({ n: 0, rate: 0, lowestRate: null, lowestDeviation: 0, isWarning: false, warnedAt: null }),
  step,
  schema: () => SCHEMA,
  save: savePlain,
  load: loadPlain,
  changeAge: (at) => warningAge(at, at.n),
};

function step(at: DdmMemory, value: number, { warmStart, warningThreshold, driftThreshold }: DdmParameters): boolean {
  at.n++;
  at.rate += (value - at.rate) / at.n;
  if (at.n <= warmStart) return false;
  const deviation = Math.sqrt((at.rate * (1 - at.rate)) / at.n);
  const level = at.rate + deviation;
  if (at.lowestRate === null || level <= at.lowestRate + at.lowestDeviation) {
    at.lowestRate = at.rate;
    at.lowestDeviation = deviation;
  }
  const isWarning = level > at.lowestRate + warningThreshold * at.lowestDeviation;
  const isChange = level > at.lowestRate + driftThreshold * at.lowestDeviation;
  return noteWarning(at, at.n, isWarning, isChange);
}

/**
 * DDM: watches a rate that should fall or stay, such as a rate of errors, for a rise.
 *
 * With p the rate of all n values and s = sqrt(p (1 - p) / n), it remembers p
 * and s where p + s was lowest; a warning is p + s above p_min + 2 s_min, a
 * change above p_min + 3 s_min. The change is suspected where the warnings before
 * it began.
 *
 * It sees increases only, and a late change slowly, since p is a mean over the
 * whole past. Where the first values are all 0 (rare errors) s_min is 0 and the
 * first 1 is a change: raise `warmStart` to several times 1 / rate. The lowest
 * of many looks is compared, so that false alarms are frequent; see the page on
 * detectors.
 * @see J. Gama, P. Medas, G. Castillo and P. Rodrigues, Learning with drift detection, SBIA 2004
 * @example
 * ```ts
 * import { DdmDetector } from 'evenhand/monitoring';
 *
 * const detector = new DdmDetector();
 * const errors = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const warnings: number[] = [];
 * const foundAt = errors.findIndex((isError, index) => {
 *   const isChange = detector.update(Number(isError));
 *   if (detector.isWarning) warnings.push(index);
 *   return isChange;
 * });
 * console.log(warnings[0], foundAt);
 * // 1027 1058
 * ```
 */
export class DdmDetector extends KernelDetector<DdmParameters, DdmMemory> {
  /** @throws {ValueError} for a parameter that is unknown or out of range */
  constructor(options: DdmOptions = {}) {
    const parameters = fillParameters(PARAMETERS, options);
    const { warningThreshold, driftThreshold } = parameters;
    if (warningThreshold > driftThreshold) {
      const required = `be at most driftThreshold = ${String(driftThreshold)}`;
      throw invalidParameter('warningThreshold', required, warningThreshold);
    }
    super(KERNEL, parameters);
  }

  /** Whether the latest value left the rate in the zone of warnings, short of a change. */
  get isWarning(): boolean {
    return this.memory.isWarning;
  }
}
