import type { Tf } from '../../src/tensor/index.ts';
import { type SweepOptions, sweepPareto } from '../../src/training/index.ts';
import { type Adult, sweepSource } from './adult.ts';
import type { KernelFigures, ProfileFigures } from './report.ts';
import type { Found } from './run-part.ts';
import { watchKernels } from './watch-kernels.ts';

/** The epochs of two sweeps, whose difference gives the values per epoch. */
const EPOCHS = [1, 4] as const;

/** Kernel names with their number of runs or their duration. */
type Totals = ReadonlyMap<string, number>;

/**
 * Measures the kernels of one training step, and how an epoch's time is spent. The kernels of a step are the difference
 * between two sweeps of one epoch, of which one takes half as many steps. The times of an epoch are the difference
 * between two sweeps with more and fewer epochs. Work before and after training cancels out.
 * @param rows the number of training rows
 */
export async function profileTraining(
  tf: Tf,
  adult: Adult,
  options: SweepOptions & { readonly batchSize: number },
  rows: number,
): Promise<Found<ProfileFigures>> {
  const sweep = (own: SweepOptions) => sweepPareto(sweepSource(adult), { ...options, ...own });
  const stepsOf = (batchSize: number): number => Math.ceil(rows / batchSize);
  const { batchSize } = options;
  const short = await timeWaiting(tf, () => sweep({ epochs: EPOCHS[0] }));
  const long = await timeWaiting(tf, () => sweep({ epochs: EPOCHS[1] }));
  const more = EPOCHS[1] - EPOCHS[0];
  const epochMs = (long.millis - short.millis) / more;
  const awaitedMs = (long.awaited - short.awaited) / more;

  const steps = stepsOf(batchSize);
  const perStep = difference(
    await countKernels(tf, () => sweep({ epochs: 1 })),
    await countKernels(tf, () => sweep({ epochs: 1, batchSize: 2 * batchSize })),
    steps - stepsOf(2 * batchSize),
  );
  const times = await deviceTimes(tf, sweep, steps);
  const kernels = [...perStep]
    .filter(([, count]) => count !== 0)
    .map(([name, count]): KernelFigures => ({
      name,
      per_step: count,
      device_ms_per_step: informative(times?.get(name)),
    }))
    .sort((a, b) => b.per_step - a.per_step || (a.name < b.name ? -1 : 1));
  return {
    figures: {
      steps_per_epoch: steps,
      epoch_ms: epochMs,
      awaited_ms: awaitedMs,
      host_ms_per_step: (epochMs - awaitedMs) / steps,
      kernels_per_step: kernels.reduce((sum, { per_step: count }) => sum + count, 0),
      kernels,
    },
    reason: kernels.length === 0 ? 'no kernel was recorded' : null,
  };
}

/** Returns a time; null if it is missing or smaller than the noise of a difference. */
export function informative(millis: number | undefined): number | null {
  return millis !== undefined && millis >= 0 ? millis : null;
}

/** Measures how long work took, and how much of it the host waited for requested reads. */
async function timeWaiting(tf: Tf, work: () => Promise<unknown>): Promise<{ millis: number; awaited: number }> {
  const backend = tf.backend() as unknown as { read?: (dataId: object) => Promise<unknown> };
  const { read } = backend;
  // Reads may overlap: only the time with at least one pending read counts.
  let [underWay, since, awaited] = [0, 0, 0];
  backend.read = async (dataId) => {
    if (underWay++ === 0) since = performance.now();
    try {
      return await read?.call(backend, dataId);
    } finally {
      if (--underWay === 0) awaited += performance.now() - since;
    }
  };
  const start = performance.now();
  try {
    await work();
    return { millis: performance.now() - start, awaited };
  } finally {
    // Restores the method of the class.
    delete backend.read;
  }
}

async function countKernels(tf: Tf, work: () => Promise<unknown>): Promise<Totals> {
  const counts = new Map<string, number>();
  await watchKernels(tf, (name) => counts.set(name, (counts.get(name) ?? 0) + 1), work);
  return counts;
}

/**
 * Returns the milliseconds on the device of each kernel per step, including a step's share of the evaluation of an
 * epoch; undefined if the device reports no times.
 */
async function deviceTimes(
  tf: Tf,
  sweep: (own: SweepOptions) => Promise<unknown>,
  steps: number,
): Promise<Totals | undefined> {
  const backend = tf.backend() as { readonly supportTimestampQuery?: boolean };
  if (backend.supportTimestampQuery !== true) return undefined;
  const short = await timeKernels(tf, () => sweep({ epochs: 1 }));
  return difference(await timeKernels(tf, () => sweep({ epochs: 2 })), short, steps);
}

async function timeKernels(tf: Tf, work: () => Promise<unknown>): Promise<Totals> {
  const { state } = tf.engine() as unknown as { state: { activeProfile: { kernels: { name: string }[] } } };
  const named = (): Promise<unknown> =>
    watchKernels(
      tf,
      (name) => {
        // The profile lists kernels of this package under one common name.
        const last = state.activeProfile.kernels.at(-1);
        if (last !== undefined) last.name = name;
      },
      work,
    );
  const { kernels } = await tf.profile(named as () => Promise<never>);
  const totals = new Map<string, number>();
  for (const { name, kernelTimeMs } of kernels) {
    totals.set(name, (totals.get(name) ?? 0) + (typeof kernelTimeMs === 'number' ? kernelTimeMs : 0));
  }
  return totals;
}

/** Returns the values per step from totals that differ by a number of steps. */
function difference(many: Totals, few: Totals, steps: number): Totals {
  const names = new Set([...many.keys(), ...few.keys()]);
  return new Map([...names].map((name) => [name, ((many.get(name) ?? 0) - (few.get(name) ?? 0)) / steps]));
}
