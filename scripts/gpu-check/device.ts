import { cpus } from 'node:os';

import { examine } from '../../src/integration/doctor.ts';
import { loadTensorflow, type TensorBackend, type Tf, webGpuAdapter } from '../../src/tensor/index.ts';
import { IS_PACK } from './adult.ts';
import { askNvidia } from './nvidia.ts';
import { type CheckOptions, UsageError } from './options.ts';
import type { DeviceFigures, DoctorFigures, NvidiaCard } from './report.ts';
import { isSameDevice } from './same-device.ts';

/** What the check computes on. */
export interface ChosenDevice {
  readonly tf: Tf;
  readonly backend: TensorBackend;
  readonly isGpu: boolean;
  readonly figures: DeviceFigures;
}

/** There is no GPU of the kind asked for. */
export class NoGpuError extends Error {}

/** Which backends work here, by their own account, and the card. */
export async function askDoctor(): Promise<DoctorFigures> {
  return { report: await examine(), nvidia: await askNvidia() };
}

/**
 * Starts the backend asked for.
 * @param doctor asked before a GPU of software could be open
 * @throws {NoGpuError} where there is no GPU, with what is missing
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

/** The card that the driver tells of, where it is what is computed on. */
export function cardComputedOn(
  backend: TensorBackend,
  adapter: string | null,
  card: NvidiaCard | null,
): NvidiaCard | null {
  if (card === null || backend === 'node-gpu') return card;
  return adapter !== null && isSameDevice(card.name, adapter) ? card : null;
}

/** What to compute on, and whether that is a GPU made of software: one that only a name opens. */
function chooseBackend(
  doctor: DoctorFigures,
  { backend, allowSoftware }: CheckOptions,
): { backend: TensorBackend; isSoftware: boolean } {
  if (IS_PACK && (backend === 'node-gpu' || backend === 'node')) {
    throw new UsageError(`${backend} is no part of a pack, which computes on webgpu, wasm or cpu; it needs a checkout`);
  }
  const { backends } = doctor.report;
  const works = (name: TensorBackend): boolean => backends.some((one) => one.name === name && one.available);
  if (backend !== 'auto' && (works(backend) || !isGpuBackend(backend))) return { backend, isSoftware: false };
  const first = backends.find(({ name, available }) => available && isGpuBackend(name));
  if (backend === 'auto' && first !== undefined) return { backend: first.name, isSoftware: false };
  if (allowSoftware && backend !== 'node-gpu') return { backend: 'webgpu', isSoftware: true };
  throw new NoGpuError(
    `No GPU was found.\n${describeMissing(doctor)}\n` +
      'With --allow-software a GPU made of software will do; --backend wasm checks the CPU.',
  );
}

function isGpuBackend(name: TensorBackend): boolean {
  return name === 'node-gpu' || name === 'webgpu';
}

/** What doctor says that the GPU's backends lack, in the order in which to mend it. */
export function describeMissing({ report, nvidia }: DoctorFigures): string {
  const card =
    nvidia === null
      ? 'nvidia-smi: not there, or it sees no card'
      : `nvidia-smi: ${nvidia.name}, driver ${nvidia.driver}`;
  const lacks = report.backends
    .filter(({ name, available }) => isGpuBackend(name) && !available)
    .flatMap(({ name, reason, missing }) =>
      IS_PACK && name === 'node-gpu'
        ? ['node-gpu: no part of a pack; it needs a checkout']
        : [
            `${name}:`,
            ...(missing.length === 0 ? [`  ${reason ?? ''}`] : []),
            ...missing.flatMap(({ what, mend }) => [`  ${what}`, ...mend.split('\n').map((line) => `    ${line}`)]),
          ],
    );
  const advice = report.advice === null ? [] : [report.advice];
  return [card, ...lacks, ...advice].map((line) => `  ${line}`).join('\n');
}

/** A device's name as part of a file's: "nvidia-h100-80gb-hbm3". */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
