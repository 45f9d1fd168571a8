import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { type DuckDbEngine, openDuckDb, type SqlSource } from '../../src/io/index.ts';
import { writeCsv } from '../../src/io/write-table.ts';
import { reduceClassification } from '../../src/metrics/reduce/reduce-classification.ts';
import { reduceRegression } from '../../src/metrics/reduce/reduce-regression.ts';
import { reduceScores } from '../../src/metrics/reduce/reduce-scores.ts';
import { classLabels } from '../../src/io/positive-label.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
  type SourceStats,
} from '../../src/metrics/reduce/reduce-source.ts';
import type { GroupStats } from '../../src/metrics/statistics/group-stats.ts';
import { Table } from '../../src/table/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { assertSameStats } from '../helpers/stats.ts';

/** 3,000 rows with missing values in every column; names and labels that SQL could confuse with its syntax. */
function makeTable(): Table {
  const random = createRandom(11);
  const rows = Array.from({ length: 3000 }, () => {
    const orMissing = <T>(value: T): T | null => (random.next() < 0.05 ? null : value);
    const pick = <T>(values: readonly T[]): T | null => orMissing(values[random.integer(values.length)] as T);
    return {
      truth: pick([0, 1]),
      decision: pick([0, 1]),
      'class "x"': pick(['hired', 'not hired', 'no answer']),
      g0: pick(['female', 'male', "it's", '(missing)', '||', '🐦', 'a,b', '"q"', '__proto__']),
      weight: orMissing(3 * random.next()),
      p: orMissing(100 * random.normal()),
      w: orMissing(100 * random.normal()),
      score: pick([0, 0.25, 0.5, 1, -3]),
      level: pick([1, 2.5, 10]),
      known: pick(['a', 'b']),
    };
  });
  return Table.from(rows);
}

function statsOf<Stats extends GroupStats>(reduced: readonly SourceStats<Stats>[], index = 0): Stats {
  const own = reduced[index];
  if (own === undefined) throw new Error(`There is no attribute ${index}.`);
  return own.stats;
}

describe('CSV, Parquet and SQL queries give the statistics of arrays', () => {
  const folder = useTemporaryFolder();
  const table = makeTable();
  const columns = table.toColumns();
  const column = (name: string) => columns[name] ?? [];
  let engine: DuckDbEngine;
  const sources: Record<string, () => SqlSource> = {
    'a CSV file': () => path.join(folder(), 'rows.csv'),
    'a Parquet file': () => path.join(folder(), 'rows.parquet'),
    'a query': () => ({ engine, query: 'SELECT *, 1 AS one FROM rows; -- all of them' }),
  };

  before(async () => {
    const csv = path.join(folder(), 'rows.csv');
    await writeCsv(csv, table);
    await runDuckDb(`COPY (SELECT * FROM read_csv('${csv}')) TO '${path.join(folder(), 'rows.parquet')}'`);
    engine = openDuckDb();
    await engine.run((session) => session.rows(`CREATE TABLE rows AS SELECT * FROM read_csv('${csv}')`));
  });
  after(() => engine.close());

  for (const [title, source] of Object.entries(sources)) {
    describe(title, () => {
      for (const nanPolicy of ['exclude', 'include'] as const) {
        for (const sampleWeight of [undefined, 'weight']) {
          const request = { attributes: [['g0'], ['known', 'level'], ['level']], nanPolicy, sampleWeight };
          const rows = {
            nanPolicy,
            sampleWeight: sampleWeight === undefined ? undefined : column(sampleWeight),
          };
          const sensitive = [column('g0'), { known: column('known'), level: column('level') }, column('level')];
          const how = `${nanPolicy} missing groups${sampleWeight === undefined ? '' : ', weighted'}`;

          it(`decisions, ${how}`, async () => {
            const yPred = 'decision';
            const [withTruth, without] = await Promise.all([
              reduceClassificationSource(source(), { ...request, yPred, yTrue: 'truth' }),
              reduceClassificationSource(source(), { ...request, yPred }),
            ]);
            sensitive.forEach((own, index) => {
              const given = { ...rows, sensitive: own, yPred: column('decision') };
              assertSameStats(statsOf(withTruth, index), reduceClassification({ ...given, yTrue: column('truth') }));
              assertSameStats(statsOf(without, index), reduceClassification(given));
            });
          });

          it(`labels with a positive one, ${how}`, async () => {
            const reduced = await reduceClassificationSource(source(), {
              ...request,
              yPred: 'class "x"',
              positiveLabel: 'hired',
            });
            sensitive.forEach((own, index) => {
              const given = { ...rows, sensitive: own, yPred: column('class "x"'), positiveLabel: 'hired' };
              assertSameStats(statsOf(reduced, index), reduceClassification(given));
            });
          });

          it(`numbers, ${how}`, async () => {
            const withTruth = await reduceRegressionSource(source(), { ...request, yPred: 'p', yTrue: 'w' });
            const without = await reduceRegressionSource(source(), { ...request, yPred: 'p' });
            sensitive.forEach((own, index) => {
              const given = { ...rows, sensitive: own, yPred: column('p') };
              assertSameStats(statsOf(withTruth, index), reduceRegression({ ...given, yTrue: column('w') }));
              assertSameStats(statsOf(without, index), reduceRegression(given));
            });
          });

          it(`scores, ${how}`, async () => {
            const reduced = await reduceScoreSource(source(), { ...request, yScore: 'score', yTrue: 'truth' });
            sensitive.forEach((own, index) => {
              const given = { ...rows, sensitive: own, yScore: column('score'), yTrue: column('truth') };
              assertSameStats(statsOf(reduced, index), reduceScores(given));
            });
          });
        }
      }

      it('names the parts of each group', async () => {
        const reduced = await reduceClassificationSource(source(), {
          attributes: [['known', 'level']],
          yPred: 'decision',
          nanPolicy: 'include',
        });
        expect(reduced[0]?.parts).to.have.length(12);
        expect(reduced[0]?.parts.map((parts) => parts.join('||'))).to.deep.equal(statsOf(reduced).labels);
      });

      it('lists the labels of several columns', async () => {
        expect(await classLabels(source(), ['class "x"', 'known'])).to.deep.equal([
          'a',
          'b',
          'hired',
          'no answer',
          'not hired',
        ]);
        expect(await classLabels(source(), ['level', 'truth'])).to.deep.equal(['0', '1', '2.5', '10']);
      });
    });
  }

  it('the same digits on every run, even for sums of fractions', async () => {
    const request = { attributes: [['g0']], nanPolicy: 'exclude', sampleWeight: 'weight' } as const;
    const source = path.join(folder(), 'rows.parquet');
    const runs = [1, 2].map(async () => [
      await reduceRegressionSource(source, { ...request, yPred: 'p', yTrue: 'w' }),
      await reduceScoreSource(source, { ...request, yScore: 'score', yTrue: 'truth' }),
    ]);
    const [first, second] = await Promise.all(runs);
    expect(first).to.deep.equal(second);
  });
});

describe('SQL counts data that is difficult for arrays', () => {
  const folder = useTemporaryFolder();
  const engine = openDuckDb();
  after(() => engine.close());
  const query = (text: string): SqlSource => ({ engine, query: text });

  it('scores beyond the maximum of exact ones use the grid of arrays', async () => {
    const count = 300_000;
    const text = `SELECT CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS g, sin(i) * 5 AS s, i % 2 AS y, 1 + i % 7 / 4 AS w FROM range(${count}) r(i)`;
    const request = { attributes: [['g']], yScore: 's', yTrue: 'y', nanPolicy: 'exclude' } as const;
    const scores = (await engine.run((session) => session.rows(text))).map((row) =>
      row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)),
    );
    for (const kept of [70_000, count]) {
      const rows = scores.slice(0, kept);
      const reduced = await reduceScoreSource(query(`${text} LIMIT ${kept}`), { ...request, sampleWeight: 'w' });
      expect(statsOf(reduced).step).to.equal(8 / 16_384);
      assertSameStats(
        statsOf(reduced),
        reduceScores({
          sensitive: rows.map(([g]) => g),
          yScore: rows.map(([, s]) => s),
          yTrue: rows.map(([, , y]) => y),
          sampleWeight: rows.map(([, , , w]) => w),
        }),
      );
    }
  });

  it('errors of 1e9 with a standard deviation of 1 keep their variance', async () => {
    const text =
      "SELECT CASE WHEN i % 20 < 10 THEN 'a' ELSE 'b' END AS g, 1e9 + i % 100 + CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END AS p, i % 100 AS t, CASE WHEN i % 4 < 2 THEN 1 ELSE 2.5 END AS w FROM range(200000) r(i)";
    for (const sampleWeight of [undefined, 'w']) {
      const reduced = await reduceRegressionSource(query(text), {
        attributes: [['g']],
        yPred: 'p',
        yTrue: 't',
        sampleWeight,
        nanPolicy: 'exclude',
      });
      const { moments, weights } = statsOf(reduced);
      for (const group of [0, 1]) {
        expect(moments.error.mean[group]).to.equal(1e9);
        expect((moments.error.m2[group] ?? NaN) / (weights[group] ?? NaN)).to.be.closeTo(1, 1e-9);
      }
    }
  });

  it('integers above 2^53 stay separate groups, and -0 is 0', async () => {
    const reduce = async (text: string) =>
      (await reduceClassificationSource(query(text), { attributes: [['g']], yPred: 'd', nanPolicy: 'exclude' }))[0]
        ?.stats.labels;
    const big = 'SELECT unnest([9007199254740992, 9007199254740993]) AS g, 1 AS d';
    expect(await reduce(big)).to.deep.equal(['9007199254740992', '9007199254740993']);
    const zeros = "SELECT unnest(['-0'::DOUBLE, '0'::DOUBLE, 'nan'::DOUBLE, NULL]) AS g, 1 AS d";
    expect(await reduce(zeros)).to.deep.equal(['0']);
  });

  it('NaN and null are one group of missing values', async () => {
    const text = "SELECT unnest(['nan'::DOUBLE, NULL, 1]) AS g, unnest([1, 3, 8]) AS v, unnest([1, 1, 0]) AS d";
    const attributes = [['g']];
    const numbers = await reduceRegressionSource(query(text), { attributes, yPred: 'v', nanPolicy: 'include' });
    expect(statsOf(numbers).labels).to.deep.equal(['1', '(missing)']);
    expect([...statsOf(numbers).moments.prediction.mean]).to.deep.equal([8, 2]);
    const scores = await reduceScoreSource(query(text), {
      attributes,
      yScore: 'v',
      yTrue: 'd',
      nanPolicy: 'include',
    });
    expect([...statsOf(scores).scores]).to.deep.equal([8, 1, 3]);
  });

  it('lists a group whose rows were all dropped, with counts of 0', async () => {
    const text = "SELECT unnest(['a', 'b']) AS g, unnest([1, NULL]) AS d, unnest([1, 1]) AS y";
    const request = { attributes: [['g']], nanPolicy: 'exclude' } as const;
    const reduced = await Promise.all([
      reduceClassificationSource(query(text), { ...request, yPred: 'd' }),
      reduceRegressionSource(query(text), { ...request, yPred: 'd' }),
      reduceScoreSource(query(text), { ...request, yScore: 'd', yTrue: 'y' }),
    ]);
    for (const [own] of reduced) {
      expect(own?.stats.labels).to.deep.equal(['a', 'b']);
      expect(own?.stats.nDropped).to.equal(1);
    }
  });

  it('a column that turns to text late is counted as groups, and rejected as numbers with the row', async () => {
    const file = path.join(folder(), 'late.csv');
    const rows = Array.from({ length: 30_000 }, (_, row) => `${row % 10},${row % 2}`);
    writeFileSync(file, `v,y\n${rows.join('\n')}\noops,1\n`);
    const nanPolicy = 'exclude';
    const grouped = await reduceClassificationSource(file, { attributes: [['v']], yPred: 'y', nanPolicy });
    expect(statsOf(grouped).labels).to.have.length(11);
    const request = { attributes: [['y']], nanPolicy } as const;
    const uses = [
      () => reduceRegressionSource(file, { ...request, yPred: 'v' }),
      () => reduceScoreSource(file, { ...request, yScore: 'v', yTrue: 'y' }),
      () => reduceClassificationSource(file, { ...request, yPred: 'y', sampleWeight: 'v' }),
      () => reduceClassificationSource(file, { ...request, yPred: 'v', scoreThreshold: 3 }),
    ];
    for (const use of uses) {
      let caught: unknown;
      await use().catch((error: unknown) => (caught = error));
      expect(String(caught)).to.match(/Column 'v' should hold numbers, but row 30001 holds 'oops'\./);
    }
  });

  it('reads a database file', async () => {
    const file = path.join(folder(), 'rows.duckdb');
    const writer = openDuckDb(file, { readOnly: false });
    await writer.run((session) => session.rows("CREATE TABLE t AS SELECT 'a' AS g, 1 AS d, 0.5 AS w"));
    await writer.close();
    const reader = openDuckDb(file);
    const source = { engine: reader, query: 'FROM t' };
    const request = { attributes: [['g']], yPred: 'd', sampleWeight: 'w', nanPolicy: 'exclude' } as const;
    const reduced = await reduceClassificationSource(source, request);
    expect(statsOf(reduced).weights[5]).to.equal(0.5);
    await reader.close();
  });
});
