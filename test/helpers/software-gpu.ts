import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';

import { diagnose } from '../../src/tensor/diagnosis/diagnose.ts';
import { thisHost } from '../../src/tensor/diagnosis/this-host.ts';
import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { hasPackage } from './peers.ts';

/** The environment with which Vulkan has a driver that needs no hardware. */
export interface SoftwareGpuEnv {
  readonly VK_DRIVER_FILES: string;
}

/** The paths of the driver manifests of Debian's Chromium and Mesa. */
const MANIFESTS = ['/usr/lib/chromium/vk_swiftshader_icd.json', ...mesaManifests()];

/** The folders of the loader, for systems whose `ldconfig` does not list it. */
const LOADER_FOLDERS = ['/usr/lib', '/usr/lib64', '/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/usr/local/lib'];

/** The time limit for the start of Dawn, which takes a second, or longer on a busy machine. */
const START_LIMIT_MILLIS = 60_000;

/**
 * Returns the environment variables with which a process computes on a software GPU; null if there is none.
 * EVENHAND_SOFTWARE_VULKAN names the manifest of another driver.
 */
export function softwareGpuEnv(): SoftwareGpuEnv | null {
  const found = findSoftwareGpu();
  return typeof found === 'string' ? null : found;
}

/** Returns the environment, or a text that says what is missing. */
function findSoftwareGpu(): SoftwareGpuEnv | string {
  if (process.platform !== 'linux') return 'it is only available on Linux';
  if (!hasPackage('webgpu')) return "the package 'webgpu' is missing; run `npm run peers`";
  const named = process.env['EVENHAND_SOFTWARE_VULKAN'];
  const manifest = (named === undefined ? MANIFESTS : [named]).find((file) => existsSync(file));
  if (manifest === undefined) {
    return named === undefined
      ? `no driver: none of ${MANIFESTS.join(', ')}, and EVENHAND_SOFTWARE_VULKAN is not set; install chromium`
      : `no driver: EVENHAND_SOFTWARE_VULKAN names '${named}', which does not exist`;
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
  // If the program does not exist, there is no output, although the type says otherwise.
  return (
    ((stdout as string | null) ?? '').includes(name) ||
    LOADER_FOLDERS.some((folder) => existsSync(path.join(folder, name)))
  );
}

/**
 * Describes a suite that computes on the backend `webgpu` with a software GPU, in this process. Without a software GPU
 * it is skipped with the reason, or fails with EVENHAND_REQUIRE_SOFTWARE_GPU=1.
 *
 * The driver variable is set only until the first such suite has started Dawn. Dawn then stays until the process ends.
 * After the suite, `navigator` is removed if it did not exist before, and the previous backend is active again, so that
 * all other tests run as they would without this suite. (The classes named GPU… stay on the global object, because
 * TensorFlow.js needs them in each operation.)
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
  // It computes on the CPU, so these suites take minutes.
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

/** The backends on which suites compute. */
export const TESTED_BACKENDS: readonly TensorBackend[] = ['cpu', 'wasm', 'webgpu', 'node'];

/**
 * Describes a suite on a backend; for `webgpu` like {@link describeOnSoftwareGpu}. For `node` it is skipped if
 * TensorFlow's native library is not installed, or fails with EVENHAND_REQUIRE_NATIVE=1.
 */
export function describeOn(backend: TensorBackend, title: string, body: () => void): void {
  if (backend === 'webgpu') describeOnSoftwareGpu(title, body);
  else if (backend === 'node') describeOnNative(title, body);
  else describe(title, body);
}

function describeOnNative(title: string, body: () => void): void {
  describe(`${title} @slow`, () => {
    const [missing] = diagnose('node', thisHost());
    if (missing !== undefined) {
      it(`needs the native backend (\`npx evenhand backend install node\`): ${missing.what}`, function () {
        if (process.env['EVENHAND_REQUIRE_NATIVE'] === '1') throw new Error(missing.what);
        this.skip();
      });
      return;
    }
    let restore: (() => Promise<void>) | undefined;
    before('load the native library', async function () {
      this.timeout(START_LIMIT_MILLIS);
      restore = keepSurroundings();
      await loadTensorflow({ backend: 'node' });
    });
    after('restore the backend', async () => {
      await restore?.();
    });
    body();
  });
}

/** The cached result of the search. */
let found: SoftwareGpuEnv | string | undefined;

/** References to objects that Dawn's devices need. If they were garbage collected, the next operation would crash. */
const held: unknown[] = [];

function useSoftwareGpu({ VK_DRIVER_FILES: manifest }: SoftwareGpuEnv): void {
  let restore: (() => Promise<void>) | undefined;
  before('start the software GPU', async function () {
    this.timeout(START_LIMIT_MILLIS);
    restore = keepSurroundings();
    process.env['VK_DRIVER_FILES'] = manifest;
    await loadTensorflow({ backend: 'webgpu' });
    held.push((globalThis as { navigator?: { gpu?: unknown } }).navigator?.gpu);
  });
  after('restore the environment', async () => {
    await restore?.();
  });
}

/** Records what a software GPU changes in the process; returns a function that restores it. */
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

/** Returns the active backend; wasm if there is none, because a query would start one. */
function activeBackend(): TensorBackend {
  const name = (tf.engine() as { readonly backendName?: string }).backendName;
  return name === 'cpu' || name === 'webgpu' ? name : 'wasm';
}
