import { hypervolume } from '../../src/training/index.ts';
import { markDominated } from '../../src/training/pareto/pareto-points.ts';
import type { AdultRows } from './adult.ts';
import { type PeerChoice, type PeerWork, runPeer } from './peer.ts';
import type { DeviceFigures, LoopFigures, PeerFigures, SweepFigures } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';
import { isSameDevice } from './same-device.ts';
import { medianOf } from './sweep-part.ts';

/** The minimum ratio of the loop's time to the sweep's. */
export const BAR = 10;

/** The maximum relative difference between the hypervolumes: both must have learned the same. */
const SEPARATE = 0.05;

/** The inputs of the comparison. */
export interface LoopRequest {
  readonly work: PeerWork;
  readonly choice: PeerChoice;
  readonly device: DeviceFigures;
  /** The figures of the sweep; null if there are none. */
  readonly sweep: SweepFigures | null;
  /** Whether the times of the sweep count. */
  readonly isB11: boolean;
  readonly isQuick: boolean;
  readonly note: (line: string) => void;
}

/** Measures the peer of B11: the work of the sweep as a PyTorch loop, one network after another. */
export async function measureLoop(rows: AdultRows, request: LoopRequest): Promise<Found<LoopFigures>> {
  const { figures: peer, reason } = await runPeer(rows, request.work, request.choice);
  const majority = majorityShare(rows.test.y);
  const figures = compareLoop(peer === null ? null : withArea(peer, majority), reason, request);
  if (figures.loop !== null) {
    const times = figures.ratio === null ? 'not compared' : `${figures.ratio.toFixed(1)} times the sweep's`;
    request.note(`a PyTorch loop: ${figures.loop.median_seconds.toFixed(1)} s, ${times}`);
  }
  return { figures, reason: judge(figures, request) };
}

/** Compares a loop with a sweep. There is no comparison if they ran on different devices. */
export function compareLoop(
  loop: LoopFigures['loop'],
  reason: string | null,
  { device, sweep, isB11 }: Pick<LoopRequest, 'device' | 'sweep' | 'isB11'>,
): LoopFigures {
  const without = (why: string | null): LoopFigures => ({ loop, reason: why, ratio: null, bar: BAR, bar_holds: null });
  if (loop === null) return without(reason);
  if (!ranOnSameDevice(loop.device, device)) {
    return without(`the loop ran on ${loop.device}, the sweep on ${device.adapter ?? device.name}`);
  }
  if (sweep === null) return without('there is no sweep to compare it with');
  const ratio = loop.median_seconds / sweep.median_seconds;
  return { loop, reason: null, ratio, bar: BAR, bar_holds: isB11 ? ratio >= BAR : null };
}

function ranOnSameDevice(loop: string, { backend, name }: DeviceFigures): boolean {
  const isGpu = backend === 'webgpu' || backend === 'node-gpu';
  return isGpu ? isSameDevice(loop, name) : loop === 'cpu';
}

function judge(figures: LoopFigures, { choice, sweep, isQuick }: LoopRequest): string | null {
  const { loop, ratio } = figures;
  const mean = sweep === null ? NaN : sweep.runs.reduce((sum, run) => sum + run.hypervolume, 0) / sweep.runs.length;
  const separate = loop === null || sweep === null || isQuick ? 0 : Math.abs(mean / loop.hypervolume - 1);
  return joinReasons([
    loop === null && choice.isWanted === true ? `PyTorch did not run: ${figures.reason ?? ''}` : null,
    separate <= SEPARATE ? null : `the hypervolumes of loop and sweep differ by ${(100 * separate).toFixed(1)}%`,
    figures.bar_holds === false ? `${(ratio ?? NaN).toFixed(2)} times as fast as the loop, below ${String(BAR)}` : null,
  ]);
}

function withArea(peer: PeerFigures, majority: number): LoopFigures['loop'] {
  return { ...peer, median_seconds: medianOf(peer.run_seconds), hypervolume: areaOf(peer.points, majority) };
}

/** Returns the area that points dominate, measured like that of a sweep. */
function areaOf(points: PeerFigures['points'], majority: number): number {
  const none = { eoDiff: NaN, loss: NaN, accuracyCi: [NaN, NaN] as const, dpDiffCi: null };
  return hypervolume(
    markDominated(points.map(({ eta, accuracy, dp }) => ({ eta, accuracy, dpDiff: dp, ...none }))),
    majority,
  );
}

function majorityShare(y: Float32Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}
