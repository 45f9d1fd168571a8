import { parseArgs } from 'node:util';

import { TENSOR_BACKENDS, type BackendChoice } from '../../src/tensor/index.ts';
import { PART_NAMES, type PartName } from './report.ts';

/** The options of a check. */
export interface CheckOptions {
  readonly data: string | undefined;
  readonly out: string | undefined;
  readonly backend: BackendChoice;
  readonly python: string;
  /** Whether the PyTorch loop must run (true), must not run (false), or runs if PyTorch is available (undefined). */
  readonly peer: boolean | undefined;
  readonly etas: number;
  readonly seeds: readonly number[];
  readonly parts: readonly PartName[];
  readonly quick: boolean;
  readonly allowSoftware: boolean;
  /** YYYY-MM-DD. */
  readonly date: string;
}

/** The output of `--help`. */
export const HELP = `Usage: gpu-check.sh [options]

Checks evenhand on this machine's GPU in one short run: which backend works and
what the others lack, every tensor op against float64, gradients and decisions
against those of the CPU, a sweep of 64 networks at once, memory, a time
profile, and a PyTorch loop that trains the same networks one after another.
Writes one JSON file.

  --data DIR         folder with adult.train.csv and adult.test.csv
                     (a pack may contain the data)
  --out FILE         path of the JSON (docs/gpu/DEVICE.json for a measurement
                     in a checkout, which needs all parts, the complete
                     work and a hardware GPU; else gpu-check.json). An
                     existing measurement is not overwritten by a smaller
                     check, which is written to FILE.partial.json
  --backend NAME     auto (the first GPU that works), node-gpu, webgpu, node,
                     wasm or cpu; a pack has neither node-gpu nor node.
                     both: webgpu, then node-gpu, each with its own limit of
                     time and its own FILE (FILE.webgpu.json and
                     FILE.node-gpu.json)
  --python PY        the Python that has PyTorch (python3)
  --peer, --no-peer  the PyTorch loop must run, or must not run; by default
                     it runs if PY can import torch
  --etas N           number of networks in the sweep (64)
  --seeds A,B,…      seeds of the sweep, one run each (1,2,3)
  --only PART,…      ${PART_NAMES.join(', ')}
  --quick            less work, for a software GPU; not a measurement
  --allow-software   accept a software GPU
  --date YYYY-MM-DD  the date in the JSON (today)
  --help             show this help

Exit codes: 0 all parts pass, 1 a part fails, 2 usage error, 3 no GPU, 124 out
of time (137 if it had to be killed), 130 interrupted, 143 terminated.
EVENHAND_GPU_CHECK_SECONDS limits the complete run (570); the JSON contains the
results until then.
`;

/** A usage error, printed in one line. */
export class UsageError extends Error {}

/**
 * Parses the command line.
 * @param today the default of `--date`
 * @returns undefined for --help
 * @throws {UsageError} if an option is unknown or a value is out of range
 */
export function readOptions(args: readonly string[], today: string): CheckOptions | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  if (values.peer === true && values['no-peer'] === true)
    throw new UsageError('--peer and --no-peer exclude each other');
  const seeds = (values.seeds ?? '1,2,3').split(',').map((seed) => readAll('--seeds', seed, 0));
  return {
    data: values.data,
    out: values.out,
    backend: readName('--backend', values.backend ?? 'auto', ['auto', ...TENSOR_BACKENDS]),
    python: values.python ?? 'python3',
    peer: values.peer === true ? true : values['no-peer'] === true ? false : undefined,
    etas: readAll('--etas', values.etas ?? '64', 2),
    seeds,
    parts: values.only === undefined ? PART_NAMES : readParts(values.only),
    quick: values.quick === true,
    allowSoftware: values['allow-software'] === true,
    date: readDate(values.date ?? today),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        data: { type: 'string' },
        out: { type: 'string' },
        backend: { type: 'string' },
        python: { type: 'string' },
        peer: { type: 'boolean' },
        'no-peer': { type: 'boolean' },
        etas: { type: 'string' },
        seeds: { type: 'string' },
        only: { type: 'string' },
        quick: { type: 'boolean' },
        'allow-software': { type: 'boolean' },
        date: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

/** Returns the named parts in the order in which they run. */
function readParts(text: string): PartName[] {
  const named = text.split(',').map((name) => readName('--only', name, PART_NAMES));
  return PART_NAMES.filter((name) => named.includes(name));
}

function readName<Name extends string>(option: string, given: string, known: readonly Name[]): Name {
  const found = known.find((name) => name === given);
  if (found === undefined) throw new UsageError(`${option} must be one of ${known.join(', ')}; got '${given}'`);
  return found;
}

function readAll(option: string, given: string, min: number): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`${option} requires whole numbers of at least ${String(min)}; got '${given}'`);
}

function readDate(given: string): string {
  // Date.parse reads a day that does not exist as one of the next month.
  const millis = /^\d{4}-\d{2}-\d{2}$/.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(millis) && new Date(millis).toISOString().startsWith(given)) return given;
  throw new UsageError(`--date requires a day as YYYY-MM-DD; got '${given}'`);
}
