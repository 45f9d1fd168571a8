import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

/** What a run of the command line gave. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line, bounded in time. */
export function runCli(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly input?: string | Uint8Array } = {},
): Promise<CliRun> {
  return new Promise((resolve, reject) => {
    const { EVENHAND_LOG_LEVEL: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd,
      // One backend on every machine; what a native library prints while auto tries it is not ours.
      env: { ...inherited, EVENHAND_TF_BACKEND: 'wasm', ...options.env },
      timeout: 300_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
    child.stdin.end(options.input ?? '');
  });
}

/** A temporary folder for a suite, removed after it. */
export function useTemporaryFolder(): () => string {
  let folder = '';
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-test-'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return () => folder;
}
