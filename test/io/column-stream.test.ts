import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { openColumnStream, readColumnStream } from '../../src/io/column-stream.ts';
import { queryDataFile } from '../../src/io/data-file.ts';
import { withDuckDb } from '../../src/io/duckdb.ts';
import { loadData } from '../../src/io/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { HOSTILE_LABELS } from '../helpers/hostile-rows.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

const ROWS = 300_000;

/** The values of row `i`, computed here and, by the query below, in DuckDB. */
const LABELS = [...HOSTILE_LABELS, '=1+1', ''];
const labelOf = (i: number): string | null => LABELS[(i * 7919) % (LABELS.length + 1)] ?? null;
const numberOf = (i: number): number => (i % 101 === 0 ? NaN : i / 8);
const idOf = (i: number): string | null => (i % 1000 === 3 ? null : `id-${String(i)}`);

async function writeRows(): Promise<string> {
  const file = path.join(folder(), 'rows.parquet');
  const labels = LABELS.map((label) => `'${label.replaceAll("'", "''")}'`).join(', ');
  await runDuckDb(
    `COPY (SELECT [${labels}][1 + (i * 7919) % ${String(LABELS.length + 1)}] AS label,
      CASE WHEN i % 101 = 0 THEN NULL ELSE i / 8 END AS number,
      CASE WHEN i % 1000 = 3 THEN NULL ELSE 'id-' || i END AS id FROM range(${String(ROWS)}) t(i)) TO '${file}'`,
  );
  return file;
}

describe('a stream of columns', () => {
  for (const [title, open] of Object.entries({ openColumnStream, readColumnStream })) {
    it(`${title}: has every value of every row, in the order of the rows`, async () => {
      const file = await writeRows();
      await withDuckDb((session) =>
        queryDataFile(session, file, undefined, async (relation) => {
          const stream = await open(session, relation, ['number', 'label', 'id']);
          expect(stream.rowCount).to.equal(ROWS);
          const kinds = stream.columns.map(({ kind }) => kind);
          expect(kinds).to.deep.equal(['numbers', title === 'openColumnStream' ? 'labels' : 'texts', 'texts']);
          const numbers = new Float64Array(ROWS);
          const codes = new Int32Array(ROWS);
          const labels: (string | null)[] = [];
          const ids: (string | null)[] = [];
          let start = 0;
          for await (const chunk of stream.chunks()) {
            chunk.copyNumbers(0, numbers, start);
            if (stream.columns[1]?.kind === 'labels') chunk.copyCodes(1, codes, start);
            else labels.push(...chunk.texts(1));
            ids.push(...chunk.texts(2));
            start += chunk.rowCount;
          }
          const [, column] = stream.columns;
          if (column?.kind === 'labels') for (const code of codes) labels.push(column.labels[code] ?? null);
          const wrong = ids.findIndex(
            (id, i) => id !== idOf(i) || labels[i] !== labelOf(i) || !Object.is(numbers[i], numberOf(i)),
          );
          expect([start, ids.length, wrong]).to.deep.equal([ROWS, ROWS, -1]);
        }),
      );
    });
  }

  it('loadData reads the same table from large files', async () => {
    const table = await loadData(await writeRows());
    const { codes, labels } = table.categorical('label');
    const { values } = table.numeric('number');
    const ids = table.categorical('id');
    const wrong = Array.from({ length: ROWS }, (_, i) => i).find(
      (i) =>
        (labels[codes[i] as number] ?? null) !== labelOf(i) ||
        !Object.is(values[i], numberOf(i)) ||
        (ids.labels[ids.codes[i] as number] ?? null) !== idOf(i),
    );
    expect(wrong).to.equal(undefined);
    expect(labels).to.deep.equal([...LABELS].sort());
  });

  it('reads a CSV file again with other types if a late row needs them', async () => {
    const file = path.join(folder(), 'late.csv');
    const rows = Array.from({ length: 900_000 }, (_, i) => `${String(i % 7)},group-${String(i % 3)}\n`);
    writeFileSync(file, `number,group\n${rows.join('')}late,group-1\n`);
    const table = await loadData(file);
    expect(table.rowCount).to.equal(900_001);
    expect(table.categorical('number').labels).to.deep.equal(['0', '1', '2', '3', '4', '5', '6', 'late']);
    const { codes, labels } = table.categorical('number');
    expect([codes.at(-1), codes[899_999]].map((code) => labels[code as number])).to.deep.equal(['late', '2']);
  });

  it('is an error if rows are missing or added after they were counted', async () => {
    await withDuckDb(async (session) => {
      await session.rows('CREATE TEMP TABLE growing AS SELECT i AS number FROM range(10) t(i)');
      const file = { title: 'the table', relation: 'growing', columns: new Map([['number', 'integer'] as const]) };
      const stream = await openColumnStream(session, { ...file, ambiguous: [], csv: undefined }, ['number']);
      await session.rows('INSERT INTO growing VALUES (11)');
      let message = '';
      try {
        for await (const chunk of stream.chunks()) expect(chunk.rowCount).to.equal(11);
      } catch (error) {
        ({ message } = error as Error);
      }
      expect(message).to.equal(
        'The rows of the table changed while they were read: 10 rows were counted, but 11 were read.',
      );
    });
  });
});
