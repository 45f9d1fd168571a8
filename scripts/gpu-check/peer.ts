import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import type { NetworkRows } from '../../src/tensor/index.ts';
import type { AdultRows } from './adult.ts';
import type { PeerFigures } from './report.ts';

/** Whether and how PyTorch runs beside. */
export interface PeerChoice {
  /** It must, it must not, or where it is there. */
  readonly isWanted: boolean | undefined;
  readonly python: string;
  /** Where its tensors lie. */
  readonly device: 'cuda' | 'cpu';
  readonly limitSeconds: number;
}

/** The work of the loop: that of the sweep. */
export interface PeerWork {
  readonly etas: readonly number[];
  readonly epochs: number;
  readonly batchSize: number;
  readonly hidden: readonly number[];
  readonly lr: number;
}

/** What the loop took and reached; null with the reason where it did not run. */
export interface PeerRun {
  readonly figures: PeerFigures | null;
  readonly reason: string | null;
}

/** To import torch takes seconds, and many where the machine is cold. */
const IMPORT_LIMIT_MILLIS = 120_000;

/** Runs the same work as a loop in PyTorch, on the very rows of the sweep. */
export async function runPeer(rows: AdultRows, work: PeerWork, choice: PeerChoice): Promise<PeerRun> {
  if (choice.isWanted === false) return { figures: null, reason: 'left out by --no-peer' };
  const missing = await whatIsMissing(choice);
  if (missing !== null) return { figures: null, reason: missing };
  const folder = await mkdtemp(path.join(tmpdir(), 'evenhand-peer-'));
  try {
    const header = await exportRows(folder, rows, work);
    const script = path.join(import.meta.dirname, 'pytorch_sweep.py');
    const stdout = await runPython(choice, [script, header, choice.device], choice.limitSeconds * 1000);
    return { figures: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PeerFigures, reason: null };
  } catch (cause) {
    return { figures: null, reason: lastLine(cause) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function whatIsMissing(choice: PeerChoice): Promise<string | null> {
  const question = `import torch; print(torch.cuda.is_available())`;
  try {
    const answer = await runPython(choice, ['-c', question], IMPORT_LIMIT_MILLIS);
    return choice.device === 'cpu' || answer.includes('True') ? null : `PyTorch of ${choice.python} sees no GPU`;
  } catch (cause) {
    return `${choice.python} has no PyTorch (${lastLine(cause)})`;
  }
}

async function runPython({ python }: PeerChoice, args: readonly string[], timeout: number): Promise<string> {
  const running = promisify(execFile)(python, args, { timeout, maxBuffer: 1 << 24, env: surroundings() });
  const end = (): void => void running.child.kill('SIGKILL');
  // It must not outlive a check that is stopped.
  process.once('exit', end);
  try {
    return (await running).stdout;
  } finally {
    process.off('exit', end);
  }
}

/** The environment without the libraries that a pack puts before the machine's own. */
function surroundings(): NodeJS.ProcessEnv {
  const { EVENHAND_HOST_LIBRARY_PATH: host, LD_LIBRARY_PATH: own, ...others } = process.env;
  const libraries = host ?? own ?? '';
  return libraries === '' ? others : { ...others, LD_LIBRARY_PATH: libraries };
}

/** Writes matrices as raw little-endian float32 beside a header; returns the header's path. */
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

/** What a program said last, or what became of it. */
function lastLine(cause: unknown): string {
  const { stderr, killed, message } = cause as { stderr?: string; killed?: boolean; message: string };
  if (killed === true) return 'ended, since it took too long';
  const text = (stderr ?? '').trim() === '' ? message : (stderr ?? '');
  return text.trim().split('\n').at(-1) ?? '';
}
