/**
 * Measures this package against its bars; asserts every result before it times it.
 *
 *     npm run bench
 *     npm run bench -- --peers DIR [--python PYTHON]
 *
 * With --peers, runs DIR/metrics.py (fairlearn on the same work) beside it, in
 * the same run on the same machine. Writes bench-results.json.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { equalizedOddsDifference } from '../../src/metrics/index.ts';
import { makeRows, ROWS, writeRows } from './data.ts';
import { measureProcess, median } from './measure.ts';

interface Case {
  readonly id: string;
  readonly work: string;
  readonly seconds: number;
  readonly peakMib?: number;
  readonly bar: string;
  readonly holds: boolean;
}

interface PeerLine {
  readonly case: string;
  readonly seconds: number;
  readonly peak_mib: number;
  readonly result: number;
}

const { values } = parseArgs({
  options: { peers: { type: 'string' }, python: { type: 'string', default: 'python3' } },
});
const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-bench-'));
const cases: Case[] = [];

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong result: ${what}`);
}

function note(one: Case): void {
  cases.push(one);
  const memory = one.peakMib === undefined ? '' : `, ${one.peakMib.toFixed(0)} MiB`;
  console.log(
    `${one.id}  ${one.holds ? 'ok  ' : 'MISS'}  ${one.seconds.toFixed(3)} s${memory}  ${one.work}  (bar: ${one.bar})`,
  );
}

function timed<T>(work: () => T): { seconds: number; result: T } {
  const start = performance.now();
  const result = work();
  return { seconds: (performance.now() - start) / 1000, result };
}

/** The metric straight from its definition, row by row. */
function definition(rows: ReturnType<typeof makeRows>): number {
  const positive = new Float64Array(16);
  const all = new Float64Array(16);
  rows.codes.forEach((group, row) => {
    const cell = 2 * group + (rows.yTrue[row] ?? 0);
    all[cell] = (all[cell] ?? 0) + 1;
    positive[cell] = (positive[cell] ?? 0) + (rows.yPred[row] ?? 0);
  });
  const gap = (label: number): number => {
    const rates = rows.labels.map((_, group) => (positive[2 * group + label] ?? NaN) / (all[2 * group + label] ?? NaN));
    return Math.max(...rates) - Math.min(...rates);
  };
  return Math.max(gap(0), gap(1));
}

async function benchArrays(): Promise<void> {
  const rows = makeRows(ROWS);
  const { labels, codes, yTrue, yPred } = rows;
  const expected = definition(rows);
  const options = { withCi: false, withEffectSize: false };
  const strings = Array.from(codes, (code) => labels[code] ?? '');
  const run = (sensitive: Parameters<typeof equalizedOddsDifference>[2]) =>
    timed(() => equalizedOddsDifference(yTrue, yPred, sensitive, options).value);
  for (const [title, sensitive, bar] of [
    ['from integer codes', { kind: 'categorical', codes, labels }, 0.05],
    ['from strings', strings, 47 / 150],
  ] as const) {
    const { seconds, result } = await median(
      7,
      () => run(sensitive),
      (one) => one.seconds,
    );
    assert(Math.abs(result - expected) < 1e-12, `EOD ${title}`);
    note({
      id: 'B1',
      work: `EOD on 10 million rows, ${title}`,
      seconds,
      bar: `< ${bar.toFixed(3)} s`,
      holds: seconds < bar,
    });
  }
}

async function benchFiles(): Promise<void> {
  const csv = path.join(folder, 'rows.csv');
  const parquet = path.join(folder, 'rows.parquet');
  await writeRows(csv, parquet, ROWS);
  const validate = (file: string) =>
    measureProcess([cli, 'validate', '--csv', file, '--y-true', 'y', '--y-pred', 'p', '--sensitive', 's', '--json']);
  const value = (stdout: string) =>
    (JSON.parse(stdout) as { metrics: Record<string, { value: number }> }).metrics['equalized_odds_difference']?.value;
  const results: (number | undefined)[] = [];
  for (const [file, bar] of [
    [csv, 1.5],
    [parquet, 0.6],
  ] as const) {
    const figure = await median(
      5,
      () => validate(file),
      (one) => one.seconds,
    );
    results.push(value(figure.stdout));
    const { seconds, peakMib } = figure;
    const work = `validate on a ${path.extname(file)} file of 10 million rows, as a process`;
    note({
      id: 'B2',
      work,
      seconds,
      peakMib,
      bar: `< ${String(bar)} s, < 400 MiB`,
      holds: seconds < bar && peakMib < 400,
    });
  }
  assert(results[0] !== undefined && results[0] === results[1], 'CSV and Parquet give the same');
}

async function benchStart(): Promise<void> {
  const csv = path.join(folder, 'small.csv');
  await writeRows(csv, path.join(folder, 'small.parquet'), 1000);
  for (const [work, args, bar] of [
    ['--help', ['--help'], 0.25],
    ['validate on 1,000 rows', ['validate', '--csv', csv, '--y-true', 'y', '--y-pred', 'p', '--sensitive', 's'], 0.6],
  ] as const) {
    const { seconds, stdout } = await median(
      9,
      () => measureProcess([cli, ...args]),
      (one) => one.seconds,
    );
    assert(stdout.length > 100, work);
    note({ id: 'B8', work: `${work}, as a process`, seconds, bar: `< ${String(bar)} s`, holds: seconds < bar });
  }
}

async function runPeers(peers: string): Promise<PeerLine[]> {
  const { stdout } = await promisify(execFile)(values.python, [path.join(peers, 'metrics.py'), String(ROWS)], {
    timeout: 900_000,
    maxBuffer: 1 << 20,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PeerLine);
}

try {
  await benchArrays();
  await benchFiles();
  await benchStart();
  const peers = values.peers === undefined ? [] : await runPeers(path.resolve(values.peers));
  for (const { case: name, seconds, peak_mib: peakMib } of peers) {
    const ours = { eod_arrays: cases[1], eod_csv: cases[2] }[name];
    const ratio = ours === undefined ? '' : `  ${(seconds / ours.seconds).toFixed(0)} times ours (${ours.work})`;
    console.log(`peer  ${name}  ${seconds.toFixed(1)} s, ${String(peakMib)} MiB${ratio}`);
  }
  const machine = { node: process.versions.node, cpu: cpus()[0]?.model, cores: cpus().length };
  await writeFileAtomic('bench-results.json', `${JSON.stringify({ machine, cases, peers }, undefined, 2)}\n`);
  console.log('Wrote bench-results.json');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
