import type { TensorBackend } from '../backend-names.ts';
import { isSaid, type MissingPart } from './host.ts';

/** Whether a backend can be used here, and if not, why. */
export interface BackendReport {
  readonly name: TensorBackend;
  readonly available: boolean;
  /** Why not, in one line; null where it is available. */
  readonly reason: string | null;
  /** What is missing, in the order in which to mend it; none where it is available, or where that is not known. */
  readonly missing: readonly MissingPart[];
}

/** Whether a backend is a route to the GPU. */
export function isGpuRoute(name: string): boolean {
  return name === 'webgpu' || name === 'node-gpu';
}

/**
 * The GPU routes of which it is known what they miss, the nearest to working first: the one that misses fewest things,
 * of two alike WebGPU, whose packages bring all but the driver.
 */
export function routesToGpu<Report extends Pick<BackendReport, 'name' | 'missing'>>(
  reports: readonly Report[],
): Report[] {
  return reports
    .filter(({ name, missing }) => isGpuRoute(name) && missing.length > 0)
    .sort((a, b) => a.missing.length - b.missing.length || (a.name === 'webgpu' ? -1 : 1));
}

/**
 * A mend on one line, for a message: what is said up to its first command, and that command. Others are left to the
 * doctor, since two commands on one line cannot be copied.
 * @param mend as {@link MissingPart} has it
 * @param isPart whether there is more to mend besides
 */
export function asOneLine(mend: string, isPart = false): string {
  const lines = mend.split('\n');
  const command = lines.findIndex((line, index) => index > 0 && !isSaid(line));
  const end = command === -1 ? lines.length : command + 1;
  const told = lines.slice(0, end).join(' ');
  return isPart || end < lines.length ? `${told} (all steps: evenhand doctor)` : told;
}
