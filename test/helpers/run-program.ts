import { execFile } from 'node:child_process';

/** The time limit of a process, also on a busy machine. */
export const LIMIT_MILLIS = 60_000;

/** The result of a process. */
interface Ended {
  /** The exit code, or the signal that ended the process. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program, given as text, in a separate process until it ends, with the backend that it selects itself. */
export function runProgram(program: string, environment: Readonly<Record<string, string>>): Promise<Ended> {
  const { EVENHAND_TF_BACKEND: _, ...inherited } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      { env: { ...inherited, ...environment }, timeout: LIMIT_MILLIS },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), stdout, stderr });
      },
    );
  });
}
