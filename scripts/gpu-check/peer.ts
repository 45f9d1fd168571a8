import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { NetworkRows } from '../../src/tensor/index.ts';
import type { AdultRows } from './adult.ts';
import type { PeerFigures } from './report.ts';
import { type ProgramRun, runProgram } from './run-program.ts';

/** Whether and how PyTorch runs. */
export interface PeerChoice {
  /** Whether it must run (true), must not run (false), or runs if available (undefined). */
  readonly isWanted: boolean | undefined;
  readonly python: string;
  /** The device of its tensors. */
  readonly device: 'cuda' | 'cpu';
  /** The number of runs, if time allows. */
  readonly runs: number;
  readonly limitSeconds: number;
  readonly signal: AbortSignal;
}

/** The work of the loop, which is that of the sweep. */
export interface PeerWork {
  readonly etas: readonly number[];
  readonly epochs: number;
  readonly batchSize: number;
  readonly hidden: readonly number[];
  readonly lr: number;
}

/** The result of the loop; null with the reason if it did not run. */
export interface PeerRun {
  readonly figures: PeerFigures | null;
  readonly reason: string | null;
}

/** The time limit for importing torch, which takes seconds, or longer on a cold machine. */
const IMPORT_LIMIT_SECONDS = 120;

/** With less time than this, the loop is not started. */
const MIN_SECONDS = 10;

/** Runs the same work as a loop in PyTorch, on the same rows as the sweep. */
export async function runPeer(rows: AdultRows, work: PeerWork, choice: PeerChoice): Promise<PeerRun> {
  if (choice.isWanted === false) return { figures: null, reason: 'skipped because of --no-peer' };
  const start = performance.now();
  const left = (): number => choice.limitSeconds - (performance.now() - start) / 1000;
  if (left() < MIN_SECONDS) return { figures: null, reason: 'no time was left for it' };
  const missing = await whatIsMissing(choice);
  if (missing !== null) return { figures: null, reason: missing };
  const folder = await mkdtemp(path.join(tmpdir(), 'evenhand-peer-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  // Also if the check is stopped.
  process.once('exit', remove);
  try {
    const header = await exportRows(folder, rows, work);
    const script = path.join(import.meta.dirname, 'pytorch_sweep.py');
    const limit = left();
    const args = [script, header, choice.device, String(choice.runs), limit.toFixed(1)];
    return readAnswer(await runPython(choice, args, limit), work);
  } catch (cause) {
    return { figures: null, reason: (cause as Error).message };
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function whatIsMissing(choice: PeerChoice): Promise<string | null> {
  const question = `import torch; print(torch.cuda.is_available())`;
  const limit = Math.min(IMPORT_LIMIT_SECONDS, choice.limitSeconds);
  try {
    const run = await runPython(choice, ['-c', question], limit);
    if (run.code !== 0) return `${choice.python} has no PyTorch (${whyItEnded(run)})`;
    return choice.device === 'cpu' || run.stdout.includes('True') ? null : `PyTorch of ${choice.python} finds no GPU`;
  } catch (cause) {
    return `${choice.python} cannot be started (${(cause as Error).message})`;
  }
}

function runPython({ python, signal }: PeerChoice, args: readonly string[], seconds: number): Promise<ProgramRun> {
  return runProgram(python, args, { limitMillis: seconds * 1000, signal, env: surroundings() });
}

/** Returns the environment without the libraries that a pack puts before those of the machine. */
function surroundings(): NodeJS.ProcessEnv {
  const { EVENHAND_HOST_LIBRARY_PATH: host, LD_LIBRARY_PATH: own, ...others } = process.env;
  const libraries = host ?? own ?? '';
  return libraries === '' ? others : { ...others, LD_LIBRARY_PATH: libraries };
}

/** Parses the last line of the loop. It prints one after each of its runs, so that finished runs count. */
export function readAnswer(run: ProgramRun, { etas }: Pick<PeerWork, 'etas'>): PeerRun {
  const line = run.stdout.trim().split('\n').at(-1) ?? '';
  if (line === '' || (run.code !== 0 && !run.wasEnded)) return { figures: null, reason: whyItEnded(run) };
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    return { figures: null, reason: 'the output of the loop is not JSON' };
  }
  if (!isAnswer(answer, etas.length)) return { figures: null, reason: 'the output of the loop is not as expected' };
  return { figures: answer, reason: null };
}

function isAnswer(answer: unknown, etas: number): answer is PeerFigures {
  if (typeof answer !== 'object' || answer === null) return false;
  const {
    torch,
    device,
    rows,
    run_seconds: runs,
    warm_up_seconds: warmUp,
    points,
    peak_bytes: peak,
  } = answer as {
    readonly [Key in keyof PeerFigures]?: unknown;
  };
  return (
    typeof torch === 'string' &&
    typeof device === 'string' &&
    [rows, warmUp].every((value) => Number.isFinite(value)) &&
    (peak === null || Number.isFinite(peak)) &&
    Array.isArray(runs) &&
    runs.length > 0 &&
    runs.every((seconds) => Number.isFinite(seconds) && (seconds as number) > 0) &&
    Array.isArray(points) &&
    points.length === etas &&
    points.every(isPoint)
  );
}

function isPoint(point: unknown): boolean {
  if (typeof point !== 'object' || point === null) return false;
  const { eta, accuracy, dp } = point as Record<string, unknown>;
  return [eta, accuracy, dp].every((value) => Number.isFinite(value));
}

/** Writes matrices as raw little-endian float32 next to a header; returns the header's path. */
async function exportRows(folder: string, { train, test }: AdultRows, work: PeerWork): Promise<string> {
  const write = async (name: string, rows: NetworkRows): Promise<void> => {
    await writeFile(path.join(folder, `${name}_x.f32`), bytesOf(rows.x));
    await writeFile(path.join(folder, `${name}_y.f32`), bytesOf(rows.y));
    await writeFile(path.join(folder, `${name}_s.f32`), bytesOf(Float32Array.from(rows.groups)));
  };
  await write('train', train);
  await write('test', test);
  const header = path.join(folder, 'work.json');
  const { etas, epochs, batchSize, hidden, lr } = work;
  const sizes = { columns: train.inputs, train: train.y.length, test: test.y.length };
  await writeFile(header, JSON.stringify({ ...sizes, etas, epochs, batch: batchSize, hidden: hidden[0], lr }));
  return header;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the last output of a program, or how it ended. */
function whyItEnded({ stderr, code, wasEnded }: ProgramRun): string {
  if (wasEnded) return 'stopped because it took too long';
  const said = stderr.trim().split('\n').at(-1) ?? '';
  return said === '' ? `exited with code ${String(code)} and no output` : said;
}
