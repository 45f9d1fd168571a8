import { spawn } from 'node:child_process';

/** The output of a program, and how it ended. */
export interface ProgramRun {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code; null if it was killed. */
  readonly code: number | null;
  /** Whether it was killed because its time was up or the caller no longer waits. */
  readonly wasEnded: boolean;
}

/** Options for running a program. */
export interface ProgramOptions {
  readonly limitMillis: number;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs a program with a time limit. When it is killed, all its child processes are killed too, also if this process
 * ends first.
 * @throws {Error} if it cannot be started
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { limitMillis, signal, env }: ProgramOptions,
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    // A separate process group, so that it can be killed with its children.
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr, wasEnded] = ['', '', false];
    const end = (): void => {
      wasEnded = true;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has already ended.
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
