import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { type Instruction, parseDockerfile, stagesOf } from './dockerfile.ts';

/**
 * Builds and runs images without Docker, to test the commands of a Dockerfile. The base image is the file system of this
 * machine, so that neither its packages nor its version of Node are those of the image. Each stage writes into a folder
 * above it (overlayfs). A container has mounts and a network of its own, and only the user, the rights and the
 * environment that it is given. This needs root and Linux.
 */
export interface Image {
  /** The folder with everything that the stage added to the base. */
  readonly layer: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Returns why no container can be started here; undefined if one can. */
export function containerProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'containers need Linux and root';
  const missing = ['unshare', 'nsenter', 'setpriv', 'chroot', 'ip'].filter(
    (name) => spawnSync('which', [name], { timeout: 10_000 }).status !== 0,
  );
  if (missing.length > 0) return `the programs ${missing.join(', ')} are not installed`;
  const script = 'mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w && mount -t overlay none -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/w'; // prettier-ignore
  const { status, stderr } = spawnSync('unshare', ['--mount', '--net', 'bash', '-ec', script], { timeout: 10_000 });
  return status === 0 ? undefined : `namespaces cannot be used: ${stderr.toString().trim()}`;
}

/** Where an image is built. */
export interface BuildOptions {
  /** The folder from which COPY copies. */
  readonly context: string;
  /** An empty folder for the layers. It must not be in the temporary folder of the container. */
  readonly folder: string;
  /** Layers of stages that are already built, by their name. */
  readonly built?: Readonly<Record<string, string>>;
}

/** Runs the instructions of a Dockerfile and returns the image of its last stage. */
export async function buildImage(file: string, { context, folder, built = {} }: BuildOptions): Promise<Image> {
  const layers: Record<string, string> = { ...built };
  let image: Image | undefined;
  for (const [index, { name = String(index), instructions }] of stagesOf(
    parseDockerfile(readFileSync(file, 'utf8')),
  ).entries()) {
    // prettier-ignore
    if (name in built) continue;
    const layer = path.join(folder, `layer-${name}`);
    mkdirSync(layer);
    layers[name] = layer;
    image = { layer, env: {}, workdir: '/', user: '0:0', entrypoint: [], command: [], healthCheck: [] };
    for (const instruction of instructions) image = await apply(instruction, image, { context, layers, folder });
  }
  if (image === undefined) throw new Error(`${file} has no stage.`);
  return image;
}

interface BuildState {
  readonly context: string;
  readonly folder: string;
  readonly layers: Readonly<Record<string, string>>;
}

async function apply({ name, text, list = [], flags }: Instruction, image: Image, state: BuildState): Promise<Image> {
  switch (name) {
    case 'WORKDIR': {
      const workdir = path.posix.resolve(image.workdir, text);
      mkdirSync(path.join(image.layer, workdir), { recursive: true });
      return { ...image, workdir };
    }
    case 'ENV':
      return { ...image, env: { ...image.env, ...Object.fromEntries([...text.matchAll(/(\w+)=(\S*)/g)].map(([, key = '', value = '']) => [key, value])) } }; // prettier-ignore
    case 'COPY': {
      const from = flags['from'];
      const words = text.split(/\s+/);
      copy(words.slice(0, -1), path.posix.resolve(image.workdir, words.at(-1) ?? ''), {
        root: from === undefined ? state.context : (state.layers[from] ?? ''),
        layer: image.layer,
        intoFolder: words.length > 2 || /(?:^|\/)\.?\/?$/.test(words.at(-1) ?? ''),
      });
      return image;
    }
    case 'RUN': {
      const env = { ...(process.env as Record<string, string>), ...image.env };
      const { code, log } = await startContainer(image, ['/bin/sh', '-c', text], { env, user: '0:0', scratch: path.join(state.folder, 'run'), isBuild: true }).ended; // prettier-ignore
      if (code !== 0) throw new Error(`RUN ${text} ended with ${String(code)}:\n${log}`);
      return image;
    }
    case 'USER':
      return { ...image, user: text };
    case 'ENTRYPOINT':
      return { ...image, entrypoint: list };
    case 'CMD':
      return { ...image, command: list };
    case 'HEALTHCHECK':
      return { ...image, healthCheck: list };
    case 'EXPOSE':
      return image;
    default:
      throw new Error(`The instruction ${name} is not known.`);
  }
}

function copy(
  sources: readonly string[],
  target: string,
  { root, layer, intoFolder }: { readonly root: string; readonly layer: string; readonly intoFolder: boolean },
): void {
  for (const source of sources) {
    const from = path.join(root, source);
    const isFolder = statSync(from).isDirectory();
    const to = path.join(layer, target, !isFolder && intoFolder ? path.basename(source) : '');
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}

/** How a container is started. */
export interface ContainerOptions {
  /** The environment, beside the variables of the image. */
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: string;
  /** An empty folder for the mounts. */
  readonly scratch: string;
  /** The folder in which the program runs, if it is not that of the image. */
  readonly workdir?: string;
  /** A folder of this machine that is mounted for writing, and where. */
  readonly volume?: readonly [from: string, to: string];
  /** Whether it keeps the network and all rights, and writes to its layer. */
  readonly isBuild?: boolean;
}

/** What a program in a container has left. */
interface ContainerEnd {
  readonly code: number | string | null;
  /** Standard output and standard error. */
  readonly log: string;
}

export interface Container {
  readonly child: ChildProcess;
  readonly ended: Promise<ContainerEnd>;
  /** Kills every program in the container. */
  readonly kill: () => void;
  /** Runs a program in the container, as its user. */
  readonly exec: (command: readonly string[]) => Promise<ContainerEnd>;
}

/**
 * Makes the root of the container, and starts the program in it. The file system is read-only but for /tmp. The folders
 * of this machine that could hide a mistake are empty: its temporary folder, /work, and those of its users.
 */
const START = `
set -eu
mkdir -p "$SCRATCH/root" "$SCRATCH/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$LAYER,workdir=$SCRATCH/work" "$SCRATCH/root"
root="$SCRATCH/root"
for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
for name in tmp work home; do if [ -d "$root/$name" ]; then mount -t tmpfs -o mode=1777 tmpfs "$root/$name"; fi; done
if [ -n "$VOLUME" ]; then mkdir -p "$root/$TARGET"; mount --bind "$VOLUME" "$root/$TARGET"; fi
if [ -z "$BUILD" ]; then
  ip link set lo up
  mount -o remount,ro "$root"
  mount -t tmpfs -o mode=0700 tmpfs "$root/root"
fi
exec chroot "$root" "$@"
`;

/** Starts a program in a container; without a program, that of the image. */
export function startContainer(
  image: Image,
  command: readonly string[] | undefined,
  options: ContainerOptions,
): Container {
  const { env = {}, user = image.user, scratch, volume, workdir = image.workdir, isBuild = false } = options;
  mkdirSync(scratch, { recursive: true });
  const variables = isBuild ? env : { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/node', ...image.env, ...env };
  const inside = [...asUser(user, isBuild), ...inFolder(workdir, variables), ...(command ?? [...image.entrypoint, ...image.command])]; // prettier-ignore
  const namespaces = ['--mount', '--propagation', 'private', ...(isBuild ? [] : ['--net'])];
  const child = spawn('unshare', [...namespaces, 'bash', '-c', START, 'bash', ...inside], {
    env: {
      PATH: process.env['PATH'],
      SCRATCH: scratch,
      LAYER: image.layer,
      VOLUME: volume?.[0] ?? '',
      TARGET: volume?.[1] ?? '',
      BUILD: isBuild ? '1' : '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that all programs in the container can be killed.
    detached: true,
    timeout: 500_000,
    killSignal: 'SIGKILL',
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (log += data.toString()));
  const ended = new Promise<ContainerEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code: code ?? signal, log });
    });
  });
  const exec: Container['exec'] = (program) =>
    new Promise((resolve) => {
      const target = ['--target', String(child.pid), '--mount', '--net', '--root'];
      const args = [...target, ...asUser(user, false), ...inFolder(workdir, variables), ...program];
      execFile('nsenter', args, { env: {}, timeout: 60_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), log: stdout + stderr });
      });
    });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      // All of them have ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return { child, ended, kill, exec };
}

function asUser(user: string, isBuild: boolean): string[] {
  const [uid = '0', gid = uid] = user.split(':');
  const rights = isBuild ? [] : ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  return ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...rights];
}

function inFolder(workdir: string, env: Readonly<Record<string, string>>): string[] {
  return ['/usr/bin/env', '-i', '-C', workdir, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
}

/** Returns whether the layer of an image has a file. */
export function hasFile({ layer }: Image, file: string): boolean {
  return existsSync(path.join(layer, file));
}
