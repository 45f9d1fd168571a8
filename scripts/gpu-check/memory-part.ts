import { countReads, type Tf, onDeviceAlone } from '../../src/tensor/index.ts';
import { type SweepOptions, sweepPareto } from '../../src/training/index.ts';
import { type Adult, sweepSource } from './adult.ts';
import { askNvidia } from './nvidia.ts';
import type { MemoryFigures } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';
import { watchKernels } from './watch-kernels.ts';

/** The maximum number of reads from the device per epoch. */
const MAX_READS = 1;

/** The epochs of two sweeps, whose difference gives the values per epoch. */
const EPOCHS = [2, 5] as const;

/** Additional memory figures of the WebGPU backend. */
interface DeviceMemory {
  readonly numBytes: number;
  readonly numBytesInGPU?: number;
  readonly numBytesAllocatedInGPU?: number;
}

/**
 * Measures what a sweep leaves on the device, its peak memory, and its reads per epoch.
 * @param hasCard whether the card that nvidia-smi reports is the device in use
 */
export async function measureMemory(
  tf: Tf,
  adult: Adult,
  options: SweepOptions,
  hasCard: boolean,
): Promise<Found<MemoryFigures>> {
  // The WebGPU backend computes on the host what has not left it; that access would count as a read.
  const sweep = (epochs: number) =>
    onDeviceAlone(tf, () => countReads(tf, () => sweepPareto(sweepSource(adult), { ...options, epochs })));
  const before = tf.memory().numTensors;
  let [tensors, device, allocated] = [0, -1, -1];
  const short = await sweep(EPOCHS[0]);
  const long = await watchKernels(
    tf,
    () => {
      const memory = tf.memory() as DeviceMemory;
      tensors = Math.max(tensors, memory.numBytes);
      device = Math.max(device, memory.numBytesInGPU ?? -1);
      allocated = Math.max(allocated, memory.numBytesAllocatedInGPU ?? -1);
    },
    () => sweep(EPOCHS[1]),
  );
  const more = EPOCHS[1] - EPOCHS[0];
  const perEpoch = (long.reads - short.reads) / more;
  const leaked = tf.memory().numTensors - before;
  const figures = {
    tensors_leaked: leaked,
    peak_tensor_bytes: tensors,
    peak_device_bytes: device < 0 ? null : device,
    peak_allocated_bytes: allocated < 0 ? null : allocated,
    nvidia_used_mib: hasCard ? ((await askNvidia())?.used_mib ?? null) : null,
    reads_per_epoch: perEpoch,
    reads_besides: short.reads - perEpoch * EPOCHS[0],
    values_per_epoch: (long.values - short.values) / more,
  };
  return {
    figures,
    reason: joinReasons([
      leaked === 0 ? null : `${String(leaked)} tensors left behind`,
      perEpoch <= MAX_READS ? null : `${String(perEpoch)} reads from the device per epoch`,
    ]),
  };
}
