import path from 'node:path';

import type { Host } from '../../../src/tensor/diagnosis/host.ts';

/** A machine for a diagnosis, in memory. */
export interface FakeMachine {
  readonly platform?: string;
  readonly arch?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Files and their contents; their folders exist too. */
  readonly files?: Readonly<Record<string, string>>;
  /** Paths of libraries that the linker's cache names; they exist on disk as well. */
  readonly cached?: readonly string[];
  /** The complete text of the cache instead. */
  readonly cacheText?: string | null;
  /** Packages and their folders. */
  readonly packages?: Readonly<Record<string, string>>;
}

/** Creates such a machine; by default Linux on x64 with nothing installed. */
export function fakeHost(machine: FakeMachine = {}): Host {
  const { platform = 'linux', arch = 'x64', env = {}, cached = [], packages = {} } = machine;
  const paths = platform === 'win32' ? path.win32 : path.posix;
  const files = new Map(Object.entries({ ...machine.files, ...Object.fromEntries(cached.map((file) => [file, ''])) }));
  const entries = (folder: string): string[] => {
    const start = folder.endsWith(paths.sep) ? folder : `${folder}${paths.sep}`;
    const inside = [...files.keys()].filter((file) => file.startsWith(start));
    return [...new Set(inside.map((file) => file.slice(start.length).split(paths.sep)[0] ?? ''))].sort();
  };
  const lines = cached.map((file) => `\t${paths.basename(file)} (libc6,x86-64) => ${file}`);
  return {
    platform,
    arch,
    env,
    exists: (file) => files.has(file) || entries(file).length > 0,
    readFile: (file) => files.get(file) ?? null,
    listFolder: entries,
    linkerCache: () => machine.cacheText ?? [`${String(lines.length)} libs found in cache`, ...lines].join('\n'),
    resolvePackage: (name) => packages[name] ?? null,
  };
}
