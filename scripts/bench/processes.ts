import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { ROWS, writeManyRows, writeRows, writeSubgroupRows } from './data.ts';
import { measureProcess, median, type ProcessFigures } from './measure.ts';
import { assertResult, type Note } from './report.ts';

const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
const COLUMNS = ['--y-true', 'y', '--y-pred', 'p', '--sensitive', 's'];

function validate(file: string): Promise<ProcessFigures> {
  return measureProcess([cli, 'validate', '--csv', file, ...COLUMNS, '--json']);
}

function equalizedOdds({ stdout }: ProcessFigures): number | undefined {
  const { metrics } = JSON.parse(stdout) as { metrics: Record<string, { value: number }> };
  return metrics['equalized_odds_difference']?.value;
}

/** B2: measures `validate` on ten million rows, as a process. */
export async function benchFiles(folder: string, note: Note): Promise<void> {
  const csv = path.join(folder, 'rows.csv');
  const parquet = path.join(folder, 'rows.parquet');
  await writeRows(csv, parquet, ROWS);
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
    results.push(equalizedOdds(figure));
    const { seconds, peakMib } = figure;
    const work = `validate on a ${path.extname(file)} file of 10 million rows, as a process`;
    const holds = seconds < bar && peakMib < 400;
    note({ id: 'B2', work, seconds, peakMib, bar: `< ${String(bar)} s, < 400 MiB`, holds });
  }
  assertResult(results[0] !== undefined && results[0] === results[1], 'CSV and Parquet give the same');
}

/** B10: measures `validate` on a Parquet file of a hundred million rows, as a process. */
export async function benchHugeFile(folder: string, note: Note): Promise<void> {
  const file = path.join(folder, 'many.parquet');
  const expected = await writeManyRows(file, 10 * ROWS);
  const figure = await median(
    3,
    () => validate(file),
    (one) => one.seconds,
  );
  assertResult(Math.abs((equalizedOdds(figure) ?? NaN) - expected) < 1e-12, 'EOD of 100 million rows');
  const { seconds, peakMib } = figure;
  const work = 'validate on a Parquet file of 100 million rows, as a process';
  note({ id: 'B10', work, seconds, peakMib, bar: '< 5 s, < 600 MiB', holds: seconds < 5 && peakMib < 600 });
}

/**
 * B13: measures `subgroups` on a million rows of twelve columns to depth 3, as a process, beside a brute force in pandas
 * if a Python with pandas is given.
 */
export async function benchSubgroups(folder: string, python: string | undefined, note: Note): Promise<void> {
  const file = path.join(folder, 'subgroups.csv');
  const columns = await writeSubgroupRows(file, 1_000_000);
  const search = ['subgroups', '--csv', file, '--columns', columns.join(), '--y-pred', 'hired', '--json'];
  const figure = await median(
    3,
    () => measureProcess([cli, ...search]),
    (one) => one.seconds,
  );
  const { subgroups, searched } = JSON.parse(figure.stdout) as { subgroups: { label: string }[]; searched: number };
  assertResult(subgroups[0]?.label === 'c0 = v0 and c1 = v0 and c2 = v0', 'the planted subgroup is found');
  assertResult(searched === 12 * 5 + 66 * 25 + 220 * 125, 'all conjunctions are searched');
  const { seconds, peakMib } = figure;
  const work = 'subgroups on a CSV file of 1 million rows, 12 columns to depth 3, as a process';
  note({ id: 'B13', work, seconds, peakMib, bar: '< 20 s, < 1024 MiB', holds: seconds < 20 && peakMib < 1024 });
  if (python === undefined) return;
  const start = performance.now();
  const { stdout } = await promisify(execFile)(python, ['-c', BRUTE_FORCE, file], { timeout: 600_000 });
  assertResult(stdout.trim() === "('c0', 'c1', 'c2') ('v0', 'v0', 'v0')", 'pandas finds the same');
  const peer = (performance.now() - start) / 1000;
  note({ id: 'B13', work: 'the same search with pandas, without tests', seconds: peer, bar: 'reported', holds: true });
}

/** Searches all conjunctions with pandas, without a test of what it finds. */
const BRUTE_FORCE = `import itertools, sys
import numpy as np, pandas as pd
rows = pd.read_csv(sys.argv[1])
y = rows.pop('hired')
for name in rows.columns:
    if rows[name].nunique() > 10: rows[name] = pd.qcut(rows[name], 5, labels=False)
columns, n, mean = list(rows.columns), len(y), y.mean()
rows['y'] = y
best = (0, None, None)
for depth in (1, 2, 3):
    for chosen in itertools.combinations(columns, depth):
        cells = rows.groupby(list(chosen))['y'].agg(['count', 'sum'])
        cells = cells[cells['count'] >= 100]
        t = (cells['sum'] - mean * cells['count']) / np.sqrt(cells['count'] * (1 - cells['count'] / n))
        at = t.abs().idxmax()
        best = max(best, (abs(t[at]), chosen, at), key=lambda one: one[0])
print(best[1], best[2])`;

/** The bare GROUP BY of DuckDB, as a process. */
const BARE_QUERY = `const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const query = "SELECT s, y, p, count(*) FROM read_parquet('" + process.argv[1] + "') GROUP BY s, y, p";
  console.log((await connection.runAndReadAll(query)).getRows().length);
})();`;

/**
 * B12: measures `validate` on a Parquet file of a billion rows beside DuckDB's bare query, as processes in alternation,
 * and on smaller files to see how the time grows.
 */
export async function benchBillion(folder: string, note: Note): Promise<void> {
  const secondsOf = async (rows: number): Promise<[own: number, bare: number]> => {
    const file = path.join(folder, 'billion.parquet');
    const expected = await writeManyRows(file, rows);
    const own: number[] = [];
    const bare: number[] = [];
    let peakMib = 0;
    for (let run = 0; run < 3; run++) {
      const figure = await validate(file);
      assertResult(Math.abs((equalizedOdds(figure) ?? NaN) - expected) < 1e-12, `EOD of ${String(rows)} rows`);
      own.push(figure.seconds);
      peakMib = Math.max(peakMib, figure.peakMib);
      bare.push((await measureProcess(['-e', BARE_QUERY, file])).seconds);
    }
    const [seconds, ofBare] = [own, bare].map((all) => all.sort((a, b) => a - b)[1]) as [number, number];
    const ratio = seconds / ofBare;
    note({
      ...{
        id: 'B12',
        work: `validate on a Parquet file of ${String(rows / 1e6)} million rows, as a process`,
        seconds,
        peakMib,
      },
      bar:
        rows < 1e9
          ? 'none'
          : `< 1.3 times DuckDB's bare query (${ratio.toFixed(2)} times ${ofBare.toFixed(2)} s), < 600 MiB`,
      holds: rows < 1e9 || (ratio < 1.3 && peakMib < 600),
    });
    return [seconds, ofBare];
  };
  for (const rows of [ROWS, 10 * ROWS, 100 * ROWS]) await secondsOf(rows);
}

/** B8: measures the start of the command line. */
export async function benchStart(folder: string, note: Note): Promise<void> {
  const csv = path.join(folder, 'small.csv');
  await writeRows(csv, path.join(folder, 'small.parquet'), 1000);
  for (const [work, args, bar] of [
    ['--help', ['--help'], 0.15],
    ['validate on 1,000 rows', ['validate', '--csv', csv, ...COLUMNS], 0.35],
  ] as const) {
    const { seconds, stdout } = await median(
      9,
      () => measureProcess([cli, ...args]),
      (one) => one.seconds,
    );
    assertResult(stdout.length > 100, work);
    note({ id: 'B8', work: `${work}, as a process`, seconds, bar: `< ${String(bar)} s`, holds: seconds < bar });
  }
}
