import { type WatchedBackend, watchErrors } from './device-errors.ts';
import { thisHost } from './diagnosis/this-host.ts';
import { UnavailableBackend } from './diagnosis/unavailable.ts';
import { missingHardware } from './diagnosis/vulkan.ts';

/** The parts of WebGPU's buffers that are needed to end cleanly. */
interface Buffer {
  unmap(): void;
}

interface BufferClass {
  readonly prototype: { mapAsync: (...options: unknown[]) => Promise<unknown> };
}

interface Device {
  destroy(): void;
}

/** Buffers that the host waits for. */
const awaited = new Set<Buffer>();

/** Classes whose reads are noted already. */
const watched = new WeakSet();

/** Devices that may be at work. */
const devices = new Set<Device>();

/**
 * Notes what is read from devices, so that a thread that ends meanwhile lets go
 * of it: Dawn aborts the whole process over a promise that is left open.
 */
function watchReads({ prototype }: BufferClass): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  const mapAsync = prototype.mapAsync;
  prototype.mapAsync = function (this: Buffer, ...options: unknown[]) {
    const mapped = mapAsync.apply(this, options);
    const forget = (): void => {
      awaited.delete(this);
    };
    awaited.add(this);
    mapped.then(forget, forget);
    return mapped;
  };
  process.on('exit', letGo);
}

/** Has a device stop before the process ends: a driver that still computes while it is unloaded crashes. */
function stopAtExit(device: Device): void {
  devices.add(device);
}

function letGo(): void {
  for (const buffer of awaited) buffer.unmap();
  for (const device of devices) device.destroy();
}

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

/** The part of TensorFlow.js that keeps backends. */
interface Registry {
  findBackendFactory(name: string): unknown;
  removeBackend(name: string): void;
  registerBackend(name: string, factory: () => Promise<never>, priority: number): boolean;
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

/** Dawn as it was started: its object must last as long as its devices, lost ones too. */
let running: Gpu | undefined;
let seeking: Promise<FoundAdapter> | undefined;
let opened: Adapter | undefined;

/** The drivers that were named when it was looked for last, and whether that found any. */
let soughtIn: string | undefined;
let isFound = false;

/** Whether the backend that TensorFlow.js keeps has lost its device. */
let isLost = false;

/** Why TensorFlow.js got no fresh device, which it keeps to itself. */
let refusal: unknown;

/** The WebGPU backend's place among those that TensorFlow.js would choose from by itself. */
const PRIORITY = 3;

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

/**
 * Looks after the device that TensorFlow.js took: its errors come out, and it stops when the process ends.
 * @param onLost called when the device is lost, once
 */
export function lookAfterDevice(backend: object, onLost: () => void): void {
  const watched = backend as WatchedBackend & { readonly device: Parameters<typeof stopAtExit>[0] };
  stopAtExit(watched.device);
  watchErrors(watched, {
    adapter: webGpuAdapter() ?? 'of an unknown adapter',
    onLost: () => {
      seeking = undefined;
      isFound = false;
      opened = undefined;
      isLost = true;
      onLost();
    },
  });
}

/** Has TensorFlow.js take a fresh device at its next start, if it lost the one it has. */
export function replaceLostDevice(tf: Registry): void {
  const factory = tf.findBackendFactory('webgpu') as (() => Promise<never>) | null;
  if (!isLost || factory === null) return;
  isLost = false;
  tf.removeBackend('webgpu');
  const start = async (): Promise<never> => {
    refusal = undefined;
    try {
      return await factory();
    } catch (error) {
      refusal = error;
      throw error;
    }
  };
  tf.registerBackend('webgpu', start, PRIORITY);
}

/** Why there is no fresh device for a lost one, as the end of a sentence; empty where that is not known. */
export function whyNoDevice(): string {
  return refusal instanceof Error ? `: ${refusal.message}` : '';
}

/**
 * Looks once; where nothing was found, again when other drivers are named. Dawn complains on stderr each time it finds a
 * driver that does not work.
 */
async function seek(): Promise<FoundAdapter> {
  const { VK_DRIVER_FILES: files, VK_ICD_FILENAMES: older } = process.env;
  const drivers = JSON.stringify([files, older]);
  if (soughtIn !== drivers && !isFound) seeking = undefined;
  soughtIn = drivers;
  seeking ??= findAdapter();
  const found = await seeking;
  isFound = true;
  return found;
}

async function findAdapter(): Promise<FoundAdapter> {
  const { create, globals } = (await import('webgpu')) as unknown as DawnModule;
  const gpu = running ?? create([]);
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
      running = gpu;
      Object.assign(globalThis, globals);
      exposeToTensorflow(gpu);
      watchReads(globals.GPUBuffer);
    },
  };
}

/** Puts a GPU where TensorFlow.js looks for it: on the navigator, which Node has from version 21 on. */
function exposeToTensorflow(gpu: Gpu): void {
  const { navigator } = globalThis as { readonly navigator?: object };
  if (navigator !== undefined) Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });
  else Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });
}
