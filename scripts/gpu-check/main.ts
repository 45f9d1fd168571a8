/**
 * Shows what evenhand does on this machine's GPU, in one short run; see docs/gpu/README.md.
 *
 *     scripts/gpu-check.sh --data DIR
 */
import path from 'node:path';

import { VERSION } from '../../src/internal/version.ts';
import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { type Adult, encodeAdult, IS_PACK, readAdult } from './adult.ts';
import { checkAgreement } from './agreement-part.ts';
import { askDoctor, type ChosenDevice, NoGpuError, slugOf, startDevice } from './device.ts';
import { measureMemory } from './memory-part.ts';
import { checkOps } from './numerics-part.ts';
import { type CheckOptions, HELP, readOptions, UsageError } from './options.ts';
import { profileTraining } from './profile-part.ts';
import type { GpuReport, PartFigures, PartName, PartReport, Parts } from './report.ts';
import { type Found, runPart } from './run-part.ts';
import { summarize } from './summary.ts';
import { etasOf, measureSweep, SWEEP } from './sweep-part.ts';

/** The most seconds that each part may take. */
const LIMITS: Readonly<Record<PartName, number>> = {
  doctor: 90,
  numerics: 180,
  gradients: 180,
  sweep: 420,
  memory: 120,
  profile: 120,
};

/** The most seconds of the loop in PyTorch. */
const PEER_LIMIT = 300;

/** What is cut down where the work is. */
const QUICK = { etas: 2, seeds: [1], cut: { epochs: 2, batchSize: 256, hidden: [8] } } as const;

/** Seconds since the beginning. */
const elapsed = (): number => Number((performance.now() / 1000).toFixed(1));

const note = (line: string): void => {
  console.log(`${elapsed().toFixed(1).padStart(6)} s  ${line}`);
};

/** Runs the parts asked for on a device, one after another, and writes the report after each. */
async function check(options: CheckOptions, doctor: PartReport<PartFigures['doctor']>, device: ChosenDevice) {
  const { quick } = options;
  const isMeasurement = device.isGpu && !device.figures.is_software && !quick;
  const out = options.out ?? defaultPlace(device.figures.name, isMeasurement);
  const wanted = options.parts.filter((name) => name !== 'doctor');
  const needsData = wanted.some((name) => name !== 'numerics');
  const adult = needsData ? await readAdult(options.data, quick) : undefined;
  let parts: Parts = { doctor };
  let report = makeReport();

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
      is_measurement: isMeasurement,
      complete,
      parts,
      passes: complete && Object.values(parts).every(({ passes }) => passes),
    };
  }
  for (const name of wanted) {
    note(`${name} ...`);
    const part = await runPart(LIMITS[name], partWork(name, { options, device, adult, isMeasurement }));
    parts = { ...parts, [name]: part };
    note(`${name} ${part.passes ? 'ok' : `FAIL: ${part.reason ?? ''}`}`);
    report = makeReport();
    await writeFileAtomic(out, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  if (wanted.length === 0) await writeFileAtomic(out, `${JSON.stringify(report, undefined, 2)}\n`);
  return { report, out };
}

/** What a part needs. */
interface Surroundings {
  readonly options: CheckOptions;
  readonly device: ChosenDevice;
  readonly adult: Adult | undefined;
  readonly isMeasurement: boolean;
}

/** The work of a part, ready to run. */
function partWork(
  name: Exclude<PartName, 'doctor'>,
  surroundings: Surroundings,
): (signal: AbortSignal) => Promise<Found<unknown>> {
  const { options, device, adult, isMeasurement } = surroundings;
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
    sweep: (signal) =>
      measureSweep(adult, rows, {
        ...{ backend, etas, seeds, cut, isMeasurement, note, signal, isQuick: quick },
        peer: {
          isWanted: options.peer,
          python: options.python,
          device: device.isGpu && !device.figures.is_software ? 'cuda' : 'cpu',
          limitSeconds: PEER_LIMIT,
        },
      }),
    memory: (signal) => measureMemory(tf, adult, { ...sweep, signal }),
    profile: (signal) => profileTraining(tf, adult, { ...sweep, signal }, rows.train.y.length),
  };
  return works[name];
}

/** Only a measurement has a place among the documents. */
function defaultPlace(name: string, isMeasurement: boolean): string {
  if (IS_PACK || !isMeasurement) return 'gpu-check.json';
  return path.resolve(import.meta.dirname, '../../docs/gpu', `${slugOf(name)}.json`);
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
  const { report, out } = await check(options, doctor, device);
  console.log(`\n${summarize(report)}\nWrote ${out}`);
  return report.passes ? 0 : 1;
}

/** Exit codes of errors: a wrong use and a missing GPU are none of the machine's failures. */
function codeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof NoGpuError ? 3 : 1;
}

// Ended by a signal, no program that was started stays behind.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = codeOf(error);
}
