import type { TensorBackend } from '../backend-names.ts';
import { isSaid, type MissingPart } from './missing-part.ts';

/** Whether a backend can be used here, and if not, why. */
export interface BackendReport {
  readonly name: TensorBackend;
  readonly available: boolean;
  /** Why not, in one line; null where it is available. */
  readonly reason: string | null;
  /** What is missing, in the order in which to mend it; none where it is available, or where that is not known. */
  readonly missing: readonly MissingPart[];
}

/**
 * The GPU route that is nearest to working: the one that misses fewest things,
 * of two alike WebGPU, whose packages bring all but the driver. Null where it
 * is not known of any what it misses.
 */
export function nearestRoute(reports: readonly BackendReport[]): BackendReport | null {
  const routes = reports
    .filter(({ name, missing }) => (name === 'webgpu' || name === 'node-gpu') && missing.length > 0)
    .sort((a, b) => a.missing.length - b.missing.length || (a.name === 'webgpu' ? -1 : 1));
  return routes[0] ?? null;
}

/**
 * A mend on one line, for a message: what is said up to its first command, and that command. Others are left to the
 * doctor, since two commands on one line cannot be copied.
 * @param mend as {@link MissingPart} has it
 */
export function asOneLine(mend: string): string {
  const lines = mend.split('\n');
  const command = lines.findIndex((line, index) => index > 0 && !isSaid(line));
  if (command === -1) return lines.join(' ');
  const told = lines.slice(0, command + 1).join(' ');
  return command === lines.length - 1 ? told : `${told} (all steps: evenhand doctor)`;
}
