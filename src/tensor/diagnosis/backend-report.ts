import type { TensorBackend } from '../backend-names.ts';
import { isSaid, type MissingPart } from './host.ts';

/** Whether a backend can be used on this machine, and if not, why. */
export interface BackendReport {
  readonly name: TensorBackend;
  readonly available: boolean;
  /** The reason why the backend is not available, in one line; null if it is available. */
  readonly reason: string | null;
  /**
   * The missing parts, in the order in which to fix them; empty if the backend is available or the missing parts are
   * unknown.
   */
  readonly missing: readonly MissingPart[];
}

/** Returns whether a backend computes on the GPU. */
export function isGpuRoute(name: string): boolean {
  return name === 'webgpu' || name === 'node-gpu';
}

/**
 * Returns the GPU backends with known missing parts, sorted by the number of missing parts. If two backends have the
 * same number of missing parts, WebGPU comes first, because its packages include everything except the driver.
 */
export function routesToGpu<Report extends Pick<BackendReport, 'name' | 'missing'>>(
  reports: readonly Report[],
): Report[] {
  return reports
    .filter(({ name, missing }) => isGpuRoute(name) && missing.length > 0)
    .sort((a, b) => a.missing.length - b.missing.length || (a.name === 'webgpu' ? -1 : 1));
}

/**
 * Formats a fix on one line for a message: the prose before the first command, and the first command. Other commands
 * are shown only by `evenhand doctor`, because two commands on one line cannot be copied.
 * @param fix in the format of {@link MissingPart}
 * @param isPart whether there are further parts to fix
 */
export function asOneLine(fix: string, isPart = false): string {
  const lines = fix.split('\n');
  const command = lines.findIndex((line, index) => index > 0 && !isSaid(line));
  const end = command === -1 ? lines.length : command + 1;
  const reported = lines.slice(0, end).join(' ');
  return isPart || end < lines.length ? `${reported} (all steps: evenhand doctor)` : reported;
}
