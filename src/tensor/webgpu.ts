import { missingHardware } from './diagnosis/vulkan.ts';
import { thisHost } from './diagnosis/this-host.ts';
import { UnavailableBackend } from './diagnosis/unavailable.ts';
import { stopAtExit, watchReads } from './webgpu-exit.ts';

/** The parts of the `webgpu` package (Dawn for Node) that are used. */
interface DawnModule {
  readonly create: (options: readonly string[]) => Gpu;
  readonly globals: Record<string, unknown> & { readonly GPUBuffer: Parameters<typeof watchReads>[0] };
}

interface Gpu {
  requestAdapter(options?: { readonly powerPreference: 'high-performance' }): Promise<GpuAdapter | null>;
}

interface GpuAdapter {
  readonly info: {
    readonly vendor: string;
    readonly device: string;
    readonly description: string;
    readonly isFallbackAdapter?: boolean;
  };
}

/** What WebGPU computes on. */
interface Adapter {
  /** In words: "nvidia NVIDIA A100 …". */
  readonly name: string;
  /** Whether it is a program on the processor, with no hardware behind it. */
  readonly isSoftware: boolean;
}

/** An adapter, and the way to put it where TensorFlow.js looks for it. */
interface FoundAdapter extends Adapter {
  readonly open: () => void;
}

/** Drivers that compute on the processor, should Dawn not say so of them. */
const SOFTWARE_DRIVERS = /swiftshader|llvmpipe|lavapipe|basic render/i;

let seeking: Promise<FoundAdapter> | undefined;
let opened: Adapter | undefined;

/** The open WebGPU adapter, in words; null where none is open. */
export function webGpuAdapter(): string | null {
  if (opened === undefined) return null;
  return opened.isSoftware ? `${opened.name}, software` : opened.name;
}

/**
 * Tells whether WebGPU has something to compute on, and changes nothing else.
 * @param allowSoftware whether an adapter without hardware will do
 * @throws {UnavailableBackend} where there is no adapter, or only a software one
 */
export async function seekWebGpu(allowSoftware: boolean): Promise<void> {
  const { name, isSoftware } = await seek();
  if (!isSoftware || allowSoftware) return;
  const what = `the only adapter is a software one (${name}), which is used only when webgpu is named`;
  throw new UnavailableBackend([missingHardware(thisHost(), what)]);
}

/** Puts Dawn's WebGPU on the global object, where TensorFlow.js looks for it. */
export async function openWebGpu(): Promise<void> {
  const { open, name, isSoftware } = await seek();
  open();
  opened = { name, isSoftware };
}

/** Has the device that TensorFlow.js took stop when the process ends. */
export function endWithProcess(backend: object): void {
  const { device } = backend as { readonly device?: Parameters<typeof stopAtExit>[0] };
  if (device !== undefined) stopAtExit(device);
}

/** Looks once; again where nothing was found, since a driver may be named meanwhile. */
async function seek(): Promise<FoundAdapter> {
  seeking ??= findAdapter();
  try {
    return await seeking;
  } catch (error) {
    seeking = undefined;
    throw error;
  }
}

async function findAdapter(): Promise<FoundAdapter> {
  const dawn = (await import('webgpu')) as unknown as DawnModule;
  const gpu = dawn.create([]);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) {
    throw new UnavailableBackend([missingHardware(thisHost(), 'no adapter: the drivers that are here offer none')]);
  }
  const { description, device, vendor, isFallbackAdapter } = adapter.info;
  const name = [vendor, device, description].filter((part) => part !== '').join(' ');
  return {
    name,
    isSoftware: isFallbackAdapter === true || SOFTWARE_DRIVERS.test(name),
    open: () => {
      Object.assign(globalThis, dawn.globals);
      Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });
      watchReads(dawn.globals.GPUBuffer);
    },
  };
}
