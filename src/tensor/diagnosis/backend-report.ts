import type { TensorBackend } from '../backend-names.ts';
import type { MissingPart } from './missing-part.ts';

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

/** A mend on one line, for a message. */
export function asOneLine(mend: string): string {
  return mend.replaceAll(/\s*\n\s*/g, ' ');
}
