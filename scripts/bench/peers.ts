import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { ROWS } from './data.ts';
import type { Case } from './report.ts';
import { STREAM_EVENTS } from './streaming.ts';

/** A case as a peer printed it. */
export interface PeerLine {
  readonly case: string;
  readonly n: number;
  readonly seconds: number;
  readonly peak_mib: number;
  readonly result: unknown;
}

/** The case of this package that corresponds to a peer's case. */
const BESIDE: Readonly<Record<string, (one: Case) => boolean>> = {
  eod_arrays: ({ work }) => work === 'EOD on 10 million rows, from strings',
  eod_csv: ({ work }) => work.startsWith('validate on a .csv'),
  eg_demographic_parity: ({ id }) => id === 'B4',
  sweep16_cpu: ({ id }) => id === 'B5',
  stream_rates_adwin: ({ work }) => work.includes('one by one, 1 of 2'),
  bootstrap_100: ({ work }) => work.startsWith('demographic_parity_difference with its interval'),
};

/** The number of rows of fairlearn's bootstrap, which would take too long for more. */
const BOOTSTRAP_ROWS = 100_000;

/** The peers' scripts, their arguments, and the corresponding benchmarks. */
const SCRIPTS = [
  { ids: ['B1', 'B2'], args: ['metrics.py', String(ROWS)], keep: () => true },
  {
    ids: ['B3'],
    args: ['metrics.py', String(BOOTSTRAP_ROWS)],
    keep: (line: PeerLine) => line.case.startsWith('bootstrap'),
  },
  { ids: ['B4'], args: ['reductions.py'], keep: () => true },
  { ids: ['B5'], args: ['sweep.py', '16', 'cpu'], keep: () => true },
  { ids: ['B6'], args: ['stream.py', String(STREAM_EVENTS)], keep: () => true },
];

/** Runs the peers' scripts one after another. A script whose packages are missing is skipped with a message. */
export async function runPeers(
  folder: string,
  python: string,
  only: readonly string[] | undefined,
): Promise<PeerLine[]> {
  const lines: PeerLine[] = [];
  for (const { ids, args, keep } of SCRIPTS) {
    if (only !== undefined && !ids.some((id) => only.includes(id))) continue;
    lines.push(...(await runScript(folder, python, args)).filter(keep));
  }
  return lines;
}

async function runScript(
  folder: string,
  python: string,
  [script = '', ...args]: readonly string[],
): Promise<PeerLine[]> {
  try {
    const { stdout } = await promisify(execFile)(python, [path.join(folder, script), ...args], {
      timeout: 900_000,
      maxBuffer: 1 << 20,
    });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PeerLine);
  } catch (error) {
    console.log(`peer  ${script} did not run: ${(error as Error).message.trim().split('\n').at(-1) ?? ''}`);
    return [];
  }
}

/** Formats a peer's case in one line, with its time relative to this package. */
export function describePeer(line: PeerLine, cases: readonly Case[]): string {
  const ours = cases.find(BESIDE[line.case] ?? (() => false));
  const ratio = ours === undefined ? '' : `  ${(line.seconds / ours.seconds).toPrecision(3)} times ours (${ours.work})`;
  return `peer  ${line.case} on ${String(line.n)} rows  ${line.seconds.toFixed(1)} s, ${String(line.peak_mib)} MiB${ratio}`;
}
