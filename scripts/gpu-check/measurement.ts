import type { CheckOptions } from './options.ts';
import { type DeviceFigures, PART_NAMES, type Parts } from './report.ts';
import { SWEEP } from './sweep-part.ts';

/** Adult's rows, as its authors split them, and its columns for networks. */
const ADULT = { rows: 32_561, test_rows: 16_281, columns: 42 } as const;

/** Networks of benchmark B11, and the fewest runs whose median counts. */
const [ETAS, FEWEST_SEEDS] = [64, 3];

/** What a check was asked for, and what came of it. */
export interface Findings {
  readonly options: Pick<CheckOptions, 'quick' | 'parts' | 'etas' | 'seeds'>;
  readonly device: Pick<DeviceFigures, 'backend' | 'is_software'>;
  readonly parts: Parts;
}

/**
 * Whether our own times may be quoted as benchmark B11: every part asked for, all of its work on all the data, at least
 * three seeds, a GPU that is hardware, no part broken off (what was still under way would have slowed the next), and
 * networks that have learned.
 */
export function isB11({ options, device, parts }: Findings): boolean {
  if (options.quick || device.is_software || (device.backend !== 'webgpu' && device.backend !== 'node-gpu'))
    return false;
  if (options.etas !== ETAS || new Set(options.seeds).size < FEWEST_SEEDS) return false;
  if (!PART_NAMES.every((name) => options.parts.includes(name))) return false;
  const own = PART_NAMES.filter((name) => name !== 'peer').map((name) => parts[name]);
  if (!own.every((part) => part !== undefined && part.figures !== null && !part.timed_out)) return false;
  return parts.sweep?.passes === true && isWholeWork(parts);
}

/** Whether a report of these findings is a measurement: {@link isB11}, with the loop's part over as well. */
export function isMeasurement(findings: Findings): boolean {
  return findings.parts.peer !== undefined && isB11(findings);
}

function isWholeWork({ sweep }: Parts): boolean {
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
