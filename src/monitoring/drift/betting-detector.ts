import { z } from 'zod';

import { BettingProcess, type BettingState } from '../../stats/sequential/betting-process.ts';
import { count } from './detector-state.ts';
import { type DetectorKernel, KernelDetector } from './kernel-detector.ts';
import { fraction, type Given, shareOrNull, tolerance, whole } from './parameter-table.ts';

/** The parameters of {@link BettingDetector}. */
export interface BettingParameters {
  /**
   * The expected mean of the stream, in [0, 1]; null to estimate it from the first `warmUp` values.
   * @defaultValue null
   */
  readonly referenceMean: number | null;
  /**
   * The accepted distance of the mean from the reference, at least 0 and below 1.
   * @defaultValue 0.05
   */
  readonly tolerance: number;
  /**
   * The maximum probability of a false alarm at any time after a start or restart, in (0, 1).
   * @defaultValue 0.05
   */
  readonly alpha: number;
  /**
   * The number of values used to estimate the reference, if no reference is given. No change is detected among
   * these values.
   * @defaultValue 1000
   */
  readonly warmUp: number;
}

/** Options of {@link BettingDetector}: its parameters, all with defaults. */
export type BettingDetectorOptions = Given<BettingParameters>;

/**
 * Limits each process to bets on one side, so that its wealth is a supermartingale under the complete null hypothesis.
 */
const ONE_SIDED = { largestBet: 0 };

/**
 * A one-sided betting process, with the minimum of its wealth and the number of values at which this minimum was
 * reached.
 */
interface Side<Process> {
  readonly process: Process;
  lowest: number;
  lowestAt: number;
}

interface Sides<Process> {
  /** The number of values since the start, including the values used to estimate the reference. */
  n: number;
  /** The reference mean, or its current estimate. */
  reference: number;
  readonly up: Side<Process>;
  readonly down: Side<Process>;
}

type BettingMemory = Sides<BettingProcess>;
type SavedBetting = Sides<BettingState>;

const side = z.strictObject({
  process: z.strictObject({
    logWealth: z.number(),
    bet: z.number().min(-0.5).max(0),
    sumOfSquares: z.number().min(0),
  }),
  lowest: z.number(),
  lowestAt: count,
});
const SCHEMA = z.strictObject({ n: count, reference: z.number().min(0).max(1), up: side, down: side });

const KERNEL: DetectorKernel<BettingParameters, BettingMemory, SavedBetting> = {
  name: 'betting',
  domain: 'share',
  parameters: {
    referenceMean: shareOrNull(),
    tolerance: tolerance(0.05),
    alpha: fraction(0.05),
    warmUp: whole(1000, 1),
  },
  start: ({ referenceMean }) => ({ n: 0, reference: referenceMean ?? 0, up: freshSide(), down: freshSide() }),
  step,
  changeAge: ({ n, up, down }) => n - 1 - (up.process.logWealth > down.process.logWealth ? up : down).lowestAt,
  schema: () => SCHEMA,
  save: ({ up, down, ...rest }) => ({ ...rest, up: saveSide(up), down: saveSide(down) }),
  load: ({ up, down, ...rest }) => ({ ...rest, up: loadSide(up), down: loadSide(down) }),
};

function freshSide(): Side<BettingProcess> {
  return { process: new BettingProcess(ONE_SIDED), lowest: 0, lowestAt: 0 };
}

function saveSide({ process, ...rest }: Side<BettingProcess>): Side<BettingState> {
  return { ...rest, process: process.snapshot() };
}

function loadSide({ process, ...rest }: Side<BettingState>): Side<BettingProcess> {
  return { ...rest, process: BettingProcess.restore(process, ONE_SIDED) };
}

function step(at: BettingMemory, value: number, parameters: BettingParameters): boolean {
  at.n++;
  if (parameters.referenceMean === null && at.n <= parameters.warmUp) {
    at.reference += (value - at.reference) / at.n;
    return false;
  }
  const deviation = value - at.reference;
  // Each side uses half of alpha.
  const limit = Math.log(2 / parameters.alpha);
  const hasRisen = bet(at.up, deviation - parameters.tolerance, at.n) > limit;
  return bet(at.down, -deviation - parameters.tolerance, at.n) > limit || hasRisen;
}

function bet(on: Side<BettingProcess>, outcome: number, n: number): number {
  on.process.update(outcome);
  const { logWealth } = on.process;
  if (logWealth <= on.lowest) {
    on.lowest = logWealth;
    on.lowestAt = n;
  }
  return logWealth;
}

/**
 * Detects changes with two bets against "the mean is within `tolerance` of the reference": one bet wins if values are
 * higher, the other if values are lower. This is the only built-in detector that bounds the probability of a false
 * alarm over a stream of any length.
 *
 * For each value x, let d = x - reference. The wealth of one side is the product of 1 - lambda (d - tolerance), and the
 * wealth of the other side is the product of 1 - lambda (-d - tolerance). Each bet lambda is in [-1/2, 0] and is
 * adjusted after each value ({@link BettingProcess}). A wealth above 2 / alpha indicates a change. The change is
 * suspected to begin right after the value at which that wealth was at its minimum. Values are in [0, 1] and may have
 * any distribution.
 *
 * If the reference is given, the probability of a false alarm after one start is at most `alpha`, at any time (Ville's
 * inequality). This holds as long as the conditional mean of each value, given the earlier values, is within the
 * tolerance of the reference. After an alarm, the detector restarts with a new `alpha`.
 *
 * If the reference is estimated, the same bound holds if the estimate is within the tolerance of the true mean. For
 * independent values, the probability of a false alarm is then at most alpha + 2 exp(-2 warmUp tolerance^2). With the
 * default parameters, this bound is 0.05 + 0.0135. With a tolerance of 0, there is no bound.
 *
 * Limitations: changes within the tolerance are not detected. Late changes are found slowly, because bets become
 * cautious over time.
 * @see B. Chugg et al., Auditing fairness by betting (2023), arXiv 2305.17570
 * @example
 * ```ts
 * import { BettingDetector } from 'evenhand/monitoring';
 *
 * const detector = new BettingDetector({ referenceMean: 0.25 });
 * const selected = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = selected.findIndex((isSelected) => detector.update(Number(isSelected)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1098 1002
 * ```
 */
export class BettingDetector extends KernelDetector<BettingParameters, BettingMemory, SavedBetting> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: BettingDetectorOptions = {}) {
    super(KERNEL, options);
  }

  /** The reference mean; null while it is being estimated. */
  get reference(): number | null {
    const { referenceMean, warmUp } = this.parameters;
    return referenceMean === null && this.memory.n < warmUp ? null : this.memory.reference;
  }
}
