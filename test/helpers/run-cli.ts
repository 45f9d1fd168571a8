import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
const LOGGER = path.resolve(import.meta.dirname, '../../dist/internal/logger.js');
const PROGRAM = path.resolve(import.meta.dirname, '../../dist/cli/program.js');

/** What a run of the command line gave. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How the command line is run. */
export interface CliRunOptions {
  /** Its working folder. */
  readonly cwd?: string;
  /** Variables of its environment; such a run is a process of its own, since some are read once. */
  readonly env?: Record<string, string>;
  /** What stands on its standard input. */
  readonly input?: string | Uint8Array;
  /**
   * Whether it is a process of its own: for tests of what only a process has, and of what is said once in one.
   * @defaultValue false, or true where `env` is given
   */
  readonly asProcess?: boolean;
}

/** Runs the built command line: in this process, since starting one costs more than most commands do. */
export function runCli(args: readonly string[], options: CliRunOptions = {}): Promise<CliRun> {
  if (options.asProcess ?? options.env !== undefined) return runProcess(args, options);
  // One after the other, since they share this process's streams and folder.
  const run = lastRun.then(() => runHere(args, options));
  lastRun = run.catch(() => undefined);
  return run;
}

let lastRun: Promise<unknown> = Promise.resolve();

/** Runs the command line in a process of its own, bounded in time. */
function runProcess(args: readonly string[], options: CliRunOptions): Promise<CliRun> {
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

/** Runs the command line in this process, with streams of its own in place of the process's. */
async function runHere(args: readonly string[], { cwd, input = '' }: CliRunOptions): Promise<CliRun> {
  const { runCommandLine } = (await import(PROGRAM)) as typeof import('../../src/cli/program.ts');
  const { setLogLevel } = (await import(LOGGER)) as typeof import('../../src/internal/logger.ts');
  const folder = process.cwd();
  const { exitCode } = process;
  const { EVENHAND_LOG_LEVEL: level, EVENHAND_TF_BACKEND: backend } = process.env;
  const stdout = captureStream('stdout');
  const stderr = captureStream('stderr');
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input as string)]) });
  setVariables({ EVENHAND_LOG_LEVEL: undefined, EVENHAND_TF_BACKEND: 'wasm' });
  process.exitCode = undefined;
  try {
    if (cwd !== undefined) process.chdir(cwd);
    await runCommandLine(args);
    return { code: endedWith(), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.chdir(folder);
    process.exitCode = exitCode;
    setLogLevel('silent');
    setVariables({ EVENHAND_LOG_LEVEL: level, EVENHAND_TF_BACKEND: backend });
    if (stdin !== undefined) Object.defineProperty(process, 'stdin', stdin);
    stdout.release();
    stderr.release();
  }
}

function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
}

/** Returns the exit code that a command has set; 0 where it has set none. */
function endedWith(): number {
  const { exitCode } = process as { readonly exitCode?: number | string | null };
  return Number(exitCode ?? 0);
}

/** Keeps what is written to a stream of this process, as a pipe would, until it is released. */
function captureStream(name: 'stdout' | 'stderr'): { readonly text: () => string; readonly release: () => void } {
  const stream = process[name];
  const { isTTY } = stream;
  const own = Object.getOwnPropertyDescriptor(stream, 'write');
  const chunks: Buffer[] = [];
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const callback = rest.at(-1);
    if (typeof callback === 'function') process.nextTick(callback);
    return true;
  };
  return {
    text: () => Buffer.concat(chunks).toString(),
    release: () => {
      if (own === undefined) Reflect.deleteProperty(stream, 'write');
      else Object.defineProperty(stream, 'write', own);
      stream.isTTY = isTTY;
    },
  };
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
