import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { ROWS } from './data.ts';
import type { Case } from './report.ts';

/** One case that a peer printed. */
export interface PeerLine {
  readonly case: string;
  readonly n: number;
  readonly seconds: number;
  readonly peak_mib: number;
  readonly result: number | string;
}

/** Which of our cases a peer's case stands beside. */
const BESIDE: Readonly<Record<string, (one: Case) => boolean>> = {
  eod_arrays: ({ work }) => work === 'EOD on 10 million rows, from strings',
  eod_csv: ({ work }) => work.startsWith('validate on a .csv'),
  bootstrap_100: ({ work }) => work.startsWith('demographic_parity_difference with its interval'),
};

/** Rows of fairlearn's bootstrap, which it cannot do in reasonable time for more. */
const BOOTSTRAP_ROWS = 100_000;

/** Runs the peer's scripts, one case after another. */
export async function runPeers(folder: string, python: string): Promise<PeerLine[]> {
  const run = async (rows: number): Promise<PeerLine[]> => {
    const { stdout } = await promisify(execFile)(python, [path.join(folder, 'metrics.py'), String(rows)], {
      timeout: 900_000,
      maxBuffer: 1 << 20,
    });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PeerLine);
  };
  const large = await run(ROWS);
  const small = await run(BOOTSTRAP_ROWS);
  return [...large, ...small.filter((line) => line.case.startsWith('bootstrap'))];
}

/** One line of a peer's case, with how many times ours it took. */
export function describePeer(line: PeerLine, cases: readonly Case[]): string {
  const ours = cases.find(BESIDE[line.case] ?? (() => false));
  const ratio = ours === undefined ? '' : `  ${(line.seconds / ours.seconds).toFixed(0)} times ours (${ours.work})`;
  return `peer  ${line.case} on ${String(line.n)} rows  ${line.seconds.toFixed(1)} s, ${String(line.peak_mib)} MiB${ratio}`;
}
