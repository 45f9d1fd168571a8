import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';

import type { Host } from './host.ts';

const require = createRequire(import.meta.url);

/** The time limit of `ldconfig`. The command reads one file. */
const LINKER_CACHE_LIMIT_MILLIS = 10_000;

/** The locations of `ldconfig`, which is not in the PATH of most users. */
const LDCONFIG = ['/sbin/ldconfig', '/usr/sbin/ldconfig'];

/** The linker's cache. The cache is kept in memory, because every backend needs it and reading it starts a process. */
let cache: string | null | undefined;

/** Returns the machine that this process runs on. */
export function thisHost(): Host {
  return {
    platform: process.platform,
    arch: process.arch,
    env: process.env,
    exists: existsSync,
    readFile: (file) => orElse(null, () => decodeUtf8(readFileSync(file), file)),
    listFolder: (folder) => orElse([], () => readdirSync(folder).sort()),
    linkerCache: () => (cache ??= readLinkerCache()),
    resolvePackage,
  };
}

function readLinkerCache(): string | null {
  const program = LDCONFIG.find((file) => existsSync(file));
  if (program === undefined) return null;
  const { status, stdout } = spawnSync(program, ['-p'], { encoding: 'utf8', timeout: LINKER_CACHE_LIMIT_MILLIS });
  return status === 0 ? stdout : null;
}

/** Resolves a package with Node, because the install location depends on the package manager. */
function resolvePackage(name: string): string | null {
  return orElse(null, () => path.dirname(require.resolve(`${name}/package.json`)));
}

function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
