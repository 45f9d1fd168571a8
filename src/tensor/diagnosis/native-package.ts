import { installCommand } from '../../internal/packages.ts';
import { type Host, joinOn, type MissingPart } from './host.ts';

/** A package that contains TensorFlow's native library. */
export type NativePackage = '@tensorflow/tfjs-node' | '@tensorflow/tfjs-node-gpu';

/** The version of TensorFlow's library that version 4.22 of these packages downloads. */
const LIBRARY_VERSION = '2.9.1';

/** The file name of TensorFlow's library in a package that `evenhand backend install` has built. */
const BUILT_LIBRARY = 'libtensorflow_cc.so.2';

const LIBRARY_FILES: Readonly<Record<string, readonly string[]>> = {
  linux: ['libtensorflow.so.2', `libtensorflow.so.${LIBRARY_VERSION}`, 'libtensorflow.so', BUILT_LIBRARY],
  darwin: ['libtensorflow.2.dylib', 'libtensorflow.dylib'],
  win32: ['tensorflow.dll'],
};

const SYSTEM_NAMES: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/**
 * Returns the missing parts of a native package: the package itself, or the files that its install step downloads.
 */
export function missingOfPackage(host: Host, name: NativePackage): readonly MissingPart[] {
  const folder = host.resolvePackage(name);
  if (folder === null) return [notInstalled(host, name)];
  const found = nameIn(host, folder);
  if (found !== name) {
    const what = `the package found as '${name}' is '${found ?? 'another'}', which has no native library`;
    return [{ what, mend: notInstalled(host, name).mend }];
  }
  const lacks = missingFile(host, folder);
  if (lacks === null) return [];
  const what = `'${name}' is installed, but its native library was not downloaded or unpacked (no ${lacks})`;
  return [{ what, mend: repeatInstall(host, name) }];
}

function notInstalled(host: Host, name: NativePackage): MissingPart {
  const fix = isBuildable(host, name) ? buildFix(name) : `Install it with:\n${installCommand(name)}`;
  return { what: `the package '${name}' is not installed`, mend: fix };
}

/** Returns whether `evenhand backend install` supports this machine. */
function isBuildable({ platform, arch }: Host, name: NativePackage): boolean {
  return platform === 'linux' && (arch === 'x64' || (arch === 'arm64' && name === '@tensorflow/tfjs-node'));
}

function buildFix(name: NativePackage): string {
  const isGpu = name === '@tensorflow/tfjs-node-gpu';
  const brings = isGpu ? 'brings the libraries of CUDA 12 and cuDNN 9' : 'needs a C++ compiler and pip';
  return `Build it against TensorFlow from PyPI, which ${brings}:\nnpx evenhand backend install ${isGpu ? 'node-gpu' : 'node'}`;
}

/**
 * Returns how the GPU package gets CUDA: `bundled` if CUDA 12 is part of the package, or `system` if the package needs
 * CUDA 11 on the machine. On Linux, the result is also `bundled` before the package is installed.
 */
export function cudaOfPackage(host: Host): 'bundled' | 'system' {
  const name = '@tensorflow/tfjs-node-gpu';
  if (!isBuildable(host, name)) return 'system';
  const folder = host.resolvePackage(name);
  if (folder === null || nameIn(host, folder) !== name) return 'bundled';
  const libraries = host.listFolder(joinOn(host, folder, 'deps', 'lib'));
  return libraries.length === 0 || libraries.includes(BUILT_LIBRARY) ? 'bundled' : 'system';
}

function nameIn(host: Host, folder: string): string | null {
  try {
    const { name } = JSON.parse(host.readFile(joinOn(host, folder, 'package.json')) ?? '{}') as { name?: unknown };
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}

/**
 * Returns the first missing file among the files that the package's install step downloads or builds; null if all files
 * exist.
 */
function missingFile(host: Host, folder: string): string | null {
  const libraries = LIBRARY_FILES[host.platform] ?? [];
  const isThere = (file: string): boolean => host.exists(joinOn(host, folder, 'deps', 'lib', file));
  if (!libraries.some(isThere)) return `deps/lib/${libraries[0] ?? 'libtensorflow'}`;
  const bindings = host.listFolder(joinOn(host, folder, 'lib')).filter((entry) => entry.startsWith('napi-v'));
  const hasBinding = bindings.some((entry) => host.exists(joinOn(host, folder, 'lib', entry, 'tfjs_binding.node')));
  return hasBinding ? null : 'lib/napi-v8/tfjs_binding.node';
}

/**
 * Matches linker messages about files that are broken or built for another machine. Reinstalling the package fixes
 * these errors.
 */
const BROKEN_FILE =
  /file too short|invalid ELF header|wrong ELF class|not a valid Win32|did not self-register|different Node\.js version|not a mach-o file|incompatible architecture/i;

/**
 * Returns the fix for a native library that exists but cannot be opened; null if the error has another cause.
 * @param error the text of the error and its stack, which contain the name of the package
 */
export function brokenLibrary(host: Host, error: string): MissingPart | null {
  if (!BROKEN_FILE.test(error)) return null;
  const what = `its native library is broken or built for another machine (${error.split('\n')[0] ?? ''})`;
  if (error.includes('dawn.node')) {
    const again = `Remove the folder node_modules/webgpu, because npm keeps existing files, and reinstall it with:`;
    return { what, mend: `${again}\n${installCommand('webgpu')}` };
  }
  const kind = /@tensorflow[\\/]tfjs-node(-gpu)?[\\/]/.exec(error);
  if (kind === null) return null;
  const name = kind[1] === undefined ? '@tensorflow/tfjs-node' : '@tensorflow/tfjs-node-gpu';
  const folder = host.resolvePackage(name) ?? `node_modules/${name}`;
  const folders = ['deps', 'lib/napi-v8'].map((inside) => joinOn(host, folder, inside));
  return {
    what,
    mend: `Remove the folders ${folders.join(' and ')}, because the install step keeps existing files, and rebuild the package. ${repeatInstall(host, name)}`,
  };
}

/** Describes how to repeat the install step, either directly or through a mirror. */
function repeatInstall(host: Host, name: NativePackage): string {
  const { platform, arch } = host;
  const kind = name === '@tensorflow/tfjs-node-gpu' ? 'gpu' : 'cpu';
  const system = SYSTEM_NAMES[platform] ?? platform;
  const extension = platform === 'win32' ? 'zip' : 'tar.gz';
  const rebuild = `npm rebuild --ignore-scripts=false ${name}`;
  const archive = `${kind}-${system}-x86_64-${LIBRARY_VERSION}.${extension}`;
  const fromMirror =
    // The builds for ARM are in another folder of the host, which TFJS_NODE_BASE_URI does not affect.
    arch === 'x64'
      ? `From a mirror (the package appends ${archive}; TFJS_NODE_CDN_STORAGE would replace only the host):\n` +
        `TFJS_NODE_BASE_URI=https://YOUR.MIRROR/libtensorflow- ${rebuild}`
      : `From a mirror (the package appends tf-builds/ and the name of the archive):\n` +
        `TFJS_NODE_CDN_STORAGE=https://YOUR.MIRROR/ ${rebuild}`;
  const build = isBuildable(host, name) ? [buildFix(name), 'Alternatively, use its own library.'] : [];
  return [
    ...build,
    'Its install step downloads the library from storage.googleapis.com. The step does not run if npm blocks the scripts of packages (ignore-scripts, allow-scripts). Repeat it with:',
    rebuild,
    fromMirror,
    `The binding is downloaded from the same host (npm_config_tfjs_binding_binary_host_mirror sets a mirror of the folder pre-built-binary), or is compiled with Python and a C++ compiler.`,
  ].join('\n');
}
