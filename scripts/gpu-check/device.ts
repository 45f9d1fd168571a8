import { cpus } from 'node:os';

import { examine } from '../../src/integration/doctor.ts';
import { loadTensorflow, type TensorBackend, type Tf, webGpuAdapter } from '../../src/tensor/index.ts';
import { IS_PACK } from './adult.ts';
import { askNvidia } from './nvidia.ts';
import { type CheckOptions, UsageError } from './options.ts';
import type { DeviceFigures, DoctorFigures, NvidiaCard } from './report.ts';
import { isSameDevice } from './same-device.ts';

/** The device that the check uses. */
export interface ChosenDevice {
  readonly tf: Tf;
  readonly backend: TensorBackend;
  readonly isGpu: boolean;
  readonly figures: DeviceFigures;
}

/** No GPU of the requested kind was found. */
export class NoGpuError extends Error {}

/** Finds the backends that work here, as reported by doctor, and the card. */
export async function askDoctor(): Promise<DoctorFigures> {
  return { report: await examine(), nvidia: await askNvidia() };
}

/**
 * Starts the requested backend.
 * @param doctor the figures of doctor, which must run before a software GPU is opened
 * @throws {NoGpuError} if there is no GPU, with what is missing
 */
export async function startDevice(doctor: DoctorFigures, options: CheckOptions): Promise<ChosenDevice> {
  const { backend, isSoftware } = chooseBackend(doctor, options);
  const loaded = await loadTensorflow({ backend }).catch((cause: unknown) => {
    if (!isGpuBackend(backend)) throw cause;
    throw new NoGpuError(`No GPU was found.\n${describeMissing(doctor)}\n${(cause as Error).message}`);
  });
  const isGpu = isGpuBackend(backend);
  const adapter = backend === 'webgpu' ? webGpuAdapter() : null;
  const card = isGpu && !isSoftware ? cardComputedOn(backend, adapter, doctor.nvidia) : null;
  return {
    tf: loaded.tf,
    backend,
    isGpu,
    figures: {
      name: card?.name ?? adapter ?? cpus()[0]?.model.trim() ?? 'unknown',
      backend,
      adapter,
      driver: card?.driver ?? null,
      memory_mib: card?.memory_mib ?? null,
      is_software: isSoftware,
    },
  };
}

/** Returns the card that the driver reports, if it is the device in use. */
export function cardComputedOn(
  backend: TensorBackend,
  adapter: string | null,
  card: NvidiaCard | null,
): NvidiaCard | null {
  if (card === null || backend === 'node-gpu') return card;
  return adapter !== null && isSameDevice(card.name, adapter) ? card : null;
}

/** Returns the backend, and whether it is a software GPU, which must be requested by name. */
function chooseBackend(
  doctor: DoctorFigures,
  { backend, allowSoftware }: CheckOptions,
): { backend: TensorBackend; isSoftware: boolean } {
  if (IS_PACK && (backend === 'node-gpu' || backend === 'node')) {
    throw new UsageError(`${backend} needs a checkout; a pack supports webgpu, wasm and cpu`);
  }
  const { backends } = doctor.report;
  const works = (name: TensorBackend): boolean => backends.some((one) => one.name === name && one.available);
  if (backend !== 'auto' && (works(backend) || !isGpuBackend(backend))) return { backend, isSoftware: false };
  const first = backends.find(({ name, available }) => available && isGpuBackend(name));
  if (backend === 'auto' && first !== undefined) return { backend: first.name, isSoftware: false };
  if (allowSoftware && backend !== 'node-gpu') return { backend: 'webgpu', isSoftware: true };
  throw new NoGpuError(
    `No GPU was found.\n${describeMissing(doctor)}\n` +
      'Use --allow-software to accept a software GPU, or --backend wasm to check the CPU.',
  );
}

function isGpuBackend(name: TensorBackend): boolean {
  return name === 'node-gpu' || name === 'webgpu';
}

/** Returns what the GPU backends lack according to doctor, in the order in which to fix it. */
export function describeMissing({ report, nvidia }: DoctorFigures): string {
  const card =
    nvidia === null
      ? 'nvidia-smi: not found, or it reports no card'
      : `nvidia-smi: ${nvidia.name}, driver ${nvidia.driver}`;
  const lacks = report.backends
    .filter(({ name, available }) => isGpuBackend(name) && !available)
    .flatMap(({ name, reason, missing }) =>
      IS_PACK && name === 'node-gpu'
        ? ['node-gpu: not available in a pack; it needs a checkout']
        : [
            `${name}:`,
            ...(missing.length === 0 ? [`  ${reason ?? ''}`] : []),
            ...missing.flatMap(({ what, mend }) => [`  ${what}`, ...mend.split('\n').map((line) => `    ${line}`)]),
          ],
    );
  const advice = report.advice === null ? [] : [report.advice];
  return [card, ...lacks, ...advice].map((line) => `  ${line}`).join('\n');
}

/** Converts a device's name to a part of a file name: "nvidia-h100-80gb-hbm3". */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
