import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';

import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';

/** The environment under which Vulkan has a driver that needs no hardware. */
export interface SoftwareGpuEnv {
  readonly VK_DRIVER_FILES: string;
}

/** Where Debian's Chromium and Mesa put their drivers' manifests. */
const MANIFESTS = ['/usr/lib/chromium/vk_swiftshader_icd.json', ...mesaManifests()];

/** Where the loader is, on systems whose `ldconfig` does not say. */
const LOADER_FOLDERS = ['/usr/lib', '/usr/lib64', '/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/usr/local/lib'];

/** Dawn starts in a second, and in many where the machine is busy. */
const START_LIMIT_MILLIS = 60_000;

/**
 * What a process needs in its environment to compute on a GPU that is all
 * software; null where there is none. EVENHAND_SOFTWARE_VULKAN names another driver's manifest.
 */
export function softwareGpuEnv(): SoftwareGpuEnv | null {
  const found = findSoftwareGpu();
  return typeof found === 'string' ? null : found;
}

/** The environment, or what is missing, in words. */
function findSoftwareGpu(): SoftwareGpuEnv | string {
  if (process.platform !== 'linux') return 'one is known on Linux only';
  const named = process.env['EVENHAND_SOFTWARE_VULKAN'];
  const manifest = (named === undefined ? MANIFESTS : [named]).find((file) => existsSync(file));
  if (manifest === undefined) {
    return named === undefined
      ? `no driver: none of ${MANIFESTS.join(', ')}, and EVENHAND_SOFTWARE_VULKAN names none; install chromium`
      : `no driver: EVENHAND_SOFTWARE_VULKAN names '${named}', which is not there`;
  }
  return hasLoader() ? { VK_DRIVER_FILES: manifest } : 'no Vulkan loader, libvulkan.so.1; install libvulkan1';
}

function mesaManifests(): string[] {
  const folder = '/usr/share/vulkan/icd.d';
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^lvp_icd.*\.json$/.test(name));
  return names.sort().map((name) => path.join(folder, name));
}

function hasLoader(): boolean {
  const name = 'libvulkan.so.1';
  const { stdout } = spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8', timeout: 10_000 });
  // Without the program there is no output, whatever its type says.
  return (
    ((stdout as string | null) ?? '').includes(name) ||
    LOADER_FOLDERS.some((folder) => existsSync(path.join(folder, name)))
  );
}

/**
 * Describes a suite that computes on the backend `webgpu` of a software GPU, in
 * this process. Skipped with its reason where there is none; with
 * EVENHAND_REQUIRE_SOFTWARE_GPU=1 failing instead.
 *
 * The driver is named only until Dawn has started, which the first such suite
 * sees to; Dawn then stays, and ends with the process. After the suite there is
 * no `navigator` where there was none, and the backend that was active is active
 * again, so that thousands of other tests run as they would without this suite.
 * (The classes named GPU… stay on the global object: TensorFlow.js looks there at each work.)
 * @example
 * describeOnSoftwareGpu('sums on webgpu', () => {
 *   it('are right', async () => {
 *     const { tf } = await loadTensorflow({ backend: 'webgpu' });
 *     …
 *   });
 * });
 */
export function describeOnSoftwareGpu(title: string, body: () => void): void {
  found ??= findSoftwareGpu();
  const environment = found;
  // It computes on the processor's own cores, so that these suites take minutes.
  const slowTitle = `${title} @slow`;
  if (typeof environment === 'string') {
    describe(slowTitle, () => {
      it(`needs a software GPU: ${environment}`, function () {
        if (process.env['EVENHAND_REQUIRE_SOFTWARE_GPU'] === '1') {
          throw new Error(`EVENHAND_REQUIRE_SOFTWARE_GPU is 1, but there is none: ${environment}`);
        }
        this.skip();
      });
    });
    return;
  }
  describe(slowTitle, () => {
    useSoftwareGpu(environment);
    body();
  });
}

/** Describes a suite on a backend: on `webgpu` as {@link describeOnSoftwareGpu} does. */
export function describeOn(backend: TensorBackend, title: string, body: () => void): void {
  if (backend === 'webgpu') describeOnSoftwareGpu(title, body);
  else describe(title, body);
}

/** What was found, looked for once. */
let found: SoftwareGpuEnv | string | undefined;

/** What must live as long as Dawn's devices: with its object collected as garbage, the next work would crash the process. */
const held: unknown[] = [];

function useSoftwareGpu({ VK_DRIVER_FILES: manifest }: SoftwareGpuEnv): void {
  let restore: (() => Promise<void>) | undefined;
  before('the software GPU starts', async function () {
    this.timeout(START_LIMIT_MILLIS);
    restore = keepSurroundings();
    process.env['VK_DRIVER_FILES'] = manifest;
    await loadTensorflow({ backend: 'webgpu' });
    held.push((globalThis as { navigator?: { gpu?: unknown } }).navigator?.gpu);
  });
  after('the surroundings are as they were', async () => {
    await restore?.();
  });
}

/** Notes what a software GPU changes in the process; returns what undoes it. */
function keepSurroundings(): () => Promise<void> {
  const driver = process.env['VK_DRIVER_FILES'];
  const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const backend = activeBackend();
  return async () => {
    if (driver === undefined) delete process.env['VK_DRIVER_FILES'];
    else process.env['VK_DRIVER_FILES'] = driver;
    if (navigator === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', navigator);
    await loadTensorflow({ backend });
  };
}

/** The backend that is active; wasm where none is yet, since to ask would start one. */
function activeBackend(): TensorBackend {
  const name = (tf.engine() as { readonly backendName?: string }).backendName;
  return name === 'cpu' || name === 'webgpu' ? name : 'wasm';
}
