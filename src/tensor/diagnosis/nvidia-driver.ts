import { findLibrary, outsideSearch } from './find-library.ts';
import { type Host, joinOn, type MissingPart } from './host.ts';

const VERSION_FILE = '/proc/driver/nvidia/version';
const LIBRARY = 'libcuda.so.1';

/** The oldest driver that supports a version of CUDA, according to NVIDIA's compatibility table. */
const OLDEST_DRIVER = {
  linux: { 11: '450.80.02', 12: '525.60.13' },
  win32: { 11: '452.39', 12: '528.33' },
} as const;

/** A version of CUDA that a driver must support. */
export type CudaVersion = keyof (typeof OLDEST_DRIVER)['linux'];

const IN_A_CONTAINER = 'In a container, give it the GPU (with the NVIDIA Container Toolkit):';
const DOCKER_RUN = 'docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics …';

/** Returns whether the machine has an NVIDIA device, based on the driver's files. */
export function hasNvidiaGpu(host: Host): boolean {
  if (host.platform === 'win32') return host.exists(windowsLibrary(host));
  return host.exists(VERSION_FILE) || hasDeviceFile(host) || isUnderWindows(host);
}

/** Returns the names of the NVIDIA GPUs that the driver reports; an empty list if the driver reports no GPU. */
export function nvidiaModels(host: Host): readonly string[] {
  const folder = '/proc/driver/nvidia/gpus';
  return host.listFolder(folder).flatMap((name) => {
    const model = /^Model:\s*(.+?)\s*$/m.exec(host.readFile(`${folder}/${name}/information`) ?? '')?.[1];
    return model === undefined ? [] : [model];
  });
}

/**
 * Returns the version of the loaded NVIDIA driver, for example "535.104.05"; null if no driver is loaded or its
 * version is unknown.
 */
export function driverVersion(host: Host): string | null {
  const text = host.readFile(VERSION_FILE) ?? '';
  return /Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)/.exec(text)?.[1] ?? null;
}

/**
 * Returns the missing parts of the NVIDIA driver that CUDA needs: the driver itself, a recent version, its library, or
 * a device file.
 */
export function missingOfDriver(host: Host, cuda: CudaVersion): readonly MissingPart[] {
  const ofDriver = host.platform === 'win32' ? missingOnWindows(host, cuda) : missingOnLinux(host, cuda);
  const hidden = host.env['CUDA_VISIBLE_DEVICES'];
  if (hidden !== '' && hidden !== '-1') return ofDriver;
  const what = `CUDA_VISIBLE_DEVICES is '${hidden}', which hides every GPU from CUDA`;
  return [
    ...ofDriver,
    { what, mend: 'Set it to the devices to use, or remove it to use all devices:\nunset CUDA_VISIBLE_DEVICES' },
  ];
}

function missingOnLinux(host: Host, cuda: CudaVersion): readonly MissingPart[] {
  if (isUnderWindows(host)) return [];
  const version = driverVersion(host);
  const oldest = OLDEST_DRIVER.linux[cuda];
  if (!host.exists(VERSION_FILE)) return [noDriver(host, oldest)];
  if (version !== null && isOlder(version, oldest)) {
    const what = `the NVIDIA driver is ${version}, and CUDA ${String(cuda)} needs ${oldest} or newer`;
    const fix = `Update the NVIDIA driver to ${oldest} or newer, and restart the machine.`;
    return [{ what, mend: fix }];
  }
  return [missingLibrary(host, version), missingDevice(host)].filter((part) => part !== null);
}

function noDriver(host: Host, oldest: string): MissingPart {
  const hasLibrary = findLibrary(host, LIBRARY) !== null;
  return {
    what: `no NVIDIA driver is loaded (no ${VERSION_FILE}${hasLibrary ? `, although ${LIBRARY} is installed` : ''})`,
    mend:
      `If the machine has an NVIDIA GPU, install its driver, ${oldest} or newer, and restart the ` +
      `machine. On Debian:\napt-get install nvidia-driver\n${IN_A_CONTAINER}\n${DOCKER_RUN}`,
  };
}

function missingLibrary(host: Host, version: string | null): MissingPart | null {
  if (findLibrary(host, LIBRARY) !== null) return outsideSearch(host, [LIBRARY]);
  return {
    what: `the NVIDIA driver${version === null ? '' : ` ${version}`} is loaded, but its library ${LIBRARY} was not found`,
    mend: `Install the library of the same driver version. On Debian:\napt-get install libcuda1\n${IN_A_CONTAINER}\n${DOCKER_RUN}`,
  };
}

function missingDevice(host: Host): MissingPart | null {
  if (hasDeviceFile(host)) return null;
  return {
    what: 'the NVIDIA driver is loaded, but there is no device (no /dev/nvidia0 or similar)',
    mend: `Check whether the driver finds the GPU:\nnvidia-smi\n${IN_A_CONTAINER}\n${DOCKER_RUN}`,
  };
}

function missingOnWindows(host: Host, cuda: CudaVersion): readonly MissingPart[] {
  if (host.exists(windowsLibrary(host))) return [];
  const fix = `If the machine has an NVIDIA GPU, install its driver, ${OLDEST_DRIVER.win32[cuda]} or newer.`;
  return [{ what: 'no NVIDIA driver is installed (no nvcuda.dll)', mend: fix }];
}

function windowsLibrary(host: Host): string {
  return joinOn(host, host.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'nvcuda.dll');
}

function hasDeviceFile(host: Host): boolean {
  return host.listFolder('/dev').some((name) => /^nvidia\d+$/.test(name));
}

/**
 * Returns whether Linux runs inside Windows (WSL). Under WSL, Linux accesses the Windows driver through a separate
 * device and library.
 */
function isUnderWindows(host: Host): boolean {
  return host.exists('/dev/dxg') && findLibrary(host, LIBRARY) !== null;
}

/** Returns whether a version is lower than another. Versions are compared number by number. */
function isOlder(version: string, other: string): boolean {
  const [numbers, others] = [version, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const position = others.findIndex((number, index) => number !== (numbers[index] ?? 0));
  return position !== -1 && (numbers[position] ?? 0) < (others[position] ?? 0);
}
