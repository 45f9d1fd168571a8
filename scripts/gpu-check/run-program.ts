import { spawn } from 'node:child_process';

/** What a program printed, and how it ended. */
export interface ProgramRun {
  readonly stdout: string;
  readonly stderr: string;
  /** Its exit code; null where it was ended. */
  readonly code: number | null;
  /** Whether it was ended since its time was up, or since nobody waits for it any more. */
  readonly wasEnded: boolean;
}

/** How a program is run. */
export interface ProgramOptions {
  readonly limitMillis: number;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs a program, bounded in time. It is ended with all that it started, also where this process ends first.
 * @throws {Error} where it cannot be started
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { limitMillis, signal, env }: ProgramOptions,
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that it can be ended with what it started.
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr, wasEnded] = ['', '', false];
    const end = (): void => {
      wasEnded = true;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const timer = setTimeout(end, limitMillis);
    const leave = (): void => {
      clearTimeout(timer);
      process.off('exit', end);
      signal.removeEventListener('abort', end);
    };
    process.once('exit', end);
    signal.addEventListener('abort', end);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', (error) => {
      leave();
      reject(error);
    });
    child.on('close', (code) => {
      leave();
      resolve({ stdout, stderr, code, wasEnded });
    });
    if (signal.aborted) end();
  });
}
