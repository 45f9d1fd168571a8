import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { validateCounts, validateFile, validateSql } from '../../src/integration/validate-file.ts';
import { validateRows } from '../../src/integration/validate-rows.ts';
import { findFiles } from '../../src/io/find-files.ts';
import { readFirstRows } from '../../src/io/first-rows.ts';
import { openDuckDb } from '../../src/io/duckdb.ts';
import type { ValidateInput } from '../../src/schemas/validate-values.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** Returns lines for rows of two groups. */
function lines(header: string, count: number, line: (row: number, sex: 'f' | 'm') => string): readonly string[] {
  return [header, ...Array.from({ length: count }, (_, row) => line(row, row % 2 === 0 ? 'f' : 'm'))];
}

describe('notes on columns of a file', () => {
  const folder = useTemporaryFolder();

  async function notesOf(
    files: readonly (readonly string[])[],
    input: Partial<ValidateInput> & { readonly yPred?: string; readonly score?: string },
  ): Promise<readonly string[]> {
    const paths = files.map((rows, index) => {
      const file = path.join(folder(), `${String(index)}.csv`);
      writeFileSync(file, rows.join('\n'));
      return file;
    });
    const { notes = [] } = await validateFile(paths, {
      attributes: [['sex']],
      withCi: false,
      ...input,
    });
    return notes;
  }

  const counted = (header: string) =>
    lines(header, 200, (row, sex) => `${sex},${String(Number(row % 4 < 2))},${String(1 + (row % 7))}`);

  it('name a column of counts or weights that is not used', async () => {
    expect(await notesOf([counted('sex,hired,n')], { yPred: 'hired' })).to.deep.equal([
      "column 'n' looks like the number of people or the weight of each row, but each row counts once. If it is, use it: --sample-weight n, in code and in requests the option for weights, or give a table of counts (--counts)",
    ]);
    for (const name of ['Gewicht', 'applicants', 'N_total', 'headcount', 'wgt']) {
      expect((await notesOf([counted(`sex,hired,${name}`)], { yPred: 'hired' }))[0]).to.include(
        `column '${name}' looks`,
      );
    }
    expect(await notesOf([counted('sex,hired,n')], { yPred: 'hired', sampleWeight: 'n' })).to.deep.equal([]);
    expect(await notesOf([counted('sex,hired,children')], { yPred: 'hired' })).to.deep.equal([]);
    // A column of ones, and the number of each row.
    const equal = lines('sex,hired,n', 200, (row, sex) => `${sex},${String(Number(row % 4 < 2))},1`);
    const numbered = lines('sex,hired,n', 200, (row, sex) => `${sex},${String(Number(row % 4 < 2))},${String(row)}`);
    for (const rows of [equal, numbered]) expect(await notesOf([rows], { yPred: 'hired' })).to.deep.equal([]);
  });

  it('name columns whose names say that they are the other one of decisions and true labels', async () => {
    const rows = lines('sex,y_true,y_pred', 200, (row, sex) => `${sex},${String(Number(row % 4 < 2))},${String(Number(row % 6 < 2))}`); // prettier-ignore
    expect(await notesOf([rows], { yPred: 'y_true', yTrue: 'y_pred' })).to.deep.equal([
      "column 'y_true' is read as the decisions, and 'y_pred' as the true labels, though their names say the opposite. Swap them if that is not meant",
    ]);
    expect(await notesOf([rows], { yPred: 'y_pred', yTrue: 'y_true' })).to.deep.equal([]);
  });

  it('say that a ratio depends on whether acceptance or rejection is the positive decision', async () => {
    const rows = lines('sex,rejected', 200, (row, sex) => `${sex},${String(Number(row % 10 < 8))}`);
    const note =
      "column 'rejected' seems to hold unfavourable decisions, and its positive label is the unfavourable one. A ratio of rates is not the same for the opposite: for the ratio of acceptance, name the other label with --positive-label, in code positiveLabel";
    const ratio = { metric: 'demographic_parity_ratio', threshold: 0.8 };
    expect(await notesOf([rows], { yPred: 'rejected', ...ratio })).to.deep.equal([note]);
    // A difference has the same size for both.
    expect(await notesOf([rows], { yPred: 'rejected' })).to.deep.equal([]);
    expect(await notesOf([rows], { yPred: 'rejected', positiveLabel: '0', ...ratio })).to.deep.equal([]);
    const german = lines('sex,abgelehnt', 200, (row, sex) => `${sex},${row % 10 < 8 ? 'ja' : 'nein'}`);
    expect((await notesOf([german], { yPred: 'abgelehnt', positiveLabel: 'ja', ...ratio }))[0]).to.include("column 'abgelehnt' seems"); // prettier-ignore
    const ofNo = await notesOf([german], { yPred: 'abgelehnt', positiveLabel: 'nein', ...ratio });
    expect(ofNo.join()).to.not.include("column 'abgelehnt'");
  });

  it('name points that seem to group thousands, and are read as decimal points', async () => {
    // 600 to 1,197, as a German spreadsheet writes it.
    const number = (row: number): string => String(600 + 3 * row).replace(/^(\d)(\d{3})$/, '$1.$2');
    const rows = lines('sex,points', 200, (row, sex) => `${sex},${number(row)}`);
    expect(await notesOf([rows], { score: 'points', scoreThreshold: 900 })).to.deep.equal([
      "the point in values such as '1.002' of column 'points' seems to group thousands, because others are as large as '999', but it is read as a decimal point. Write the numbers without it",
    ]);
    const english = lines('sex;points', 200, (row, sex) => `${sex};${number(row).replace('.', ',')}`);
    const read = await notesOf([english], { score: 'points', scoreThreshold: 900, decimal: ',' });
    expect(read[0]).to.match(/^the comma in values such as '1,002' .* read as a decimal comma/);
    const decimals = lines('sex,points', 200, (row, sex) => `${sex},${(row / 200).toFixed(3)}`);
    expect(await notesOf([decimals], { score: 'points', scoreThreshold: 0.5 })).to.deep.equal([]);
    const mixed = lines(
      'sex,points',
      200,
      (row, sex) => `${sex},${row % 2 === 0 ? String(row) : (row / 3).toFixed(3)}`,
    );
    expect(await notesOf([mixed], { score: 'points', scoreThreshold: 50 })).to.deep.equal([]);
  });

  it('name a score that occurs often, far from all others: a code for a missing value', async () => {
    const coded = (code: string) =>
      lines('sex,points', 200, (row, sex) => `${sex},${row % 5 === 0 ? code : ((row % 50) / 50).toFixed(2)}`);
    for (const [code, range] of [
      ['999', 'from 0.02 to 0.98'],
      ['-99', 'from 0.02 to 0.98'],
    ] as const) {
      expect(await notesOf([coded(code)], { score: 'points', scoreThreshold: 0.5 })).to.deep.equal([
        `the score ${code} occurs 40 times, and all others are ${range}. If it stands for a missing value, name it with --na-values ${code}, in code naValues`,
      ]);
    }
    const yScore = Array.from({ length: 200 }, (_, row) => (row % 5 === 0 ? 999 : (row % 50) / 50));
    const rows = { yScore, sensitive: yScore.map((_, row) => 'fm'[row % 2]), scoreThreshold: 0.5, withCi: false };
    expect((await validateRows(rows)).notes?.[0]).to.match(/^the score 999 occurs 40 times, and all others are from 0\.02 to 0\.98\./); // prettier-ignore
    expect((await validateRows({ ...rows, naValues: ['999'] })).notes).to.equal(undefined);
    expect(await notesOf([coded('999')], { score: 'points', scoreThreshold: 0.5, naValues: ['999'] })).to.deep.equal(
      [],
    );
    // The listed text is a number.
    expect(await notesOf([coded('999.0')], { score: 'points', scoreThreshold: 0.5, naValues: ['999'] })).to.deep.equal([]); // prettier-ignore
    expect(await notesOf([coded('1.5')], { score: 'points', scoreThreshold: 0.5 })).to.deep.equal([]);
  });

  it('are found in many short rows of several files', async () => {
    // 160,000 rows in each file, more than a call of a function can have arguments.
    const short = (score: number) => [
      'sex,p',
      ...Array<string>(160_000).fill(`f,${String(score)}`),
      ...Array<string>(50).fill('m,0'),
    ];
    const notes = await notesOf([short(1), short(2)], { score: 'p', scoreThreshold: 1.5 });
    expect(notes).to.deep.equal([]);
  });

  it('name identifiers that some rows repeat, within a file and between files', async () => {
    const copies = ['id,sex,hired', ...Array.from({ length: 200 }, (_, row) => {
      const line = `a${String(row)},${row % 2 === 0 ? 'f' : 'm'},${String(Number(row % 8 < 3))}`;
      return row % 8 === 0 ? `${line}\n${line}` : line;
    })]; // prettier-ignore
    const note = (repeated: number) =>
      `${String(repeated)} rows repeat a value of column 'id', and each row counts. If they are copies, for example of a join or of another file, keep one of each; if they are further rows of a person, name it as the cluster (--cluster id), in code and in requests with the option cluster`;
    expect(await notesOf([copies], { yPred: 'hired' })).to.deep.equal([note(25)]);
    const part = (from: number) => ['id,sex,hired', ...Array.from({ length: 200 }, (_, row) => `a${String(from + 199 - row)},${(from + row) % 2 === 0 ? 'f' : 'm'},${String(Number(row % 8 < 3))}`)]; // prettier-ignore
    expect(await notesOf([part(0), part(150)], { yPred: 'hired' })).to.deep.equal([note(50)]);
    expect(await notesOf([part(0), part(200)], { yPred: 'hired' })).to.deep.equal([]);
    expect(await notesOf([copies], { yPred: 'hired', cluster: 'id' })).to.deep.equal([]);
  });

  describe('of rows that are not text files', () => {
    const repeated = lines('id,sex,hired,rejected,n,points,note', 200, (row, sex) =>
      [`a${String(Math.floor(row / 2))}`, sex, String(Number(row % 4 < 2)), String(Number(row % 10 < 8)), String(1 + (row % 7)), row % 5 === 0 ? '999' : ((row % 50) / 50).toFixed(2), ''].join(',')); // prettier-ignore

    /** Writes the rows in a format, with the types that DuckDB finds. */
    async function written(target: string, options: string): Promise<string> {
      const [csv, file] = [path.join(folder(), 'rows.csv'), path.join(folder(), target)];
      writeFileSync(csv, repeated.join('\n'));
      const engine = openDuckDb();
      await engine.run((session) =>
        session.rows(`COPY (SELECT *, {'a': [1]} AS nested FROM read_csv('${csv}')) TO '${file}' (${options})`),
      );
      await engine.close();
      return file;
    }

    for (const [target, options] of [
      ['rows.parquet', 'FORMAT parquet'],
      ['rows.ndjson', 'FORMAT json'],
    ] as const) {
      it(`are those of the same rows as CSV: ${target}`, async () => {
        const file = await written(target, options);
        for (const own of [
          { yPred: 'hired' },
          { yPred: 'rejected', metric: 'demographic_parity_ratio', threshold: 0.8 },
          { score: 'points', scoreThreshold: 0.5 },
          { yPred: 'hired', sampleWeight: 'n', cluster: 'id' },
        ]) {
          const input = { attributes: [['sex']], withCi: false, ...own };
          const { notes = [] } = await validateFile(path.join(folder(), 'rows.csv'), input);
          expect((await validateFile(file, input)).notes ?? [], own.yPred ?? own.score).to.deep.equal(notes);
          expect(notes.length, 'notes of CSV').to.equal('cluster' in own ? 0 : 2 + Number(own.yPred !== 'hired'));
        }
      });
    }

    it('say nothing about a line of names, which such files do not have', async () => {
      const file = path.join(folder(), 'unnamed.parquet');
      const engine = openDuckDb();
      await engine.run(
        (session) =>
        session.rows(`COPY (SELECT i % 2 AS "0", i % 3 AS "1", i AS "2" FROM range(200) AS t(i)) TO '${file}' (FORMAT parquet)`), // prettier-ignore
      );
      await engine.close();
      const { notes = [] } = await validateFile(file, { yPred: '0', attributes: [['1']], withCi: false });
      expect(notes).to.deep.equal([]);
    });

    it('show no values and counts of rows if small counts are left out', async () => {
      const file = await written('rows.parquet', 'FORMAT parquet');
      const input = { attributes: [['sex']], withCi: false, score: 'points', scoreThreshold: 0.5 };
      expect((await validateFile(file, input)).notes).to.have.length(3);
      expect((await validateFile(file, { ...input, minCell: 5 })).notes ?? []).to.deep.equal([]);
    });

    it('need only some columns of a wide file, the score among them', async () => {
      const file = path.join(folder(), 'wide.parquet');
      const wide = Array.from({ length: 300 }, (_, column) => `i % 7 AS c${String(column)}`);
      const engine = openDuckDb();
      await engine.run(
        (session) =>
        session.rows(`COPY (SELECT ${wide.join(', ')}, i % 2 AS sex, CASE WHEN i % 5 = 0 THEN 999 ELSE i % 50 END AS points, i // 4 AS person_id FROM range(400) AS t(i)) TO '${file}' (FORMAT parquet)`), // prettier-ignore
      );
      const found = await findFiles(file);
      expect((await readFirstRows(found, ['points']))?.names.slice(0, 3)).to.deep.equal(['points', 'person_id', 'c0']);
      expect((await readFirstRows(found))?.names).to.have.length(40);
      await engine.close();
      const { notes = [] } = await validateFile(file, { score: 'points', scoreThreshold: 25, attributes: [['sex']], withCi: false }); // prettier-ignore
      expect(notes.join('\n')).to.match(/^the score 999 occurs 80 times.*\ncolumn 'person_id' has about 4\.0 rows/);
    });

    it('say of counts that add up to 100 in each group that they may be percentages', async () => {
      const notesOfCounts = async (n: readonly number[]): Promise<readonly string[] | undefined> => {
        const counts = { sex: ['f', 'f', 'm', 'm'], decision: [0, 1, 0, 1], n };
        return (await validateCounts(counts, { attributes: [['sex']], withCi: false })).notes;
      };
      expect(await notesOfCounts([70, 30, 55, 45])).to.deep.equal([
        "every group of 'sex' has 100 rows. If the counts are percentages, intervals and p-values are wrong: give numbers of rows",
      ]);
      expect(await notesOfCounts([70, 30, 55, 46])).to.equal(undefined);
    });

    it('are only those on names for a database, of which no row is read', async () => {
      const engine = openDuckDb();
      const query =
        "SELECT i % 4 AS id, 1 + i % 7 AS n, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, CAST(i % 4 < 2 AS INT) AS y_true, CAST(i % 6 < 2 AS INT) AS y_pred FROM range(200) AS t(i)";
      const { notes } = await validateSql(
        { engine, query },
        { attributes: [['sex']], withCi: false, yPred: 'y_true', yTrue: 'y_pred' },
      );
      await engine.close();
      expect(notes).to.deep.equal([
        "column 'y_true' is read as the decisions, and 'y_pred' as the true labels, though their names say the opposite. Swap them if that is not meant",
      ]);
    });
  });
});
