import { z } from 'zod';

import { invalidParameter } from '../../internal/arguments.ts';
import { count, noteWarning, WARNING_FIELDS, warningAge, type WarningZone } from './detector-state.ts';
import { type DetectorKernel, KernelDetector, loadPlain, savePlain } from './kernel-detector.ts';
import { fillParameters, flag, fraction, type Given, type ParameterTable } from './parameter-table.ts';

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

/** Options of {@link HddmADetector}: its parameters, all of which have defaults. */
export type HddmAOptions = Given<HddmParameters>;

/** The mean of the first n values. */
interface HeadMean {
  n: number;
  mean: number;
}

interface HddmAMemory extends WarningZone {
  readonly all: HeadMean;
  /** The heads of the stream with the lowest upper and with the highest lower bound. */
  readonly lowest: HeadMean;
  readonly highest: HeadMean;
}

const headMean = z.strictObject({ n: count, mean: z.number().min(0).max(1) });

const SCHEMA = z.strictObject({ all: headMean, lowest: headMean, highest: headMean, ...WARNING_FIELDS });

const KERNEL: DetectorKernel<HddmParameters, HddmAMemory> = {
  name: 'hddm_a',
  domain: 'share',
  start: () => ({ all: none(), lowest: none(), highest: none(), isWarning: false, warnedAt: null }),
  step,
  schema: () => SCHEMA,
  save: savePlain,
  load: loadPlain,
  changeAge: (at) => warningAge(at, at.all.n),
};

function none(): HeadMean {
  return { n: 0, mean: 0 };
}

function step(at: HddmAMemory, value: number, parameters: HddmParameters): boolean {
  const { all, lowest, highest } = at;
  const { driftConfidence, warningConfidence } = parameters;
  all.n++;
  all.mean += (value - all.mean) / all.n;
  const bound = hoeffdingBound(all.n, driftConfidence);
  if (lowest.n === 0 || lowest.mean + hoeffdingBound(lowest.n, driftConfidence) >= all.mean + bound) copy(all, lowest);
  if (highest.n === 0 || highest.mean - hoeffdingBound(highest.n, driftConfidence) <= all.mean - bound) {
    copy(all, highest);
  }
  const isChange = hasChanged(at, driftConfidence, parameters);
  const isWarning = isChange || hasChanged(at, warningConfidence, parameters);
  return noteWarning(at, all.n, isWarning, isChange);
}

function copy(from: HeadMean, to: HeadMean): void {
  to.n = from.n;
  to.mean = from.mean;
}

/** What a mean of n values in [0, 1] exceeds its expectation by with a probability of at most `confidence`. */
function hoeffdingBound(n: number, confidence: number): number {
  return Math.sqrt(Math.log(1 / confidence) / (2 * n));
}

function hasChanged(
  { all, lowest, highest }: HddmAMemory,
  confidence: number,
  { twoSidedTest }: HddmParameters,
): boolean {
  return hasMoved(lowest, all, confidence, 1) || (twoSidedTest && hasMoved(highest, all, confidence, -1));
}

/** Whether the mean of all is above (1) or below (-1) that of a head by more than chance allows. */
function hasMoved(head: HeadMean, all: HeadMean, confidence: number, direction: 1 | -1): boolean {
  if (head.n === all.n) return false;
  const bound = Math.sqrt(((1 / head.n - 1 / all.n) * Math.log(2 / confidence)) / 2);
  return direction * (all.mean - head.mean) >= bound;
}

/**
 * HDDM with averages: compares the mean of all values with the mean of that head
 * of the stream whose Hoeffding bound is lowest.
 *
 * With n values of mean z, and m of them, the head, of mean x: a change is
 * z - x of at least sqrt((1/m - 1/n) ln(2 / driftConfidence) / 2), and a warning
 * the same with `warningConfidence`. The change is suspected where the warnings
 * before it began.
 * With `twoSidedTest` decreases are found likewise.
 *
 * Values are in [0, 1]: errors, decisions or shares. Made for abrupt changes;
 * a mean over the whole past is slow where the change comes late. The
 * confidence holds for one value alone, not for the whole stream.
 * @see I. Frías-Blanco et al., Online and non-parametric drift detection methods based on Hoeffding's bounds, IEEE TKDE 27 (2015)
 * @example
 * ```ts
 * import { HddmADetector } from 'evenhand/monitoring';
 *
 * const detector = new HddmADetector();
 * const errors = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = errors.findIndex((isError) => detector.update(Number(isError)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1014 1013
 * ```
 */
export class HddmADetector extends KernelDetector<HddmParameters, HddmAMemory> {
  /** @throws {ValueError} for a parameter that is unknown or out of range */
  constructor(options: HddmAOptions = {}) {
    const parameters = fillParameters(HDDM_PARAMETERS, options);
    requireWarningFirst(parameters);
    super(KERNEL, parameters);
  }

  /** Whether the latest value left the mean in the zone of warnings, short of a change. */
  get isWarning(): boolean {
    return this.memory.isWarning;
  }
}
