import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { simulateSubgroups, SUBGROUP_SETTINGS } from '../../../scripts/study/subgroups/simulate.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { openDuckDb, writeTable } from '../../../src/io/index.ts';
import { findSubgroups, type FindSubgroupsOptions, subgroupsToJson } from '../../../src/metrics/index.ts';
import { Table } from '../../../src/table/index.ts';
import { runDuckDb } from '../../helpers/duckdb.ts';
import { HOSTILE_LABELS, hostileRows } from '../../helpers/hostile-rows.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const folder = useTemporaryFolder();

type Row = Record<string, string | number | null>;

/** Rows in which the women of the north have a selection rate of 0.6 instead of 0.3, with several rows per person. */
function makeRows(count = 6000, seed = 3): Row[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, row) => {
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const site = random.next() < 0.3 ? 'north' : random.next() < 0.5 ? 'south' : 'west';
    const isPlanted = sex === 'f' && site === 'north';
    const label = Number(random.next() < 0.5);
    return {
      sex,
      site: random.next() < 0.02 ? null : site,
      grade: 1 + random.integer(3),
      age: random.next() < 0.03 ? null : 18 + random.integer(60),
      income: Math.round(1e5 * random.next()) / 100,
      person: Math.floor(row / 3),
      label: random.next() < 0.05 ? null : label,
      hired: random.next() < 0.02 ? null : Number(random.next() < (isPlanted ? 0.6 : 0.3)),
      score: random.normal() + (isPlanted ? 0.5 : 0),
    };
  });
}

const COLUMNS = ['sex', 'site', 'grade', 'age', 'income'];
const HIRED: FindSubgroupsOptions = { columns: COLUMNS, yPred: 'hired' };

const cell = (value: string | number | null): string => (value === null ? '' : String(value));

/** Writes rows as CSV, and as Parquet. */
async function writeRows(rows: readonly Row[]): Promise<{ readonly csv: string; readonly parquet: string }> {
  const names = Object.keys(rows[0] ?? {});
  const csv = path.join(folder(), 'rows.csv');
  const parquet = path.join(folder(), 'rows.parquet');
  writeFileSync(csv, [names.join(), ...rows.map((row) => names.map((name) => cell(row[name] ?? null)).join()), ''].join('\n')); // prettier-ignore
  await runDuckDb(`COPY (SELECT * FROM read_csv('${csv}')) TO '${parquet}' (FORMAT parquet)`);
  return { csv, parquet };
}

const errorOf = async (source: unknown, options: unknown): Promise<Error> =>
  findSubgroups(source as never, options as never).then(
    () => expect.fail('no error'),
    (error: unknown) => error as Error,
  );

describe('findSubgroups', () => {
  it('finds a planted subgroup, with its rows, rates and difference counted directly', async () => {
    const rows = makeRows();
    const { subgroups, n, nDropped, overall } = await findSubgroups(rows, HIRED);
    expect(subgroups.map(({ label }) => label)).to.deep.equal(['sex = f and site = north']);
    const [found] = subgroups;
    const known = rows.filter(({ hired }) => hired !== null);
    const rate = (part: readonly Row[]): number =>
      part.reduce((sum, { hired }) => sum + (hired as number), 0) / part.length;
    const isIn = ({ sex, site }: Row): boolean => sex === 'f' && site === 'north';
    expect([n, nDropped]).to.deep.equal([known.length, rows.length - known.length]);
    expect(overall).to.be.closeTo(rate(known), 1e-12);
    expect(found?.n).to.equal(known.filter(isIn).length);
    expect(found?.columns).to.deep.equal({ sex: 'f', site: 'north' });
    expect(found?.difference).to.be.closeTo((found?.value ?? 0) - (found?.rest ?? 0), 1e-12);
    // The numbers of the tested half are near those of all rows.
    expect(found?.value).to.be.closeTo(rate(known.filter(isIn)), 0.06);
    expect(found?.ci[0]).to.be.within(0.1, found?.difference ?? 0);
    expect(found?.ci[1]).to.be.within(found?.difference ?? 1, 0.5);
    expect(found?.path.map(({ condition }) => condition)).to.have.members(['sex = f', 'site = north']);
    expect(found?.path.at(-1)?.difference).to.equal(found?.difference);
  });

  for (const [name, options] of [
    ['selection rates', HIRED],
    ['a rate of labelled rows', { ...HIRED, yTrue: 'label', metric: 'true_positive_rate' }],
    ['missing values as values', { ...HIRED, nanPolicy: 'include' }],
    ['clusters', { ...HIRED, cluster: 'person', alpha: 0.5 }],
    ['scores', { columns: COLUMNS, yScore: 'score' }],
    ['max-t', { ...HIRED, method: 'max-t', samples: 99 }],
    ['max-t with clusters of scores', { columns: COLUMNS, yScore: 'score', cluster: 'person', method: 'max-t', samples: 99 }], // prettier-ignore
  ] as const satisfies readonly (readonly [string, FindSubgroupsOptions])[]) {
    it(`gives the same result for records, columns, CSV, Parquet and a query (${name})`, async () => {
      const rows = makeRows(3000);
      const { csv, parquet } = await writeRows(rows);
      const engine = openDuckDb();
      const [records, ...others] = await Promise.all(
        [rows, Table.from(rows), csv, [parquet], { engine, query: `SELECT * FROM '${parquet}'` }].map((source) =>
          findSubgroups(source as never, options),
        ),
      );
      await engine.close();
      expect(records?.subgroups).to.have.length.above(0);
      const rounded = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value, (key, own: unknown) => (typeof own === 'number' && key !== 'n' ? own.toPrecision(9) : own))); // prettier-ignore
      for (const other of others) expect(rounded(other)).to.deep.equal(rounded(records));
    });
  }

  it('gives the same result for hostile names and labels in a table, CSV and Parquet', async () => {
    const table = hostileRows();
    const [csv, parquet] = ['csv', 'parquet'].map((form) => path.join(folder(), `hostile.${form}`)) as [string, string];
    await Promise.all([writeTable(csv, table), writeTable(parquet, table)]);
    const options: FindSubgroupsOptions = {
      columns: ['eh_k0', 'known', 'level', 'w', 'class "x"'],
      yPred: 'hired',
      alpha: 0.9999,
    };
    for (const own of [options, { ...options, nanPolicy: 'include', cluster: 'exact' }] as const) {
      const [one, ...others] = await Promise.all([table, csv, parquet].map((source) => findSubgroups(source, own)));
      expect(one?.measured).to.be.above(100);
      for (const other of others) expect(other).to.deep.equal(one);
    }
  });

  it('divides numbers at their quantiles, with labels that name the numbers they contain', async () => {
    const rows = makeRows();
    const { columns } = await findSubgroups(rows, { columns: ['age', 'income', 'grade'], yPred: 'hired' });
    const [age, income, grade] = columns;
    expect(grade)
      .to.include({ kind: 'values' })
      .and.deep.include({ labels: ['1', '2', '3'] });
    expect(income?.labels).to.have.length(5);
    expect(income?.labels[1]).to.match(/^over [\d.]+ to [\d.]+$/);
    const ends = (age?.labels ?? []).map((label) => label.split(' to ').map(Number));
    expect(ends[0]?.[0]).to.equal(18);
    expect(ends.at(-1)?.[1]).to.equal(77);
    ends.slice(1).forEach(([low], index) => expect(low).to.equal((ends[index]?.[1] ?? 0) + 1));
    for (const [low = 0, high = 0] of ends) {
      const count = rows.filter(({ age: own }) => own !== null && (own as number) >= low && (own as number) <= high);
      expect(count.length / rows.length).to.be.within(0.15, 0.25);
    }
    expect(age?.missing).to.equal(rows.filter(({ age: own }) => own === null).length);
  });

  it('is the same for the same seed, and divides the rows otherwise for another seed', async () => {
    const rows = makeRows();
    const [one, two, three] = await Promise.all([1, 1, 2].map((seed) => findSubgroups(rows, { ...HIRED, seed })));
    expect(one).to.deep.equal(two);
    expect(one?.subgroups[0]?.nTested).to.not.equal(three?.subgroups[0]?.nTested);
    expect(one?.subgroups[0]?.n).to.equal(three?.subgroups[0]?.n);
  });

  it('keeps all rows of a cluster in one half if the rows are in another order', async () => {
    const rows = makeRows();
    const sorted = [...rows].sort((a, b) => (a['age'] as number) - (b['age'] as number));
    const options = { ...HIRED, cluster: 'person' };
    const [one, two] = await Promise.all([rows, sorted].map((own) => findSubgroups(own, options)));
    expect(one).to.deep.equal(two);
    expect(one?.nClusters).to.equal(2000);
  });

  it('reports nothing for copies of rows if they are one cluster, and something if they seem independent', async () => {
    // Nothing is planted, but each of 200 persons has 60 equal rows, with the columns of the person.
    const random = createRandom(8);
    const rows = Array.from({ length: 200 }, (_, person) => {
      const own = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, `v${random.integer(3)}`]));
      return Array.from<unknown, Row>({ length: 60 }, () => ({ ...own, person: `p${person}`, hired: 0 }));
    });
    for (const own of rows) {
      const hired = Number(random.next() < 0.4);
      for (const row of own) row['hired'] = hired;
    }
    const options = { columns: ['a', 'b', 'c'], yPred: 'hired' };
    const [naive, clustered] = await Promise.all([
      findSubgroups(rows.flat(), options),
      findSubgroups(rows.flat(), { ...options, cluster: 'person' }),
    ]);
    expect(naive.subgroups).to.have.length.above(3);
    expect(clustered.subgroups).to.deep.equal([]);
  });

  it('reports one of several subgroups with the same rows', async () => {
    const rows = makeRows().map((row) => ({ ...row, gender: row['sex'] === 'f' ? 'woman' : 'man' }));
    const { subgroups, leftOut } = await findSubgroups(rows, { ...HIRED, columns: [...COLUMNS, 'gender'] });
    expect(subgroups).to.have.length(1);
    expect(leftOut.map(({ explainedBy }) => explainedBy)).to.include(subgroups[0]?.label);
  });

  it('measures the mean score, also of scores that are large and close together', async () => {
    const rows = makeRows().map((row) => ({ ...row, score: 1e9 + (row['score'] as number) }));
    const { subgroups, overall } = await findSubgroups(rows, { columns: COLUMNS, yScore: 'score' });
    expect(subgroups.map(({ label }) => label)).to.deep.equal(['sex = f and site = north']);
    expect(overall).to.be.closeTo(1e9, 1);
    expect(subgroups[0]?.difference).to.be.closeTo(0.5, 0.15);
    expect(subgroups[0]?.value).to.be.closeTo(1e9 + 0.5, 0.15);
    expect(subgroups[0]?.rest).to.be.closeTo(1e9, 0.15);
  });

  it('keeps hostile labels and names apart, and quotes those that could be misread', async () => {
    const name = 'a "b" || c = d and\u0007';
    const labels = [...HOSTILE_LABELS, 'x and y = z', '__proto__'];
    const random = createRandom(4);
    const rows = Array.from({ length: 600 * labels.length }, () => {
      const label = labels[random.integer(labels.length)] ?? '';
      return { [name]: label, hired: Number(random.next() < (label === 'x and y = z' ? 0.8 : 0.2)) };
    });
    const found = await findSubgroups(rows, { columns: [name], yPred: 'hired' });
    expect(found.subgroups.map(({ columns }) => columns)).to.deep.equal([{ [name]: 'x and y = z' }]);
    expect(found.subgroups[0]?.label).to.equal(`${JSON.stringify(name)} = "x and y = z"`);
    expect(subgroupsToJson(found).subgroups[0]?.columns).to.deep.equal({ [name]: 'x and y = z' });
  });

  for (const [name, rows, warning] of [
    ['one row', [{ a: 'x', hired: 1 }], /all rows have the same outcome/],
    [
      'one outcome',
      Array.from({ length: 500 }, (_, row) => ({ a: `v${row % 2}`, hired: 1 })),
      /all rows have the same/,
    ],
    [
      'a constant column',
      Array.from({ length: 500 }, (_, row) => ({ a: 'x', hired: row % 2 })),
      /fewer than two values.*'a'/,
    ],
    [
      'a column without values',
      Array.from({ length: 500 }, (_, row) => ({ a: null, hired: row % 2 })),
      /fewer than two values.*'a'/,
    ],
    [
      'few rows',
      Array.from({ length: 60 }, (_, row) => ({ a: `v${row % 2}`, hired: row % 3 === 0 ? 1 : 0 })),
      /no subgroup has at least 100 rows/,
    ],
  ] as const satisfies readonly (readonly [string, readonly Row[], RegExp])[])
    // prettier-ignore
    for (const method of ['split', 'max-t'] as const) {
      it(`reports nothing and says why: ${name} (${method})`, async () => {
        const { subgroups, warnings } = await findSubgroups(rows, { columns: ['a'], yPred: 'hired', method, samples: 99 }); // prettier-ignore
        expect(subgroups).to.deep.equal([]);
        expect(warnings.join('; ')).to.match(warning);
      });
    }

  describe('reports what it left out', () => {
    /** 600 rows in which half of the rows, `p and q`, have a rate of 0.8 instead of 0.2. */
    const rows = Array.from({ length: 600 }, (_, row) => ({
      site: row % 3 === 0 ? 'NA' : 'x',
      one: 'k',
      age: row % 50 === 0 ? null : 10 + (row % 60),
      'class "x"': row % 2 === 1 ? 'p and q' : 'r',
      person: row % 97 === 0 ? null : `p${row % 97}`,
      hired: row % 100 === 7 ? null : Number(row % 2 === 1 ? row % 5 < 4 : row % 5 < 1),
      truth: row % 10 === 3 ? null : Number(row % 7 < 3),
    }));
    const options = { columns: ['site', 'one', 'age', 'class "x"'], yPred: 'hired', minGroupSize: 40 };
    const named = "groups of 'site' have names that often mean a missing value: 'NA' (200 rows); they are measured as groups; use --na-values (naValues) to exclude their rows"; // prettier-ignore

    it('rows, columns with one value, and missing values', async () => {
      const { subgroups, warnings, n, nDropped, samples } = await findSubgroups(rows, options);
      expect(warnings).to.deep.equal([
        named,
        '6 rows without an outcome are left out',
        "these columns have fewer than two values, so they divide no rows: 'one'",
        "12 rows have no value in column 'age'",
      ]);
      expect([n, nDropped, samples]).to.deep.equal([594, 6, null]);
      // A name with quotes, and a value with `and`, are quoted.
      expect(subgroups.map(({ label }) => label)).to.deep.equal([String.raw`"class \"x\"" = "p and q"`]);
    });

    it('rows without a cluster', async () => {
      const { warnings, nDropped } = await findSubgroups(rows, { ...options, cluster: 'person' });
      // 7 rows have no person, 6 have no decision; none of them has neither.
      expect(nDropped).to.equal(13);
      expect(warnings).to.include('13 rows without an outcome or a cluster are left out');
      expect(warnings[0]).to.equal(named);
    });

    it('rows without a true label, if the rate needs one', async () => {
      const { warnings, nDropped } = await findSubgroups(rows, { ...options, yTrue: 'truth', metric: 'accuracy' });
      expect(nDropped).to.equal(66);
      expect(warnings).to.include('66 rows without an outcome are left out');
    });

    it('nothing, if nothing is missing', async () => {
      const known = rows.map(({ hired, age, ...row }) => ({ ...row, site: 'x'.repeat(1 + (hired ?? 0)), hired: hired ?? 0, age: age ?? 5 })); // prettier-ignore
      for (const method of ['split', 'max-t'] as const) {
        const found = await findSubgroups(known, { ...options, columns: ['age', 'class "x"'], method, samples: 99 });
        expect([found.warnings, found.nDropped]).to.deep.equal([[], 0]);
        expect(found.samples).to.equal(method === 'max-t' ? 99 : null);
      }
    });
  });

  it('names the range of numbers of a subgroup, and the condition that each step adds', async () => {
    // Only the oldest fifth of the women differ.
    const rows = Array.from({ length: 2000 }, (_, row) => {
      const [age, sex] = [20 + (row % 50), Math.floor(row / 50) % 2 === 0 ? 'f' : 'm'];
      const decisive = Math.floor(row / 100);
      return { age, sex, hired: Number(age >= 60 && sex === 'f' ? decisive % 10 < 9 : decisive % 10 < 3) };
    });
    const { subgroups } = await findSubgroups(rows, { columns: ['sex', 'age'], yPred: 'hired' });
    expect(subgroups.map(({ label }) => label)).to.deep.equal(['sex = f and age 60 to 69']);
    expect(subgroups[0]?.columns).to.deep.equal({ sex: 'f', age: '60 to 69' });
    expect(subgroups[0]?.path.map(({ condition }) => condition)).to.deep.equal(['age 60 to 69', 'sex = f']);
    expect(subgroups[0]?.path.map(({ label }) => label)).to.deep.equal(['age 60 to 69', 'sex = f and age 60 to 69']);
  });

  it('reads columns with the names of sources as columns', async () => {
    const rows = makeRows(400);
    const hired = rows.map((row) => row['hired']);
    const sexes = rows.map((row) => row['sex']);
    for (const name of ['engine', 'paths', 'query'] as const) {
      const { columns } = await findSubgroups({ [name]: sexes, hired }, { columns: [name], yPred: 'hired' });
      expect(columns[0]).to.deep.include({ name, labels: ['f', 'm'] });
    }
    const none = await errorOf([], HIRED);
    expect(none.message).to.match(/no column 'sex'/);
  });

  it('rejects engines other than DuckDB, and says what to do', async () => {
    const engine = { name: 'postgres', query: () => Promise.reject(new Error('must not be asked')) };
    const error = (await errorOf({ engine, query: 'SELECT 1' }, HIRED)) as Error & { suggestion?: string; context?: unknown }; // prettier-ignore
    expect(error.message).to.equal('Subgroups are searched in memory and in DuckDB, not in other engines.');
    expect(error.suggestion).to.match(/Parquet/);
    expect(error.context).to.deep.equal({ parameter: 'source' });
  });

  it('names the option of a contradiction, and how to resolve it', async () => {
    for (const [options, parameter, suggestion] of [
      [{ columns: ['sex'], yPred: 'hired', yScore: 'score' }, 'yPred', /one of the two/],
      [{ columns: ['sex'] }, 'yPred', /one of the two/],
      [{ ...HIRED, columns: ['sex', 'hired'] }, 'columns', /Leave it out of columns/],
      [{ ...HIRED, cluster: 'age' }, 'columns', /Leave it out of columns/],
      [{ columns: ['sex'], yScore: 'score', yTrue: 'label' }, 'yTrue', /Leave yTrue out/],
      [{ ...HIRED, metric: 'accuracy' }, 'yTrue', /Name the column of true labels/],
      [{ ...HIRED, columns: [] }, 'columns', undefined],
      [{ ...HIRED, columns: ['sex', 'age', 'sex'] }, 'columns', undefined],
      [{ ...HIRED, bins: 1 }, 'bins', undefined],
      [{ ...HIRED, maxValues: 251 }, 'maxValues', undefined],
      [{ ...HIRED, minGroupSize: 1 }, 'minGroupSize', undefined],
      [{ ...HIRED, candidates: 101 }, 'candidates', undefined],
      [{ ...HIRED, samples: 98 }, 'samples', undefined],
      [{ ...HIRED, method: 'both' }, 'method', undefined],
      [{ ...HIRED, nanPolicy: 'keep' }, 'nanPolicy', undefined],
      [{ ...HIRED, metric: 'mean_score' }, 'metric', undefined],
      [{ ...HIRED, metric: 'roc_auc' }, 'metric', undefined],
      [{ columns: ['sex'], yScore: 'score', metric: 'accuracy' }, 'metric', undefined],
    ] as const) {
      const error = (await errorOf([], options)) as Error & { suggestion?: string; context: { parameter?: string } };
      expect(error.context.parameter, JSON.stringify(options)).to.equal(parameter);
      if (suggestion !== undefined) expect(error.suggestion, JSON.stringify(options)).to.match(suggestion);
    }
  });

  it('rejects what it cannot search, and says how to fix it', async () => {
    const rows = makeRows(5000).map((row, index) => ({
      ...row,
      id: index,
      code: `c${index % 2500}`,
      text: `t${index}`,
    }));
    const { csv } = await writeRows(rows);
    const cases = [
      [{ ...HIRED, columns: ['code'] }, /Column 'code' has 2,500 values, but at most 50 are searched/],
      [{ ...HIRED, columns: ['id'] }, /Column 'id' has a different value in each of its 5,000 rows/],
      [{ ...HIRED, columns: ['text'] }, /Column 'text' .*identifier/],
      [{ ...HIRED, columns: ['nothing'] }, /no column 'nothing'/],
      [{ ...HIRED, columns: ['sex', 'sex'] }, /name each column once/],
      [{ ...HIRED, columns: [] }, /at least one column/],
      [{ ...HIRED, columns: ['sex', 'hired'] }, /'hired' has another role/],
      [{ ...HIRED, metric: 'accuracy' }, /needs true labels/],
      [{ ...HIRED, metric: 'selection' }, /metric parameter must be one of selection_rate, /],
      [{ columns: ['sex'], yPred: 'age' }, /must be 0 or 1/],
      [{ columns: ['age'], yPred: 'sex', positiveLabel: 'x' }, /positive label 'x'/],
      [{ columns: ['sex'], yPred: 'hired', yScore: 'score' }, /not both or neither/],
      [{ columns: ['sex'], yScore: 'site' }, /numbers/],
      [{ columns: ['sex'], yScore: 'score', yTrue: 'label' }, /needs no true labels/],
      [{ ...HIRED, sampleWeight: 'score' }, /no option 'sampleWeight'/],
      [{ ...HIRED, maxDepth: 6 }, /maxDepth/],
      [{ ...HIRED, alpha: 1 }, /alpha/],
    ] as const; // prettier-ignore
    for (const [options, message] of cases) {
      for (const source of [rows, csv]) {
        const error = await errorOf(source, options);
        expect(error.message, JSON.stringify(options)).to.match(message);
      }
    }
  });

  it('rejects rows without any outcome, and a replicate plan that would take hours', async () => {
    const empty = makeRows(300).map((row) => ({ ...row, hired: null }));
    expect((await errorOf(empty, HIRED)).message).to.match(/nothing can be measured/);
    expect((await errorOf([], HIRED)).message).to.match(/no column 'sex'/);
    const many = { ...HIRED, method: 'max-t', samples: 1_000_000 };
    const error = (await errorOf(makeRows(), many)) as Error & { context?: unknown; suggestion?: string };
    expect(error.message).to.match(/draws 1,000,000 replicates of .* takes too long/);
    expect(error.context).to.deep.include({ parameter: 'method', samples: 1_000_000 });
    expect(error.suggestion).to.match(/split/);
  });

  it('states a minimum detectable difference, which is smaller for larger subgroups', async () => {
    const { detectable } = await findSubgroups(makeRows(), HIRED);
    expect(detectable[0]?.n).to.equal(100);
    detectable.slice(1).forEach(({ difference }, index) => {
      expect(difference).to.be.below(detectable[index]?.difference ?? 0);
    });
  });
});

describe('the error and the power of the search @study', () => {
  for (const setting of SUBGROUP_SETTINGS.filter(({ method }) => method === 'split')) {
    it(setting.title, async function () {
      this.timeout(60_000);
      const runs = 40;
      let [reported, found] = [0, 0];
      for (let run = 0; run < runs; run++) {
        const outcome = await simulateSubgroups(setting, 500 + run);
        reported += Number(outcome.reported > 0);
        found += Number(outcome.overlap >= 0.8);
      }
      // With a true share of 5%, more than 7 of 40 have probability 0.0007; with 95%, fewer than 33 have 0.0007.
      if (setting.effect === 0) expect(reported).to.be.at.most(7);
      else expect(found).to.be.at.least(33);
    });
  }
});
