import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import { type DuckDbEngine, openDuckDb } from '../../src/io/index.ts';
import { replay, replaySql, type ReplaySqlOptions } from '../../src/monitoring/index.ts';
import { errorOf } from '../helpers/engine-suite.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

interface Row {
  readonly day: string;
  readonly sex: string | null;
  readonly race: string;
  readonly approved: number | null;
  readonly repaid: number | null;
}

/** Draws 200 decisions a day for 60 days, of which the last 30 are unfair. */
function drawRows(seed: number, isFair = false): Row[] {
  const random = createRandom(seed);
  return Array.from({ length: 12_000 }, (_, row) => {
    const day = new Date(86_400_000 * Math.floor(row / 200)).toISOString().slice(0, 10);
    const sex = random.next() < 0.5 ? 'f' : "m'x";
    const rate = isFair || row < 6000 ? 0.5 : sex === 'f' ? 0.3 : 0.65;
    const race = 'abc'[random.integer(3)] as string;
    const repaid = random.next() < 0.2 ? null : random.integer(2);
    return { day, sex, race, approved: Number(random.next() < rate), repaid };
  });
}

describe('replaySql', () => {
  const folder = useTemporaryFolder();
  let engine: DuckDbEngine;
  let files = 0;
  before(() => {
    engine = openDuckDb();
  });
  after(() => engine.close());

  const store = (rows: readonly object[]): string => {
    const [first = {}] = rows;
    const lines = rows.map((row) =>
      Object.values(row)
        .map((value) => (value === null ? '' : String(value)))
        .join(','),
    );
    const file = path.join(folder(), `rows-${String(++files)}.csv`);
    writeFileSync(file, `${[Object.keys(first).join(','), ...lines].join('\n')}\n`);
    return file;
  };
  const queryOf = (rows: readonly object[]): string => `SELECT * FROM '${store(rows)}'`;
  const tracker = {
    columns: {
      yPred: 'approved',
      yTrue: 'repaid',
      protected: ['sex', 'race'],
      timestamp: 'day',
      intersections: [['sex', 'race']],
    },
    windowSize: 2000,
  } satisfies ReplaySqlOptions['tracker'];
  // Checks and the window end with a day, so that the order within a day has no effect.
  const options = { tracker, lookEvery: 200, engine: { detectors: [] } };

  it('gives the alerts, states and records of the rows themselves, if checks are at the ends of days', async () => {
    const rows = drawRows(1);
    const [counted, single] = await Promise.all([
      replaySql({ engine, query: queryOf([...rows].reverse()) }, options),
      replay(store(rows), options),
    ]);
    expect(counted.nEvents).to.equal(12_000);
    expect(single.alerts.length).to.be.above(0);
    expect(counted.alerts).to.deep.equal(single.alerts);
    expect(counted.states).to.deep.equal(single.states);
    for (const window of ['sliding', 'cumulative'] as const)
      expect(counted.tracker.metrics({ window })).to.have.deep.members([...single.tracker.metrics({ window })]);
    expect(counted.tracker.labelCoverage()).to.have.deep.members([...single.tracker.labelCoverage()]);
  });

  it('raises no false alarm in more than 5% of fair streams, in the random order of a seed @study', async function () {
    this.timeout(300_000);
    let alarmed = 0;
    for (let seed = 100; seed < 200; seed++) {
      const { alerts } = await replaySql(
        { engine, query: queryOf(drawRows(seed, true)) },
        { tracker, seed, engine: { limits: { demographic_parity_difference: 0, equalized_odds_difference: 0 } } },
      );
      alarmed += Number(alerts.length > 0);
    }
    // With a probability of 5%, more than 12 of 100 occur with a probability below 0.2%.
    expect(alarmed).to.be.at.most(12);
  });

  it('reads labels, scores, and excludes and counts incomplete rows', async () => {
    const rows = drawRows(2).map((row, index) => ({
      ...row,
      approved: index % 100 === 0 ? null : row.approved === 1 ? 'granted' : 'denied',
      repaid: row.repaid === null ? null : row.repaid === 1 ? 'paid' : 'lost',
      sex: index % 50 === 1 ? null : row.sex,
    }));
    const labels = { ...tracker, positiveLabel: 'granted', yTruePositiveLabel: 'paid' };
    const complete = rows.filter(({ approved, sex }) => approved !== null && sex !== null);
    const found = await replaySql({ engine, query: queryOf(rows) }, { ...options, tracker: labels });
    expect([found.nEvents, found.nDropped]).to.deep.equal([complete.length, rows.length - complete.length]);
    const expected = await replay(store(complete), { ...options, tracker: labels });
    const cumulative = { window: 'cumulative' } as const;
    expect(found.tracker.metrics(cumulative)).to.have.deep.members([...expected.tracker.metrics(cumulative)]);

    const scored = drawRows(3).map((row) => ({ ...row, approved: row.approved === 1 ? 0.8 : 0.6 }));
    const threshold = { ...tracker, decisionThreshold: 0.7 };
    const ofScores = await replaySql(
      { engine, query: queryOf(scored) },
      { ...options, tracker: threshold, areScores: true },
    );
    const plain = await replay(store(drawRows(3)), options);
    expect(ofScores.tracker.metrics(cumulative)).to.have.deep.members([...plain.tracker.metrics(cumulative)]);
  });

  it('what cannot be replayed is one clear error', async () => {
    const source = { engine, query: queryOf(drawRows(4).slice(0, 400)) };
    const given = (columns: object): ReplaySqlOptions => ({
      tracker: { columns: { yPred: 'approved', protected: ['sex'], timestamp: 'day', ...columns } },
    });
    const cases: readonly (readonly [ReplaySqlOptions, RegExp])[] = [
      [given({ timestamp: undefined }), /no column of times is named/],
      [given({ id: 'race' }), /have no ids/],
      [given({ weight: 'repaid' }), /have no weights/],
      [given({ timestamp: 'race' }), /'race'.*time/],
      [given({ yPred: 'none' }), /'none'/],
      [{ ...given({}), lookEvry: 1 } as ReplaySqlOptions, /lookEvry/],
    ];
    for (const [wrong, message] of cases) {
      const error = await errorOf(replaySql(source, wrong));
      expect(error instanceof DataValidationError || error instanceof ValueError, error.message).to.equal(true);
      expect(error.message).to.match(message);
    }
  });

  it('the command line: the alarm of a file, and no row is needed', async () => {
    const file = store(drawRows(5));
    const args = ['--y-pred', 'approved', '--sensitive', 'sex', '--timestamp', 'day', '--look-every', '200', '--json'];
    const [counted, single] = await Promise.all([
      runCli(['monitor', '--sql', 'duckdb:', '--query', `SELECT * FROM '${file}'`, ...args]),
      runCli(['monitor', '--csv', file, ...args]),
    ]);
    expect([counted.code, single.code], counted.stderr).to.deep.equal([1, 1]);
    const [own, expected] = [counted, single].map(
      ({ stdout }) => JSON.parse(stdout) as { alerts: readonly { id: string; timestamp: string }[] },
    );
    const shown = (run: typeof own) => run?.alerts.map(({ id, timestamp }) => [id, timestamp]);
    expect(shown(own)).to.deep.equal(shown(expected));
    const without = await runCli(['monitor', '--sql', 'duckdb:', '--query', `SELECT * FROM '${file}'`, '--y-pred', 'approved', '--sensitive', 'sex']); // prettier-ignore
    expect([without.code, without.stderr]).to.deep.equal([2, without.stderr]);
    expect(without.stderr).to.match(/no column of times is named[^]*CAST/);
    const both = await runCli(['monitor', '--csv', file, '--sql', 'duckdb:', '--query', 'SELECT 1', ...args]);
    expect(both.stderr).to.match(/--csv and --sql are given, but only one of them is read/);
  });
});
