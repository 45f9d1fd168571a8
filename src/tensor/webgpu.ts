import { type WatchedBackend, watchErrors } from './device-errors.ts';
import { thisHost } from './diagnosis/this-host.ts';
import { UnavailableBackend } from './diagnosis/unavailable.ts';
import { missingHardware } from './diagnosis/vulkan.ts';

/** The parts of a WebGPU buffer that are needed to shut down cleanly. */
interface Buffer {
  unmap(): void;
}

interface BufferClass {
  readonly prototype: { mapAsync: (...options: unknown[]) => Promise<unknown> };
}

interface Device {
  destroy(): void;
}

/** The buffers that the host is waiting for. */
const awaited = new Set<Buffer>();

/** Classes of buffers whose reads are already tracked. */
const watched = new WeakSet();

/** Devices that may still be computing. */
const devices = new Set<Device>();

/**
 * Tracks reads from devices, so that a thread can release its pending reads when it exits. Otherwise, Dawn aborts the
 * whole process because of an unsettled promise.
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

/** Stops a device before the process ends. A driver crashes if it is unloaded while it still computes. */
function stopAtExit(device: Device): void {
  devices.add(device);
}

function letGo(): void {
  for (const buffer of awaited) buffer.unmap();
  for (const device of devices) device.destroy();
}

/** The parts of the `webgpu` package (Dawn for Node) that this module uses. */
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

/** The part of TensorFlow.js that registers backends. */
interface Registry {
  findBackendFactory(name: string): unknown;
  removeBackend(name: string): void;
  registerBackend(name: string, factory: () => Promise<never>, priority: number): boolean;
}

/** A WebGPU adapter. */
interface Adapter {
  /** A description, for example "nvidia NVIDIA A100 …". */
  readonly name: string;
  /** Whether the adapter is a software implementation that runs on the processor. */
  readonly isSoftware: boolean;
}

/** An adapter, with a function that makes it available to TensorFlow.js. */
interface FoundAdapter extends Adapter {
  readonly open: () => void;
}

/** Names of drivers that compute on the processor. Dawn may not report them as fallback adapters. */
const SOFTWARE_DRIVERS = /swiftshader|llvmpipe|lavapipe|basic render/i;

/** The running Dawn instance. The instance must outlive its devices, including lost devices. */
let running: Gpu | undefined;
let seeking: Promise<FoundAdapter> | undefined;
let opened: Adapter | undefined;

/**
 * The drivers that the environment variables listed at the latest search. `isFound` is true if a search has found an
 * adapter.
 */
let soughtIn: string | undefined;
let isFound = false;

/** Whether the WebGPU backend that is registered in TensorFlow.js has lost its device. */
let isLost = false;

/**
 * The error that prevented TensorFlow.js from getting a new device. TensorFlow.js itself does not report this error.
 */
let refusal: unknown;

/** The priority of the WebGPU backend if TensorFlow.js chooses a backend itself. */
const PRIORITY = 3;

/** Returns a description of the open WebGPU adapter; null if no adapter is open. */
export function webGpuAdapter(): string | null {
  if (opened === undefined) return null;
  return opened.isSoftware ? `${opened.name}, software` : opened.name;
}

/**
 * Checks whether WebGPU has an adapter, without side effects.
 * @param allowSoftware whether a software adapter is acceptable
 * @throws {UnavailableBackend} if there is no adapter, or only a software adapter that is not acceptable
 */
export async function seekWebGpu(allowSoftware: boolean): Promise<void> {
  const { name, isSoftware } = await seek();
  if (!isSoftware || allowSoftware) return;
  const what = `the only adapter is a software adapter (${name}), which is used only if webgpu is named explicitly`;
  throw new UnavailableBackend([missingHardware(thisHost(), what)]);
}

/** Installs Dawn's WebGPU on the global object, where TensorFlow.js expects it. */
export async function openWebGpu(): Promise<void> {
  const { open, name, isSoftware } = await seek();
  open();
  opened = { name, isSoftware };
}

/**
 * Watches the device of TensorFlow.js: converts failures of the device to errors, and stops the device when the process
 * ends.
 * @param onLost a function that is called once when the device is lost
 */
export function watchDevice(backend: object, onLost: () => void): void {
  const watched = backend as WatchedBackend & { readonly device: Parameters<typeof stopAtExit>[0] };
  stopAtExit(watched.device);
  watchErrors(watched, {
    adapter: webGpuAdapter() ?? 'unknown adapter',
    onLost: () => {
      seeking = undefined;
      isFound = false;
      opened = undefined;
      isLost = true;
      onLost();
    },
  });
}

/** Makes TensorFlow.js use a new device at its next start if the current device was lost. */
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

/**
 * Returns the reason why a lost device could not be replaced, as the end of a sentence; empty if the reason is unknown.
 */
export function whyNoDevice(): string {
  return refusal instanceof Error ? `: ${refusal.message}` : '';
}

/**
 * Searches for an adapter once. If no adapter was found, the search is repeated only if the environment variables list
 * other drivers, because every search prints messages about broken drivers to stderr.
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
    throw new UnavailableBackend([missingHardware(thisHost(), 'no adapter: the installed drivers do not offer one')]);
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

/** Makes a GPU available to TensorFlow.js on the `navigator` object, which exists in Node 21 and later. */
function exposeToTensorflow(gpu: Gpu): void {
  const { navigator } = globalThis as { readonly navigator?: object };
  if (navigator !== undefined) Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });
  else Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });
}
