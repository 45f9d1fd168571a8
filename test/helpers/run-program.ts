import { execFile } from 'node:child_process';

/** A process ends within this, on a busy machine too. */
export const LIMIT_MILLIS = 60_000;

/** How a process ended. */
interface Ended {
  /** Its exit code, or the signal that ended it. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program, given as text, in a process of its own to its own end, on the backend that it names itself. */
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
