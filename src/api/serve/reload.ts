import { spawn } from 'node:child_process';

/** A program that restarts when one of its loaded files changes. */
export interface WatchedProgram {
  /** The main file of the program. */
  readonly main: string;
  readonly args: readonly string[];
}

/**
 * Runs a program under `node --watch` until the program or this process is stopped. The program is stopped with SIGTERM
 * before each restart.
 * @returns the exit code of the program
 */
export async function runWatched({ main, args }: WatchedProgram): Promise<number> {
  const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...process.execArgv, main, ...args], {
    stdio: 'inherit',
  });
  const stop = (): void => {
    child.kill('SIGTERM');
  };
  // The terminal sends Ctrl-C to both processes. The child ends, and then this process ends.
  const wait = (): void => undefined;
  process.on('SIGTERM', stop).on('SIGINT', wait);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        resolve(code ?? 0);
      });
    });
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', wait);
  }
}
