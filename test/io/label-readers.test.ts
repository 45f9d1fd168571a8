import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';
import * as danfo from 'danfojs-node';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { validateRows } from '../../src/integration/validate-rows.ts';
import { countDecisions } from '../../src/io/count-decisions.ts';
import { loadData } from '../../src/io/load-data.ts';
import { openDuckDb } from '../../src/io/index.ts';
import { readSmallCsv } from '../../src/io/read-small-csv.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
} from '../../src/metrics/reduce/reduce-source.ts';
import { RealTimeFairnessTracker } from '../../src/monitoring/index.ts';
import { encodeGroups, Table } from '../../src/table/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/**
 * The rule, by hand: each label as written in a source, and the label of its group. A decimal number has the label of its
 * value; any other text is a label of its own.
 */
const LOOK_ALIKES: readonly (readonly [source: string, label: string])[] = [
  ['1', '1'],
  ['1.0', '1'],
  ['1e0', '1'],
  [' 1', '1'],
  ['01', '01'],
  ['+1', '+1'],
  ['0x1', '0x1'],
  ['1_000', '1_000'],
  ['1000', '1000'],
  ['true', 'true'],
  ['True', 'True'],
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '9007199254740993'],
  ['0.1234567890123456789', '0.1234567890123456789'],
  ['0.1234567890123456788', '0.1234567890123456788'],
  ['1e400', '1e+400'],
  ['1e500', '1e+500'],
];

/** The same in columns that a reader treats as numbers. */
const NUMBERS: readonly (readonly [title: string, sources: readonly string[], labels: readonly string[]])[] = [
  ['one and its fractions', ['1', '1.0', '1.00', '2.50', '2.5'], ['1', '2.5']],
  ['whole numbers beyond 2^53', ['9007199254740992', '9007199254740993'], ['9007199254740992', '9007199254740993']],
  [
    'and together with a fraction',
    ['0.5', '9007199254740992', '9007199254740993.0'],
    ['0.5', '9007199254740992', '9007199254740993'],
  ],
  [
    'decimals of 19 digits',
    ['0.1234567890123456788', '0.1234567890123456789'],
    ['0.1234567890123456788', '0.1234567890123456789'],
  ],
  ['numbers beyond float64', ['1e400', '1e500', '7'], ['1e+400', '1e+500', '7']],
  ['hexadecimal and decimal', ['0x1', '1'], ['0x1', '1']],
  ['blanks', [' 1', '1', '2 '], ['1', '2']],
];

describe('the labels of groups are the same in every reader', function () {
  this.timeout(120_000);
  const folder = useTemporaryFolder();
  const texts = LOOK_ALIKES.map(([source]) => source);
  const expected = [...new Set(LOOK_ALIKES.map(([, label]) => label))].sort();
  let files = 0;

  const fileOf = (extension: string, content: string | Buffer): string => {
    const file = path.join(folder(), `labels-${++files}.${extension}`);
    writeFileSync(file, content);
    return file;
  };
  const csv = (values: readonly string[], delimiter = ','): string =>
    `g${delimiter}d\n${values.map((value, row) => `${value}${delimiter}${row % 2}\n`).join('')}`;
  const ndjson = (values: readonly string[]): string =>
    values.map((value, row) => `{"g": ${value}, "d": ${row % 2}}\n`).join('');
  const quoted = (values: readonly string[]): string[] => values.map((value) => JSON.stringify(value));
  const parquet = async (values: readonly string[], type: string): Promise<string> => {
    const file = path.join(folder(), `labels-${++files}.parquet`);
    const rows = values.map((value) => `(CAST('${value}' AS ${type}), 1)`).join();
    await runDuckDb(`COPY (SELECT * FROM (VALUES ${rows}) t(g, d)) TO '${file}'`);
    return file;
  };

  const sorted = (labels: readonly string[]): string[] => [...labels].sort();
  /** Returns the groups of a column as counted by SQL, and as loaded into a table. */
  async function ofFile(file: string): Promise<readonly string[][]> {
    const [counted] = await countDecisions(file, { attributes: [['g']], yPred: 'd', nanPolicy: 'exclude' });
    const table = await loadData(file, { columns: ['g'], labels: ['g'] });
    return [
      sorted((counted?.groups ?? []).map(({ label }) => label)),
      sorted(encodeGroups(table.select(['g'])).labels),
    ];
  }
  const tracked = (record: (tracker: RealTimeFairnessTracker) => void): string[] => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'd', protected: ['g'] } });
    record(tracker);
    return sorted(tracker.stream.reader.groups[0]?.labels ?? []);
  };

  const readers: Readonly<Record<string, () => Promise<readonly (readonly string[])[]>>> = {
    'a CSV file': () => ofFile(fileOf('csv', csv(texts))),
    'a CSV file of quoted values': () => ofFile(fileOf('csv', csv(quoted(texts)))),
    'a small CSV file': async () => {
      const table = await readSmallCsv(fileOf('csv', csv(texts)), { outcomes: ['d'], groups: ['g'] });
      return [sorted(encodeGroups(table?.select(['g']) ?? []).labels)];
    },
    'a TSV file': () => ofFile(fileOf('tsv', csv(texts, '\t'))),
    'a CSV file, compressed': () => ofFile(fileOf('csv.gz', gzipSync(csv(texts)))),
    'a Parquet file of texts': async () => ofFile(await parquet(texts, 'VARCHAR')),
    'lines of JSON': () => ofFile(fileOf('ndjson', ndjson(quoted(texts)))),
    'a query': async () => {
      const engine = openDuckDb();
      const values = texts.map((text) => `('${text}', 1)`).join();
      const source = { engine, query: `SELECT * FROM (VALUES ${values}) t(g, d)` };
      const [counted] = await countDecisions(source, { attributes: [['g']], yPred: 'd', nanPolicy: 'exclude' });
      await engine.close();
      return [sorted((counted?.groups ?? []).map(({ label }) => label))];
    },
    'an array': () => Promise.resolve([sorted(encodeGroups(texts).labels)]),
    records: () => Promise.resolve([sorted(encodeGroups(texts.map((g) => ({ g }))).labels)]),
    'a column of codes': () =>
      Promise.resolve([
        sorted(encodeGroups({ kind: 'categorical', codes: Int32Array.from(texts.keys()), labels: texts }).labels),
      ]),
    'a Table': () => Promise.resolve([sorted(encodeGroups(Table.from({ g: texts })).labels)]),
    'a danfojs DataFrame': () => Promise.resolve([sorted(encodeGroups(new danfo.DataFrame({ g: texts })).labels)]),
    'a danfojs Series': () => Promise.resolve([sorted(encodeGroups(new danfo.Series(texts)).labels)]),
    'a tensor of texts': () => {
      const tensor = tf.tensor1d([...texts], 'string');
      const { labels } = encodeGroups(tensor);
      tensor.dispose();
      return Promise.resolve([sorted(labels)]);
    },
    'events of a stream': () =>
      Promise.resolve([
        tracked((tracker) => {
          for (const g of texts) tracker.record({ g, d: 1 });
        }),
      ]),
    'batches of a stream': () =>
      Promise.resolve([
        tracked((tracker) => {
          tracker.recordBatch({ g: texts, d: texts.map(() => 1) });
        }),
      ]),
  };
  for (const [title, read] of Object.entries(readers)) {
    it(`${title}: each spelling is in the group of the rule`, async () => {
      for (const labels of await read()) expect(labels).to.deep.equal(expected);
    });
  }

  for (const [title, sources, labels] of NUMBERS) {
    for (const [form, write] of [
      ['csv', csv],
      ['tsv', (values: readonly string[]) => csv(values, '\t')],
    ] as const) {
      it(`${form}, a column of numbers: ${title}`, async () => {
        for (const found of await ofFile(fileOf(form, write(sources)))) expect(found).to.deep.equal(sorted(labels));
      });
    }
  }

  it('a later row of a long CSV file is read by the same rule', async () => {
    const values = [
      ...Array.from({ length: 30_000 }, (_, row) => String(row % 2)),
      '01',
      '0x1',
      '1_0',
      '+1',
      ' 1',
      '1.0',
    ];
    for (const found of await ofFile(fileOf('csv', csv(values)))) {
      expect(found).to.deep.equal(sorted(['0', '1', '01', '0x1', '1_0', '+1']));
    }
  });

  it('a column of numbers with nan has a missing value there', async () => {
    for (const found of await ofFile(fileOf('csv', csv(['1', 'nan', 'NaN', '0.5'])))) {
      expect(found).to.deep.equal(['0.5', '1']);
    }
  });

  for (const [type, sources, labels] of [
    ['BIGINT', ['9007199254740992', '9007199254740993', '1'], ['1', '9007199254740992', '9007199254740993']],
    ['UBIGINT', ['18446744073709551614', '18446744073709551615'], ['18446744073709551614', '18446744073709551615']],
    [
      'DECIMAL(38, 19)',
      ['0.1234567890123456788', '0.1234567890123456789', '1'],
      ['0.1234567890123456788', '0.1234567890123456789', '1'],
    ],
    ['DECIMAL(4, 2)', ['1.00', '2.50'], ['1', '2.5']],
    ['DOUBLE', ['1.0', '2.5', '1e300'], ['1', '1e+300', '2.5']],
    ['BOOLEAN', ['true', 'false'], ['false', 'true']],
  ] as const) {
    it(`a Parquet column of ${type} keeps its digits`, async () => {
      for (const found of await ofFile(await parquet(sources, type))) expect(found).to.deep.equal(sorted(labels));
    });
  }

  it('numbers in JSON lines keep their digits', async () => {
    const values = ['9007199254740992', '9007199254740993', '1', '1.0'];
    for (const found of await ofFile(fileOf('ndjson', ndjson(values.slice(0, 3))))) {
      expect(found).to.deep.equal(sorted(values.slice(0, 3)));
    }
    for (const found of await ofFile(fileOf('ndjson', ndjson(['1', '1.0', '1e0', '2.50'])))) {
      expect(found).to.deep.equal(['1', '2.5']);
    }
  });

  for (const values of [
    ['0.1234567890123456788', '0.1234567890123456789'],
    ['1e400', '1'],
    ['123456789012345678901234567890', '"a"'],
  ]) {
    it(`${values[0]} in JSON lines is rejected, since JSON readers round it`, async () => {
      const file = fileOf('ndjson', ndjson(values));
      const request = { attributes: [['g']], yPred: 'd', nanPolicy: 'exclude' } as const;
      for (const read of [() => countDecisions(file, request), () => loadData(file, { labels: ['g'] })]) {
        const error = await read().catch((caught: unknown) => caught);
        expect(error).to.be.instanceOf(DataValidationError).with.property('message').that.includes(values[0]);
      }
    });
  }

  it('bigints keep their digits in arrays of every kind', () => {
    const ids = [9007199254740992n, 9007199254740993n];
    const labels = ids.map(String);
    expect(encodeGroups(ids).labels).to.deep.equal(labels);
    expect(encodeGroups(BigInt64Array.from(ids)).labels).to.deep.equal(labels);
    expect(encodeGroups(Table.from({ g: ids })).labels).to.deep.equal(labels);
    expect(encodeGroups(Table.from({ g: BigUint64Array.from(ids) })).labels).to.deep.equal(labels);
    expect(encodeGroups([...ids, 1, '1.0', null]).labels).to.deep.equal(['1', ...labels]);
    expect(encodeGroups(Table.from({ g: [1n, 2n, null] })).labels).to.deep.equal(['1', '2']);
  });

  it('rows of a group in two spellings are counted together; by hand', async () => {
    const text = 'g,d,p,t\n1,1,1,0\n1.0,0,2,0\nx,1,9,0\n1.0,1,3,0\n1,1,4,0\n';
    const file = fileOf('csv', text);
    const request = { attributes: [['g']], nanPolicy: 'exclude' } as const;
    const [decisions] = await reduceClassificationSource(file, { ...request, yPred: 'd' });
    expect(decisions?.stats.labels).to.deep.equal(['1', 'x']);
    expect(decisions?.stats.counts.reduce((sum, count) => sum + count, 0)).to.equal(5);
    // The mean of 1, 2, 3 and 4 is 2.5; the squared deviations add up to 5, the cubed ones to 0.
    const [numbers] = await reduceRegressionSource(file, { ...request, yPred: 'p', yTrue: 't' });
    expect(numbers?.stats.moments.prediction.mean[0]).to.be.closeTo(2.5, 1e-12);
    expect(numbers?.stats.moments.prediction.m2[0]).to.be.closeTo(5, 1e-12);
    expect(numbers?.stats.moments.prediction.m3[0]).to.be.closeTo(0, 1e-12);
    const [scores] = await reduceScoreSource(file, { ...request, yScore: 'p', yTrue: 'd' });
    expect(scores?.stats.labels).to.deep.equal(['1', 'x']);
    expect([...(scores?.stats.groups ?? [])]).to.deep.equal([0, 0, 0, 0, 1]);
  });

  it('groups named NaN are reported, and two spellings of a number are not, in files and arrays', async () => {
    const groups = ['NaN', '1', ' 1', '1.0', 'nan', 'b'];
    const text = csv(groups);
    const input = { yPred: 'd', attributes: [['g']], minGroupSize: 1, withCi: false };
    const validations = [
      await validateFile(fileOf('csv', text), input),
      await validateFile(fileOf('csv', text), { ...input, backend: 'native' }),
      await validateFile(fileOf('csv.gz', gzipSync(text)), input),
      await validateRows({ yPred: groups.map((_, row) => row % 2), sensitive: { g: groups }, minGroupSize: 1 }),
    ];
    for (const { attributes } of validations) {
      const { warnings = [] } = attributes['g']?.['demographic_parity_difference'] ?? {};
      expect(warnings.filter((warning) => warning.startsWith("groups of 'g'"))).to.deep.equal([
        "groups of 'g' differ only by case, spaces or Unicode form: 'NaN' (1 row), 'nan' (1 row); each is measured as a separate group",
        "groups of 'g' have names that often mean a missing value: 'NaN' (1 row), 'nan' (1 row); they are measured as groups; use --na-values (naValues) to exclude their rows",
      ]);
    }
  });

  it('naValues exclude a group in all its spellings, with the same warning, in every source', async () => {
    const groups = ['-99', '-99.0', '-9.9e1', '1', '1.0', '2'];
    const numbers = groups.map(Number);
    const yPred = groups.map((_, row) => row % 2);
    const options = { minGroupSize: 1, withCi: false, naValues: ['-99.00', '?'] };
    const input = { ...options, yPred: 'd', attributes: [['g']] };
    const mixed = csv([...groups, 'x']);
    const validations = {
      csv: await validateFile(fileOf('csv', csv(groups)), input),
      'csv with a text': await validateFile(fileOf('csv', mixed), input),
      native: await validateFile(fileOf('csv', csv(groups)), { ...input, backend: 'native' }),
      'csv.gz': await validateFile(fileOf('csv.gz', gzipSync(csv(groups))), input),
      'csv.gz with a text': await validateFile(fileOf('csv.gz', gzipSync(mixed)), input),
      'parquet of texts': await validateFile(await parquet(groups, 'VARCHAR'), input),
      'parquet of numbers': await validateFile(await parquet(groups, 'DOUBLE'), input),
      'ndjson of texts': await validateFile(fileOf('ndjson', ndjson(quoted(groups))), input),
      'ndjson of numbers': await validateFile(fileOf('ndjson', ndjson(groups)), input),
      'an array of texts': await validateRows({ ...options, yPred, sensitive: { g: groups } }),
      'an array of numbers': await validateRows({ ...options, yPred, sensitive: { g: numbers } }),
    };
    for (const [source, { attributes }] of Object.entries(validations)) {
      const { nPerGroup = {}, warnings = [] } = attributes['g']?.['demographic_parity_difference'] ?? {};
      expect([source, nPerGroup['1'], nPerGroup['2'], nPerGroup['-99']]).to.deep.equal([source, 2, 1, undefined]);
      expect([source, ...warnings.filter((text) => text.includes("'g'"))]).to.deep.equal([
        source,
        "the groups of 'g' are missing where they hold one of these texts: '-99' (3 rows); --na-values (naValues) lists these texts",
      ]);
    }
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'd', protected: ['g'] },
      naValues: options.naValues,
    });
    for (const g of [...groups, ...numbers]) tracker.record({ g, d: 1 });
    tracker.recordBatch({ g: [...groups, ...numbers], d: [...yPred, ...yPred] });
    expect(tracker.stream.reader.groups[0]?.labels).to.deep.equal(['1', '2']);
  });

  // Each list: the labels as written, the text of naValues, and the groups that are left.
  for (const [labels, text, left] of [
    [['9007199254740993.0', '9007199254740992', 'a'], '9007199254740993.0', ['9007199254740992', 'a']],
    [['-999999999999999.0', 'a'], '-999999999999999', ['a']],
    [['1e400', '1e500', 'a'], '1e400', ['1e+500', 'a']],
    // Decisions of 0 are missing, too.
    [['0', '1e-400', '0', 'a'], '0', ['1e-400', 'a']],
    [['0.00000000000000001', '1', 'a'], '1e-17', ['1', 'a']],
    [['               -99.0', 'a'], '-99', ['a']],
    [['99', '099', 'a'], '099', ['99', 'a']],
    [['99', '0x63', 'a'], '0x63', ['99', 'a']],
  ] as const) {
    it(`naValues ${text} leave ${left.join(', ')} of ${labels.join(', ')}`, async () => {
      const options = { minGroupSize: 1, withCi: false, naValues: [text] };
      const input = { ...options, yPred: 'd', attributes: [['g']] };
      const yPred = labels.map((_, row) => row % 2);
      const validations = [
        await validateFile(fileOf('csv', csv(labels)), input),
        await validateFile(fileOf('csv.gz', gzipSync(csv(labels))), input),
        await validateFile(await parquet(labels, 'VARCHAR'), input),
        await validateRows({ ...options, yPred, sensitive: { g: labels } }),
      ];
      for (const { attributes } of validations) {
        const { nPerGroup = {}, warnings = [] } = attributes['g']?.['demographic_parity_difference'] ?? {};
        expect(Object.keys(nPerGroup).sort()).to.deep.equal([...left]);
        expect(warnings.filter((warning) => warning.startsWith("the groups of 'g' are missing"))).to.have.length(1);
      }
    });
  }

  for (const [text, left] of [
    ['9007199254740992', ['9007199254740993', '99']],
    ['099', ['9007199254740992', '9007199254740993', '99']],
    ['99.0', ['9007199254740992', '9007199254740993']],
  ] as const) {
    it(`naValues ${text} leave ${left.join(', ')} of a Parquet column of integers`, async () => {
      const file = await parquet(['9007199254740992', '9007199254740993', '99', '99'], 'BIGINT');
      const input = { yPred: 'd', attributes: [['g']], minGroupSize: 1, withCi: false, naValues: [text] };
      const { attributes } = await validateFile(file, input);
      const { nPerGroup = {}, warnings = [] } = attributes['g']?.['demographic_parity_difference'] ?? {};
      expect(Object.keys(nPerGroup).sort()).to.deep.equal([...left]);
      const isTold = warnings.some((warning) => warning.startsWith("the groups of 'g' are missing"));
      expect(isTold).to.equal(left.length < 3);
    });
  }

  it('naValues of a stream exclude numbers by value, and ids and labels as written', () => {
    const columns = { yPred: 'd', id: 'id', protected: ['g'] };
    const tracker = new RealTimeFairnessTracker({ columns, naValues: ['7'] });
    for (const id of ['007', '7', '7.0', 7, '8']) tracker.record({ g: 'a', d: 1, id });
    expect(tracker.stream.faults.toJSON()).to.deep.equal({ missing_id: 2 });
  });

  it('naValues exclude a long number, and not the next one', async () => {
    const groups = ['9007199254740992', '9007199254740993', '9007199254740992', '9007199254740993', '1'];
    const input = { yPred: 'd', attributes: [['g']], minGroupSize: 1, withCi: false, naValues: ['9007199254740992'] };
    for (const [extension, content] of [
      ['csv', csv(groups)],
      ['csv.gz', gzipSync(csv(groups))],
    ] as const) {
      const { attributes } = await validateFile(fileOf(extension, content), input);
      const { nPerGroup = {} } = attributes['g']?.['demographic_parity_difference'] ?? {};
      expect(Object.entries(nPerGroup)).to.deep.equal([
        ['1', 1],
        ['9007199254740993', 2],
      ]);
    }
  });

  it('a gap between two groups with labels of 16 digits is found, in a file and in arrays', async () => {
    const groups = ['9007199254740992', '9007199254740993'];
    const rows = Array.from({ length: 80 }, (_, row) => [groups[row % 2] as string, row % 2] as const);
    const text = `g,d\n${rows.map((row) => `${row.join()}\n`).join('')}`;
    for (const backend of ['native', 'duckdb'] as const) {
      const { attributes } = await validateFile(fileOf('csv', text), { yPred: 'd', attributes: [['g']], backend });
      expect(attributes['g']?.['demographic_parity_difference']?.value).to.equal(1);
    }
    const { attributes } = await validateRows({
      yPred: rows.map(([, d]) => d),
      sensitive: { g: rows.map(([g]) => g) },
    });
    expect(attributes['g']?.['demographic_parity_difference']?.value).to.equal(1);
  });
});
