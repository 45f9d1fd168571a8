import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { ENGINE_PASSWORD } from '../engines.ts';

/** The time that a cluster has to start. */
export const CLUSTER_SECONDS = 180;

/** The environment of the servers. Java reads their password as UTF-8. */
export const SERVER_ENVIRONMENT = { ...process.env, ENGINE_PASSWORD, LC_ALL: 'C.UTF-8' };

/** Returns a path in the folder that `scripts/test-engines.sh` fills. */
export function cached(...names: readonly string[]): string {
  const folder = process.env['EVENHAND_ENGINES_CACHE'] ?? path.join(homedir(), '.cache/evenhand/engines');
  return path.join(folder, ...names);
}

/** Returns why a cluster cannot be started here; undefined if it can. */
export function lackingProgram(...names: readonly string[]): string | undefined {
  const missing = names.map((name) => cached(name)).find((file) => !existsSync(file));
  return missing === undefined ? undefined : `there is no ${missing}: run \`npm run test:engines\``;
}

/** Compiles a Java class of this folder. */
export function compileJava(name: string, classPath: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const source = path.join(import.meta.dirname, name);
  execFileSync('javac', ['-d', folder, '-cp', classPath, source], { stdio: 'pipe', timeout: 120_000 });
}

/** Waits until a condition holds. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  { seconds = CLUSTER_SECONDS, log = (): string => '' } = {},
): Promise<void> {
  const start = performance.now();
  for (;;) {
    const isReached = await holds().catch(() => false);
    if (isReached) return;
    if (performance.now() - start > 1000 * seconds) throw new Error(`Timed out: ${what}.\n${log()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
