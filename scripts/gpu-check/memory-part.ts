import { countReads, type Tf, onDeviceAlone } from '../../src/tensor/index.ts';
import { type SweepOptions, sweepPareto } from '../../src/training/index.ts';
import { type Adult, sweepSource } from './adult.ts';
import { askNvidia } from './nvidia.ts';
import type { MemoryFigures } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';
import { watchKernels } from './watch-kernels.ts';

/** The most reads of the device that one epoch may take. */
const MAX_READS = 1;

/** Epochs of the two sweeps whose difference tells what an epoch takes. */
const EPOCHS = [2, 5] as const;

/** What WebGPU's backend tells besides. */
interface DeviceMemory {
  readonly numBytes: number;
  readonly numBytesInGPU?: number;
  readonly numBytesAllocatedInGPU?: number;
}

/**
 * What a sweep leaves on the device, takes at its peak, and reads from it in an epoch.
 * @param hasCard whether the card that nvidia-smi tells of is the device computed on
 */
export async function measureMemory(
  tf: Tf,
  adult: Adult,
  options: SweepOptions,
  hasCard: boolean,
): Promise<Found<MemoryFigures>> {
  // WebGPU's backend computes on the host what never left it, and its looking at that would count as a reading.
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
      perEpoch <= MAX_READS ? null : `${String(perEpoch)} reads of the device in an epoch`,
    ]),
  };
}
