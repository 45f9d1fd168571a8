import { installCommand } from '../../internal/packages.ts';
import type { TensorBackend } from '../backend-names.ts';
import { missingOfCuda } from './cuda.ts';
import { type Host, joinOn, type MissingPart } from './host.ts';
import { cudaOfPackage, missingOfPackage } from './native-package.ts';
import { missingOfDriver } from './nvidia-driver.ts';
import { missingOfVulkan } from './vulkan.ts';

/**
 * Returns the parts that a backend needs but the machine does not have, in the order in which to fix them. The list is
 * empty if nothing is known to be missing. The function does not load any library. It only reads files and the dynamic
 * linker's cache.
 *
 * The driver comes before the packages of `node-gpu`, because the packages (400 MB) are useless without a driver.
 * @example
 * diagnose('webgpu', thisHost()); // [{ what: 'the Vulkan loader libvulkan.so.1 was not found', mend: … }]
 */
export function diagnose(backend: TensorBackend, host: Host): readonly MissingPart[] {
  return DIAGNOSES[backend](host);
}

const DIAGNOSES: Readonly<Record<TensorBackend, (host: Host) => readonly MissingPart[]>> = {
  'node-gpu': (host) =>
    unsupported(host, '@tensorflow/tfjs-node-gpu', ['linux-x64', 'win32-x64']) ?? [
      ...missingOfDriver(host, cudaOfPackage(host) === 'bundled' ? 12 : 11),
      ...missingOfPackage(host, '@tensorflow/tfjs-node-gpu'),
      ...missingOfCuda(host),
    ],
  webgpu: (host) =>
    unsupported(host, 'webgpu', [
      'linux-x64',
      'linux-arm64',
      'darwin-x64',
      'darwin-arm64',
      'win32-x64',
      'win32-arm64',
    ]) ?? [
      ...missingOfDawn(host),
      // Metal is part of macOS, and Direct3D 12 is part of Windows.
      ...(host.platform === 'linux' ? missingOfVulkan(host) : []),
    ],
  node: (host) =>
    unsupported(host, '@tensorflow/tfjs-node', [
      'linux-x64',
      'linux-arm64',
      'darwin-x64',
      'darwin-arm64',
      'win32-x64',
    ]) ?? missingOfPackage(host, '@tensorflow/tfjs-node'),
  wasm: () => [],
  cpu: () => [],
};

function unsupported(
  { platform, arch }: Host,
  name: string,
  supported: readonly string[],
): readonly MissingPart[] | null {
  const here = `${platform}-${arch}`;
  if (supported.includes(here)) return null;
  const what = `'${name}' has no build for ${here}, only for ${supported.join(', ')}`;
  return [{ what, mend: "Use another backend. 'evenhand doctor' shows which backends work." }];
}

function missingOfDawn(host: Host): readonly MissingPart[] {
  const packages = ['webgpu', '@tensorflow/tfjs-backend-webgpu'] as const;
  const absent = packages.filter((name) => host.resolvePackage(name) === null);
  if (absent.length > 0) {
    const names = absent.map((name) => `'${name}'`).join(' and ');
    const what = `the package${absent.length === 1 ? '' : 's'} ${names} ${absent.length === 1 ? 'is' : 'are'} not installed`;
    return [{ what, mend: `Install it with:\n${installCommand('webgpu')}` }];
  }
  const arch = host.platform === 'darwin' ? 'universal' : host.arch;
  const binary = joinOn(host, 'dist', `${host.platform}-${arch}`, 'dawn.node');
  if (host.exists(joinOn(host, host.resolvePackage('webgpu') ?? '', binary))) return [];
  const what = `the package 'webgpu' is incomplete (no ${binary})`;
  return [{ what, mend: `Reinstall it with:\n${installCommand('webgpu')}` }];
}
