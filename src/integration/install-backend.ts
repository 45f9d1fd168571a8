import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, readlink, rename, rm, statfs, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

import { ConfigValidationError, DependencyError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import type { OnProgress } from '../internal/progress.ts';
import { writeFolderAtomic } from '../io/atomic-write.ts';
import type { MissingPart } from '../tensor/diagnosis/host.ts';

/** A tensor backend with TensorFlow's native library. */
export type NativeBackend = 'node' | 'node-gpu';

/** The version of TensorFlow on PyPI against which the addon is compiled. */
const TENSORFLOW_VERSION = '2.21.0';

/** The version of the npm packages. It must be equal to the version of TensorFlow.js. */
const PACKAGE_VERSION = '4.22.0';

/** The oldest version of glibc for which PyPI has a wheel of this version of TensorFlow. */
const OLDEST_GLIBC = 2.27;

const GIGABYTE = 1e9;

/** For each backend, the packages that are installed and the disk space that the installation needs, in gigabytes. */
const PARTS = {
  node: { name: '@tensorflow/tfjs-node', wheel: 'tensorflow-cpu', space: 2.5, size: '0.3 GB' },
  'node-gpu': { name: '@tensorflow/tfjs-node-gpu', wheel: 'tensorflow', space: 10, size: '3 GB' },
} as const;

const LIBRARIES = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'] as const;

/** Options of {@link installBackend}. */
export interface InstallBackendOptions {
  /**
   * The folder of the project. The package is installed in its `node_modules`.
   * @defaultValue the current folder
   */
  readonly prefix?: string | undefined;
  /**
   * The folder in which TensorFlow's library is stored. The package links to this folder, so do not delete it.
   * @defaultValue `$XDG_CACHE_HOME/evenhand`, else `~/.cache/evenhand`
   */
  readonly cache?: string | undefined;
  /**
   * A folder of Python wheels. If given, pip installs from this folder and does not use the network.
   * @defaultValue none: the wheels are downloaded from the package index of pip
   */
  readonly wheels?: string | undefined;
  /** A function that is called at each step, and during the download. */
  readonly onProgress?: OnProgress | undefined;
  /**
   * The function that runs programs. Tests pass a fake.
   * @defaultValue starts a process
   */
  readonly runTool?: RunTool | undefined;
}

/** Runs a program and returns its standard output. `onLine` receives each line of the output. */
export type RunTool = (
  command: string,
  args: readonly string[],
  options?: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly onLine?: (line: string) => void;
  },
) => Promise<string>;

/** An installed native backend, with the keys of its JSON. */
export interface InstalledBackend {
  readonly backend: NativeBackend;
  readonly package: string;
  readonly tensorflow: string;
  /** The folder of the package. */
  readonly folder: string;
  /** The folder of TensorFlow's library. Do not delete it. */
  readonly library: string;
  /** Whether TensorFlow uses a GPU. */
  readonly uses_gpu: boolean;
}

/**
 * Installs a native backend on Linux without the download step of the npm package. TensorFlow's library comes from its
 * wheel on PyPI. The addon is compiled from the sources in the npm package.
 *
 * It checks the machine, gets the library and the npm package (without running the package's install step), compiles
 * the addon, and multiplies two matrices. The library is kept in the cache, so that a second installation needs no
 * download. An installed package is replaced only after the new package has multiplied the matrices. An interrupted
 * installation leaves the installed package unchanged, and the next call reuses the finished steps.
 * @throws {DependencyError} if something is missing on the machine, or a step fails; the message names the requirement
 * or the step
 * @throws {ConfigValidationError} if the prefix has no TensorFlow.js
 */
export async function installBackend(
  backend: NativeBackend,
  options: InstallBackendOptions = {},
): Promise<InstalledBackend> {
  const place = placeOf(backend, options);
  const { onProgress = () => undefined, runTool = runProcess } = options;
  const step = (done: number, stage: string): void => {
    onProgress({ stage, done, total: 4 });
  };
  step(0, 'checking the machine');
  const missing = await missingToInstall(backend, options);
  if (missing.length > 0) throw cannotInstall(backend, missing);
  if (!hasLibrary(place.library)) {
    step(1, `downloading TensorFlow ${TENSORFLOW_VERSION} (${PARTS[backend].size})`);
    await writeFolderAtomic(
      path.dirname(place.library),
      (folder) => fetchLibrary(place, folder, runTool, onProgress),
      () => false,
    );
  }
  step(2, `getting ${place.name} ${PACKAGE_VERSION}`);
  let usesGpu = false;
  await replacingLink(place.folder, () =>
    writeFolderAtomic(
      place.folder,
      async (folder) => {
        await fetchPackage(place, folder, runTool);
        await linkLibrary(place, folder);
        step(3, 'compiling the addon (up to a minute)');
        await compile(place, folder, runTool);
        usesGpu = await multiply(place, folder, runTool);
      },
      () => true,
    ),
  );
  step(4, 'done');
  return {
    backend,
    package: `${place.name}@${PACKAGE_VERSION}`,
    tensorflow: TENSORFLOW_VERSION,
    folder: place.folder,
    library: place.library,
    uses_gpu: usesGpu,
  };
}

/**
 * Removes a link before work that writes a folder of the same name, and restores the link if the work fails. Otherwise,
 * the work would replace files in the folder to which the link leads, such as a shared store of packages.
 */
async function replacingLink(folder: string, work: () => Promise<void>): Promise<void> {
  const target =
    lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true ? await readlink(folder) : null;
  if (target !== null) await rm(folder);
  try {
    await work();
  } catch (error) {
    if (target !== null) await symlink(target, folder);
    throw error;
  }
}

/** The names and folders of an installation. */
interface Place {
  readonly backend: NativeBackend;
  readonly name: string;
  readonly wheel: string;
  readonly prefix: string;
  readonly wheels: string | undefined;
  /** The folder of the npm package. */
  readonly folder: string;
  /** The folder `tensorflow`, which holds the libraries and their headers. */
  readonly library: string;
}

function placeOf(backend: NativeBackend, { prefix = '.', cache, wheels }: InstallBackendOptions): Place {
  const { name } = PARTS[backend];
  // PyPI has the smaller wheel without CUDA only for x64.
  const wheel = process.arch === 'x64' ? PARTS[backend].wheel : 'tensorflow';
  const kept = cache ?? path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'evenhand');
  const project = path.resolve(prefix);
  return {
    backend,
    name,
    wheel,
    prefix: project,
    wheels: wheels === undefined ? undefined : path.resolve(wheels),
    folder: path.join(project, 'node_modules', name),
    library: path.resolve(kept, `${wheel}-${TENSORFLOW_VERSION}`, 'tensorflow'),
  };
}

function hasLibrary(library: string): boolean {
  return LIBRARIES.every((file) => existsSync(path.join(library, file)));
}

/**
 * Returns the requirements that the machine does not meet, in the order in which the user should fix them. Nothing is
 * downloaded.
 * @throws {ConfigValidationError} if the prefix has no TensorFlow.js
 */
export async function missingToInstall(
  backend: NativeBackend,
  options: InstallBackendOptions = {},
): Promise<readonly MissingPart[]> {
  const place = placeOf(backend, options);
  const { runTool = runProcess } = options;
  const unsupported = unsupportedPlatform(backend);
  if (unsupported !== null) return [unsupported];
  assertProject(place);
  const compiler = compilerName();
  const missing: MissingPart[] = [];
  if (!(await works(runTool, compiler, ['--version']))) {
    missing.push({
      what: `the C++ compiler '${compiler}' was not found`,
      mend: 'Install one (or name another in the variable CXX):\napt-get install g++',
    });
  }
  if (!hasLibrary(place.library)) {
    if (!(await works(runTool, 'python3', ['-m', 'pip', '--version']))) {
      missing.push({
        what: "Python's installer pip was not found (python3 -m pip)",
        mend: 'It downloads the library; Python itself does not run it. Install it with:\napt-get install python3-pip',
      });
    }
    const lacking = await lackingSpace(path.dirname(place.library), PARTS[backend].space);
    if (lacking !== null) missing.push(lacking);
  }
  return missing;
}

function unsupportedPlatform(backend: NativeBackend): MissingPart | null {
  const here = `${process.platform}-${process.arch}`;
  const supported = backend === 'node' ? ['linux-x64', 'linux-arm64'] : ['linux-x64'];
  if (!supported.includes(here)) {
    return {
      what: `${here} is not supported, only ${supported.join(' and ')}`,
      mend: `Install the package of npm, whose install step downloads an older library:\nnpm install ${PARTS[backend].name}@${PACKAGE_VERSION}`,
    };
  }
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  const glibc = header.glibcVersionRuntime;
  if (glibc !== undefined && Number(glibc) >= OLDEST_GLIBC) return null;
  return {
    what: `TensorFlow needs glibc ${String(OLDEST_GLIBC)} or later, and this system has ${glibc ?? 'another C library'}`,
    mend: "Use another backend. 'evenhand doctor' shows which backends work.",
  };
}

function assertProject({ prefix }: Place): void {
  try {
    createRequire(path.join(prefix, 'package.json')).resolve('@tensorflow/tfjs/package.json');
  } catch (cause) {
    throw new ConfigValidationError(`The folder '${prefix}' has no TensorFlow.js in its node_modules.`, {
      context: { parameter: 'prefix', path: prefix },
      suggestion: 'Name the folder of the project in which evenhand is installed (prefix).',
      cause,
    });
  }
}

async function lackingSpace(folder: string, gigabytes: number): Promise<MissingPart | null> {
  let existing = folder;
  while (!existsSync(existing)) existing = path.dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  const free = (bavail * bsize) / GIGABYTE;
  if (free >= gigabytes) return null;
  return {
    what: `'${existing}' has ${free.toFixed(1)} GB of free disk space, and the installation needs ${String(gigabytes)} GB`,
    mend: 'Free some space, or name another folder for the library (cache).',
  };
}

async function works(runTool: RunTool, command: string, args: readonly string[]): Promise<boolean> {
  return runTool(command, args).then(
    () => true,
    () => false,
  );
}

function compilerName(): string {
  const named = process.env['CXX'];
  return named === undefined || named === '' ? 'g++' : named;
}

function cannotInstall(backend: NativeBackend, missing: readonly MissingPart[]): DependencyError {
  return new DependencyError(
    `The backend '${backend}' cannot be installed: ${missing.map(({ what }) => what).join('; ')}.`,
    {
      context: { backend, missing: missing.map(({ what }) => what) },
      suggestion: missing.map((part) => part.mend.replaceAll('\n', ' ')).join(' '),
    },
  );
}

/**
 * Unpacks TensorFlow's wheel into a folder, with CUDA's libraries for a GPU. Python never runs the wheel. Therefore a
 * wheel for any version of Python works, and its Python dependencies are not needed.
 */
async function fetchLibrary(
  { backend, wheel, wheels }: Place,
  folder: string,
  runTool: RunTool,
  onProgress: OnProgress,
): Promise<void> {
  const work = path.join(folder, 'work');
  await mkdir(work);
  const pip = [...pipArguments(wheels), ...newPipArguments(await runTool('python3', ['-m', 'pip', '--version']))];
  const install = async (target: string, packages: readonly string[]): Promise<void> => {
    await runTool('python3', [...pip, '--target', path.join(work, target), ...packages], {
      // pip first unpacks into its temporary folder. The default temporary folder may be on a small disk.
      env: { TMPDIR: work },
      onLine: (line) => {
        const [, done, total] = /^Progress (\d+) of (\d+)/.exec(line) ?? [];
        if (done !== undefined) onProgress({ stage: `downloading ${wheel}`, done: Number(done), total: Number(total) });
      },
    });
  };
  await install('wheel', [`${wheel}==${TENSORFLOW_VERSION}`]);
  const unpacked = path.join(work, 'wheel', 'tensorflow');
  const target = path.join(folder, 'tensorflow');
  await mkdir(target);
  for (const part of [...LIBRARIES, 'include']) await rename(path.join(unpacked, part), path.join(target, part));
  if (backend === 'node-gpu') {
    await install('cuda', await cudaPackages(path.join(work, 'wheel')));
    await rename(path.join(work, 'cuda', 'nvidia'), path.join(folder, 'nvidia'));
  }
  await rm(work, { recursive: true });
}

function pipArguments(wheels: string | undefined): string[] {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const platforms = ['manylinux_2_27', 'manylinux_2_17', 'manylinux2014'].map((tag) => `${tag}_${machine}`);
  return [
    ...['-m', 'pip', 'install', '--disable-pip-version-check', '--no-compile', '--no-deps'],
    ...['--only-binary=:all:', '--implementation', 'cp', '--python-version', '3.12'],
    ...[...platforms, 'any'].flatMap((platform) => ['--platform', platform]),
    ...(wheels === undefined ? [] : ['--no-index', '--find-links', wheels]),
  ];
}

/**
 * Returns the arguments that only newer versions of pip accept. Without them, pip reports no progress in bytes, and
 * warns root users.
 * @param version the text of `pip --version`
 */
function newPipArguments(version: string): string[] {
  const [, major = '0', minor = '0'] = /^pip (\d+)\.(\d+)/.exec(version.trim()) ?? [];
  const isAtLeast = (year: number, release: number): boolean =>
    Number(major) > year || (Number(major) === year && Number(minor) >= release);
  return [
    ...(isAtLeast(22, 1) ? ['--root-user-action', 'ignore'] : []),
    ...(isAtLeast(24, 1) ? ['--progress-bar', 'raw'] : []),
  ];
}

/** Returns the packages with the libraries of CUDA and cuDNN that the wheel lists under `tensorflow[and-cuda]`. */
async function cudaPackages(wheel: string): Promise<string[]> {
  const info = (await readdir(wheel)).find((name) => /^tensorflow-.*\.dist-info$/.test(name)) ?? '';
  const metadata = decodeUtf8(await readFile(path.join(wheel, info, 'METADATA')), 'METADATA');
  return [...metadata.matchAll(/^Requires-Dist: (nvidia-[^;]*);.*and-cuda/gm)].map(([, name = '']) =>
    name.replaceAll(' ', ''),
  );
}

/**
 * Copies the npm package into a folder, without the library of an earlier installation. Uses the installed package, or
 * downloads the package and its dependencies from the registry. The install step of the package does not run.
 */
async function fetchPackage({ name, folder: installed }: Place, folder: string, runTool: RunTool): Promise<void> {
  const work = path.join(folder, 'work');
  let source = installed;
  if (!isPackage(installed, name)) {
    await mkdir(work, { recursive: true });
    const quiet = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund', '--install-strategy=nested'];
    await runTool('npm', ['install', ...quiet, '--prefix', work, `${name}@${PACKAGE_VERSION}`]);
    source = path.join(work, 'node_modules', name);
    // The project's own TensorFlow.js is used.
    await rm(path.join(source, 'node_modules', '@tensorflow'), { recursive: true, force: true });
  }
  for (const part of await readdir(source)) {
    if (['deps', 'lib'].includes(part)) continue;
    await cp(path.join(source, part), path.join(folder, part), { recursive: true, verbatimSymlinks: true });
  }
  await rm(work, { recursive: true, force: true });
}

/**
 * Returns whether a folder contains the package with this name and version. A different package may have been installed
 * under the same name.
 */
function isPackage(folder: string, name: string): boolean {
  try {
    const found = JSON.parse(decodeUtf8(readFileSync(path.join(folder, 'package.json')), 'package.json')) as Record<
      string,
      unknown
    >;
    return found['name'] === name && found['version'] === PACKAGE_VERSION;
  } catch {
    return false;
  }
}

/**
 * Links the library where the addon's run path ($ORIGIN/../../deps/lib) expects it, and CUDA's libraries where the
 * library's own run path ($ORIGIN/../nvidia) expects them. The run path of TensorFlow 2.21 lacks cusolver, without
 * which it uses no GPU (tensorflow/tensorflow#112973). The folder `tensorrt` is used for it, because TensorFlow 2.21
 * searches this folder and nothing else uses it.
 */
async function linkLibrary({ library }: Place, folder: string): Promise<void> {
  const deps = path.join(folder, 'deps');
  await mkdir(path.join(deps, 'lib'), { recursive: true });
  for (const file of LIBRARIES) await symlink(path.join(library, file), path.join(deps, 'lib', file));
  const nvidia = path.join(path.dirname(library), 'nvidia');
  if (!existsSync(nvidia)) return;
  await symlink(nvidia, path.join(deps, 'nvidia'));
  await symlink('nvidia/cusolver/lib', path.join(deps, 'tensorrt'));
}

/** Compiles the addon. Node-API is the same for every version of Node, so one addon works with all versions. */
async function compile({ library }: Place, folder: string, runTool: RunTool): Promise<void> {
  const binding = path.join(folder, 'binding');
  const output = path.join(folder, 'lib', 'napi-v8');
  await mkdir(output, { recursive: true });
  const sources = (await readdir(binding))
    .filter((file) => file.endsWith('.cc'))
    .map((file) => path.join(binding, file));
  await runTool(compilerName(), [
    ...['-shared', '-fPIC', '-O2', '-std=c++17', '-DNAPI_VERSION=8'],
    ...[`-I${await nodeHeaders(folder, runTool)}`, `-I${path.join(library, 'include')}`, ...sources],
    ...['-o', path.join(output, 'tfjs_binding.node'), `-L${path.join(folder, 'deps', 'lib')}`],
    ...[...LIBRARIES.map((file) => `-l:${file}`), '-Wl,-rpath,$ORIGIN/../../deps/lib'],
  ]);
  await rm(path.join(folder, 'headers'), { recursive: true, force: true });
}

/** Returns the folder with the header files of Node-API, from this installation of Node.js or from an npm package. */
async function nodeHeaders(folder: string, runTool: RunTool): Promise<string> {
  const own = path.resolve(process.execPath, '../../include/node');
  if (existsSync(path.join(own, 'node_api.h'))) return own;
  const target = path.join(folder, 'headers');
  await runTool('npm', [
    'install',
    '--silent',
    '--ignore-scripts',
    '--no-audit',
    '--prefix',
    target,
    'node-api-headers',
  ]);
  return path.join(target, 'node_modules/node-api-headers/include');
}

const PROGRAM = `
const util = require('node:util');
util.isNullOrUndefined ??= (value) => value == null;
const tf = require(process.argv[1]);
const [sum] = tf.matMul(tf.ones([4, 4]), tf.ones([4, 4])).sum().dataSync();
console.log(JSON.stringify({ sum, gpu: tf.backend().isUsingGpuDevice }));
`;

/** Multiplies two matrices in a new process. Returns whether TensorFlow used a GPU. */
async function multiply({ backend, prefix }: Place, folder: string, runTool: RunTool): Promise<boolean> {
  const output = await runTool(process.execPath, ['-e', PROGRAM, folder], {
    cwd: prefix,
    env: { TF_CPP_MIN_LOG_LEVEL: '2', TF_ENABLE_ONEDNN_OPTS: '0' },
  });
  const { sum, gpu } = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as { sum?: number; gpu?: boolean };
  if (sum === 64) return gpu === true;
  throw new DependencyError(
    `The backend '${backend}' was compiled, but computes a wrong result: the sum is ${String(sum)} instead of 64.`,
    {
      context: { backend, expected: 64, received: sum },
      suggestion: "Use another backend. 'evenhand doctor' shows which backends work.",
    },
  );
}

/** The number of lines from a program's error output that an error message quotes. */
const QUOTED_LINES = 3;

/** Starts a program and waits until it has ended. */
const runProcess: RunTool = (command, args, { cwd, env = {}, onLine } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    let rest = '';
    // Only the ASCII parts of the output are parsed. Other bytes are shown unchanged.
    child.stdout.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      output.stdout += text;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
    child.stderr.on('data', (bytes: Buffer) => {
      output.stderr += bytes.toString('latin1');
    });
    child.on('error', (cause) => {
      reject(toolFailed(command, cause.message, cause));
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output.stdout);
      else reject(toolFailed(command, lastLines(output.stderr) || `exit ${String(code ?? signal)}`));
    });
  });

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-QUOTED_LINES).join(' ');
}

function toolFailed(command: string, reason: string, cause?: unknown): DependencyError {
  const name = path.basename(command);
  return new DependencyError(`'${name}' failed: ${reason}.`, {
    context: { command: name, reason },
    suggestion:
      name === 'python3'
        ? 'Without a connection to a package index, name a folder of wheels (wheels).'
        : 'Finished steps are kept: run the command again after the cause is fixed.',
    cause,
  });
}
