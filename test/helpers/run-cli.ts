import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
// Coverage is that of the sources; all other runs test what users get.
const [LOGGER, PROGRAM] = (
  process.env['EVENHAND_COVERAGE'] === '1'
    ? ['src/internal/logger.ts', 'src/cli/program.ts']
    : ['dist/cli/logger.js', 'dist/cli/program.js']
).map((file) => path.resolve(import.meta.dirname, '../..', file)) as [string, string];

/** The result of a run of the command line. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options for running the command line. */
export interface CliRunOptions {
  /** The working folder. */
  readonly cwd?: string;
  /** Environment variables. They require a separate process, because some are read only once. */
  readonly env?: Record<string, string>;
  /** The terminal that stdout is; without it, stdout is a pipe. */
  readonly terminal?: { readonly columns: number; readonly colours: boolean };
  /**
   * The seconds between two lines about progress, in this process.
   * @defaultValue 3600, so that a busy machine prints none
   */
  readonly progressSeconds?: number;
  /** The content of standard input. */
  readonly input?: string | Uint8Array;
  /**
   * Whether to run it in a separate process: for tests of process behaviour, and of messages shown once per process.
   * @defaultValue false, or true if `env` is given
   */
  readonly asProcess?: boolean;
}

/** Runs the command line, by default in this process, because starting one costs more than most commands do. */
export function runCli(args: readonly string[], options: CliRunOptions = {}): Promise<CliRun> {
  if (options.asProcess ?? options.env !== undefined) return runProcess(args, options);
  // One after another, because they share the streams and the folder of this process.
  const run = lastRun.then(() => runHere(args, options));
  lastRun = run.catch(() => undefined);
  return run;
}

let lastRun: Promise<unknown> = Promise.resolve();

/** Runs the built command line in a separate process with a time limit. */
function runProcess(args: readonly string[], options: CliRunOptions): Promise<CliRun> {
  return new Promise((resolve, reject) => {
    const { EVENHAND_LOG_LEVEL: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd,
      // The same backend on every machine; with auto, native libraries would print additional lines.
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

/** Prints the peak memory of a process, in KiB, when it ends. */
const PRINT_PEAK = `data:text/javascript,process.on('exit',()=>process.stderr.write('PEAK='+process.resourceUsage().maxRSS))`;

/** Runs the command line in a separate process, whose peak memory is measured, in MiB. */
export async function runWithPeak(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliRun & { readonly peak: number }> {
  const run = await runCli(args, { env: { ...env, NODE_OPTIONS: `--import=${encodeURI(PRINT_PEAK)}` } });
  return { ...run, peak: Number(/PEAK=(\d+)/.exec(run.stderr)?.[1] ?? NaN) / 1024 };
}

/** Runs the command line in this process with substituted streams. */
async function runHere(
  args: readonly string[],
  { cwd, terminal, input = '', progressSeconds = 3600 }: CliRunOptions,
): Promise<CliRun> {
  const { runCommandLine } = (await import(PROGRAM)) as typeof import('../../src/cli/program.ts');
  const { setLogLevel } = (await import(LOGGER)) as typeof import('../../src/internal/logger.ts');
  const folder = process.cwd();
  const { exitCode } = process;
  const { EVENHAND_LOG_LEVEL, EVENHAND_TF_BACKEND, EVENHAND_PROGRESS_SECONDS, FORCE_COLOR } = process.env;
  const stdout = captureStream('stdout', terminal?.columns);
  const stderr = captureStream('stderr');
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input as string)]) });
  const force = terminal === undefined ? undefined : String(Number(terminal.colours));
  setVariables({
    EVENHAND_LOG_LEVEL: undefined,
    EVENHAND_TF_BACKEND: 'wasm',
    EVENHAND_PROGRESS_SECONDS: String(progressSeconds),
    FORCE_COLOR: force,
  });
  process.exitCode = undefined;
  try {
    if (cwd !== undefined) process.chdir(cwd);
    await runCommandLine(args);
    return { code: endedWith(), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.chdir(folder);
    process.exitCode = exitCode;
    setLogLevel(undefined);
    setVariables({ EVENHAND_LOG_LEVEL, EVENHAND_TF_BACKEND, EVENHAND_PROGRESS_SECONDS, FORCE_COLOR });
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

/** Returns the exit code that a command has set; 0 if it has set none. */
function endedWith(): number {
  const { exitCode } = process as { readonly exitCode?: number | string | null };
  return Number(exitCode ?? 0);
}

/** Captures what is written to a stream of this process until it is released. */
function captureStream(
  name: 'stdout' | 'stderr',
  terminalColumns?: number,
): { readonly text: () => string; readonly release: () => void } {
  const stream = process[name];
  const { isTTY, columns } = stream;
  const own = Object.getOwnPropertyDescriptor(stream, 'write');
  const chunks: Buffer[] = [];
  stream.isTTY = terminalColumns !== undefined;
  stream.columns = terminalColumns ?? 0;
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
      stream.columns = columns;
    },
  };
}

/** Joins the lines of a text into one, because the text of a command is wrapped. */
export function joinLines(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Creates a temporary folder for a suite, which is removed after it. */
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
