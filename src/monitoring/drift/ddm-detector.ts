import { z } from 'zod';

import { invalidParameter } from '../../internal/arguments.ts';
import { count, noteWarning, share, WARNING_FIELDS, warningAge } from './detector-state.ts';
import { type DetectorKernel, WarningDetector } from './kernel-detector.ts';
import { type Given, positive, whole } from './parameter-table.ts';

/** The parameters of {@link DdmDetector}. */
export interface DdmParameters {
  /**
   * The number of initial values in which no change is detected.
   * @defaultValue 30
   */
  readonly warmStart: number;
  /**
   * A warning is raised if the rate is this number of standard deviations above its lowest value. The number must be at
   * most `driftThreshold`.
   * @defaultValue 2
   */
  readonly warningThreshold: number;
  /**
   * A change is detected if the rate is this number of standard deviations above its lowest value.
   * @defaultValue 3
   */
  readonly driftThreshold: number;
}

/** Options of {@link DdmDetector}: its parameters, all with defaults. */
export type DdmOptions = Given<DdmParameters>;

const SCHEMA = z.strictObject({
  n: count,
  rate: share,
  /**
   * The rate at the time when the sum of the rate and its standard deviation was lowest; null before the first value.
   */
  lowestRate: share.nullable(),
  lowestDeviation: share,
  ...WARNING_FIELDS,
});

type DdmMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<DdmParameters, DdmMemory> = {
  name: 'ddm',
  domain: 'share',
  parameters: {
    warmStart: whole(30, 1),
    warningThreshold: positive(2),
    driftThreshold: positive(3),
  },
  check: ({ warningThreshold, driftThreshold }) => {
    if (warningThreshold <= driftThreshold) return;
    throw invalidParameter(
      'warningThreshold',
      `be at most driftThreshold = ${String(driftThreshold)}`,
      warningThreshold,
    );
  },
  start: () => ({ n: 0, rate: 0, lowestRate: null, lowestDeviation: 0, isWarning: false, warnedAt: null }),
  step,
  schema: () => SCHEMA,
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
 * Uses DDM to detect increases of a rate that should fall or stay constant, such as an error rate.
 *
 * Let p be the rate of all n values, and s = sqrt(p (1 - p) / n). The detector keeps p_min and s_min: the values of p
 * and s when p + s was lowest. With the default thresholds, there is a warning if p + s is above p_min + 2 s_min, and a
 * change if p + s is above p_min + 3 s_min. The change is suspected to begin at the first of the consecutive warnings
 * before it.
 *
 * DDM detects only increases. DDM detects late changes slowly, because the rate p is a mean over all past values. If
 * the first values are all 0 (rare errors), s_min is 0, and the first 1 is detected as a change. To avoid this,
 * increase `warmStart` to several times 1 / rate. False alarms are frequent, because the rate is compared with the
 * lowest of many values; see the documentation of drift detectors.
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
export class DdmDetector extends WarningDetector<DdmParameters, DdmMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: DdmOptions = {}) {
    super(KERNEL, options);
  }
}
