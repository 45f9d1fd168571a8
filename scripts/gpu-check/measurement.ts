import type { CheckOptions } from './options.ts';
import { type DeviceFigures, PART_NAMES, type Parts } from './report.ts';
import { SWEEP } from './sweep-part.ts';

/** The rows of Adult in the split of its authors, and its columns for networks. */
const ADULT = { rows: 32_561, test_rows: 16_281, columns: 42 } as const;

/** The networks of benchmark B11, and the minimum number of runs for a valid median. */
const [ETAS, FEWEST_SEEDS] = [64, 3];

/** The options and results of a check. */
export interface Findings {
  readonly options: Pick<CheckOptions, 'quick' | 'parts' | 'etas' | 'seeds'>;
  readonly device: Pick<DeviceFigures, 'backend' | 'is_software'>;
  readonly parts: Parts;
}

/**
 * Returns whether the times of this package may be quoted as benchmark B11. This requires every part, the complete work
 * on all data, at least three seeds, a hardware GPU, and networks that have learned. No part may have been aborted,
 * because unfinished work would slow the next part.
 */
export function isB11({ options, device, parts }: Findings): boolean {
  if (options.quick || device.is_software || (device.backend !== 'webgpu' && device.backend !== 'node-gpu'))
    return false;
  if (options.etas !== ETAS || new Set(options.seeds).size < FEWEST_SEEDS) return false;
  if (!PART_NAMES.every((name) => options.parts.includes(name))) return false;
  const own = PART_NAMES.filter((name) => name !== 'peer').map((name) => parts[name]);
  if (!own.every((part) => part !== undefined && part.figures !== null && !part.timed_out)) return false;
  return parts.sweep?.passes === true && isCompleteWork(parts);
}

/** Returns whether a report of these findings is a measurement: {@link isB11}, with the loop's part finished too. */
export function isMeasurement(findings: Findings): boolean {
  return findings.parts.peer !== undefined && isB11(findings);
}

function isCompleteWork({ sweep }: Parts): boolean {
  if (!sweep?.figures) return false;
  const { work, runs } = sweep.figures;
  return (
    work.etas === ETAS &&
    work.epochs === SWEEP.epochs &&
    work.batch_size === SWEEP.batchSize &&
    work.hidden.join() === SWEEP.hidden.join() &&
    work.penalty === SWEEP.penalty &&
    work.rows === ADULT.rows &&
    work.test_rows === ADULT.test_rows &&
    work.columns === ADULT.columns &&
    runs.length >= FEWEST_SEEDS
  );
}
