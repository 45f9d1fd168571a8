/**
 * Checks evenhand on this machine's GPU in one short run; see docs/gpu/README.md.
 *
 *     scripts/gpu-check.sh --data DIR
 */
import path from 'node:path';

import { VERSION } from '../../src/internal/version.ts';
import { type Adult, encodeAdult, IS_PACK, readAdult } from './adult.ts';
import { checkAgreement } from './agreement-part.ts';
import { askDoctor, type ChosenDevice, NoGpuError, slugOf, startDevice } from './device.ts';
import { measureMemory } from './memory-part.ts';
import { isB11, isMeasurement } from './measurement.ts';
import { checkOps } from './numerics-part.ts';
import { type CheckOptions, HELP, readOptions, UsageError } from './options.ts';
import { profileTraining } from './profile-part.ts';
import { measureLoop } from './peer-part.ts';
import type { GpuReport, PartFigures, PartName, PartReport, Parts } from './report.ts';
import { openReportFile } from './report-file.ts';
import { type Found, runPart } from './run-part.ts';
import { summarize } from './summary.ts';
import { etasOf, measureSweep, SWEEP } from './sweep-part.ts';

/** The time limit of each part in seconds. */
const LIMITS: Readonly<Record<PartName, number>> = {
  doctor: 90,
  numerics: 180,
  gradients: 180,
  sweep: 420,
  memory: 120,
  profile: 120,
  peer: 480,
};

/** The time limit of the PyTorch loop in seconds, and the number of its runs if they fit in it. */
const LOOP = { seconds: 420, runs: 3 } as const;

/** The time after which the complete run is ended from outside, and the part of it that is reserved for the end. */
const [ALL_SECONDS, SPARE_SECONDS] = [Number(process.env['EVENHAND_GPU_CHECK_SECONDS'] ?? 570), 15];

/** The reduced work with --quick. */
const QUICK = { etas: 2, seeds: [1], cut: { epochs: 2, batchSize: 256, hidden: [8] } } as const;

/** Returns the seconds since the start. */
const elapsed = (): number => Number((performance.now() / 1000).toFixed(1));

const note = (line: string): void => {
  console.log(`${elapsed().toFixed(1).padStart(6)} s  ${line}`);
};

/**
 * Runs the selected parts on a device one after another, and writes the report after each.
 * @throws {UsageError} if there is no data, or the report cannot be written at the start
 */
async function check(options: CheckOptions, doctor: PartReport<PartFigures['doctor']>, device: ChosenDevice) {
  const { quick } = options;
  const file = openReportFile((report) => options.out ?? defaultPlace(report));
  const wanted = options.parts.filter((name) => name !== 'doctor');
  const needsData = wanted.some((name) => name !== 'numerics');
  const adult = needsData ? await readAdult(options.data, quick) : undefined;
  let parts: Parts = { doctor };

  function makeReport(): GpuReport {
    const complete = options.parts.every((name) => parts[name] !== undefined);
    return {
      schema: 1,
      version: VERSION,
      date: options.date,
      device: device.figures,
      node: process.versions.node,
      duration_s: elapsed(),
      quick,
      is_measurement: isMeasurement({ options, device: device.figures, parts }),
      complete,
      parts,
      passes: complete && Object.values(parts).every(({ passes }) => passes),
    };
  }
  // Fail before minutes of work if nothing can be written.
  let out = await file.write(makeReport()).catch((cause: unknown) => {
    throw new UsageError(`the JSON cannot be written, see --out: ${(cause as Error).message}`);
  });
  let unwritten: string | null = null;
  for (const name of wanted) {
    note(`${name} ...`);
    const part = await runPart(LIMITS[name], partWork(name, { options, device, adult, parts }));
    parts = { ...parts, [name]: part };
    note(`${name} ${part.passes ? 'ok' : `FAIL: ${part.reason ?? ''}`}`);
    try {
      out = await file.write(makeReport());
      unwritten = null;
    } catch (cause) {
      unwritten = (cause as Error).message;
      note(`the JSON cannot be written: ${unwritten}`);
    }
  }
  return { report: makeReport(), out, unwritten };
}

/** The inputs of a part. */
interface Surroundings {
  readonly options: CheckOptions;
  readonly device: ChosenDevice;
  readonly adult: Adult | undefined;
  /** The results so far. */
  readonly parts: Parts;
}

/** Returns the work of a part, ready to run. */
function partWork(
  name: Exclude<PartName, 'doctor'>,
  surroundings: Surroundings,
): (signal: AbortSignal) => Promise<Found<unknown>> {
  const { options, device, adult, parts } = surroundings;
  const { tf, backend } = device;
  if (name === 'numerics') return () => checkOps(tf);
  if (adult === undefined) throw new UsageError(`the part ${name} needs --data`);
  const { quick } = options;
  const { etas, seeds, cut } = quick ? QUICK : { etas: options.etas, seeds: options.seeds, cut: {} };
  const [seed = 1] = seeds;
  const work = { ...SWEEP, ...cut, seed };
  const rows = encodeAdult(adult, seed);
  const sweep = { ...work, etas: etasOf(etas), backend, threads: 1 };
  const works: Readonly<Record<typeof name, (signal: AbortSignal) => Promise<Found<unknown>>>> = {
    gradients: () => checkAgreement(backend, rows, work),
    sweep: (signal) => measureSweep(adult, rows, { backend, etas, seeds, cut, note, signal, isQuick: quick }),
    memory: (signal) => measureMemory(tf, adult, { ...sweep, signal }, device.figures.driver !== null),
    profile: (signal) => profileTraining(tf, adult, { ...sweep, signal }, rows.train.y.length),
    // Last, so that a slow or hanging loop does not affect evenhand's own figures.
    peer: (signal) =>
      measureLoop(rows, {
        work: sweep,
        choice: {
          isWanted: options.peer,
          python: options.python,
          device: device.isGpu && !device.figures.is_software ? 'cuda' : 'cpu',
          runs: quick ? 1 : LOOP.runs,
          limitSeconds: Math.min(LOOP.seconds, ALL_SECONDS - SPARE_SECONDS - elapsed()),
          signal,
        },
        device: device.figures,
        sweep: parts.sweep?.figures ?? null,
        isB11: isB11({ options, device: device.figures, parts }),
        isQuick: quick,
        note,
      }),
  };
  return works[name];
}

/** Returns the default path of a report. Only measurements are stored in the documentation. */
function defaultPlace(report: GpuReport): string {
  if (IS_PACK || !report.is_measurement) return 'gpu-check.json';
  return path.resolve(import.meta.dirname, '../../docs/gpu', `${slugOf(report.device.name)}.json`);
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), new Date().toISOString().slice(0, 10));
  if (options === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  note('doctor ...');
  const doctor = await runPart(LIMITS.doctor, async () => ({ figures: await askDoctor(), reason: null }));
  if (doctor.figures === null) throw new Error(`doctor failed: ${doctor.reason ?? ''}`);
  const device = await startDevice(doctor.figures, options);
  note(`device: ${device.figures.name} (${device.backend})`);
  const { report, out, unwritten } = await check(options, doctor, device);
  console.log(`\n${summarize(report)}`);
  console.log(unwritten === null ? `Wrote ${out}` : `The report could not be written completely: ${unwritten}`);
  return report.passes && unwritten === null ? 0 : 1;
}

/** Returns the exit code of an error. Usage errors and a missing GPU are not failures of a check. */
function codeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof NoGpuError ? 3 : 1;
}

// Exit on a signal, so that started programs are ended too.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = codeOf(error);
}
