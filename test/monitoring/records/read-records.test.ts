import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';
import { readRecords } from '../../../src/monitoring/records/read-records.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const folder = useTemporaryFolder();

let count = 0;
/** Writes a file with a unique name. */
function write(content: string | Uint8Array, ending = 'csv'): string {
  const file = path.join(folder(), `records-${count++}.${ending}`);
  writeFileSync(file, content);
  return file;
}

const read = async (content: string | Uint8Array, ending = 'csv') =>
  (await readRecords(write(content, ending))).toRecords();
const failure = (content: string | Uint8Array, ending = 'csv') => read(content, ending).then(() => null, (error: unknown) => error as DataValidationError); // prettier-ignore

const HEADER = 'time,metric,attribute,group,window,value,n,low,high';
const NOON = '2024-05-01T12:00:00.000Z';
const OLDER: MonitoringRecord = {
  timestamp: NOON, metric: 'selection_rate', attribute: '', group: 'f', window: 'sliding', value: 0.25, n: 40, low: null, high: null,
}; // prettier-ignore
const OLDER_HEADER = 'timestamp,metric,group,value,n';

describe('readRecords', () => {
  const warnings = useLoggedWarnings();
  for (const [title, text, expected] of [
    [
      'plain fields',
      `${NOON},m,a,g,sliding,0.5,10,0.4,0.6`,
      { group: 'g', value: 0.5, low: 0.4, high: 0.6, window: 'sliding' },
    ],
    [
      'missing values',
      `${NOON},m,a,,cumulative,,0,,`,
      { group: null, value: null, low: null, high: null, window: 'cumulative' },
    ],
    ['an empty label', `${NOON},m,a,"",sliding,1,10,,`, { group: '' }],
    ['quoted labels', `${NOON},m,a,"x,""y""\nz",sliding,1,10,,`, { group: 'x,"y"\nz' }],
    ['a CRLF line end in a label', `${NOON},m,a,"x\r\ny",sliding,1,10,,`, { group: 'x\r\ny' }],
    ['non-ASCII letters', `${NOON},m,a,Ærøskøbing 東京,sliding,1,10,,`, { group: 'Ærøskøbing 東京' }],
    ['exponents', `${NOON},m,a,g,sliding,1e-7,1e3,-2.5E+1,.5`, { value: 1e-7, n: 1000, low: -25, high: 0.5 }],
  ] as const) {
    it(`reads ${title}`, async () => {
      const [record, ...rest] = await read(`${HEADER}\n${text}\n`);
      expect(rest).to.deep.equal([]);
      expect(record).to.include(expected);
      expect(record?.timestamp).to.equal(NOON);
    });
  }

  describe('reads older files', () => {
    for (const [title, text] of [
      ['a timestamp column first', `${OLDER_HEADER}\n2024-05-01T12:00:00Z,selection_rate,f,0.25,40\n`],
      ['a timestamp column last', 'metric,group,value,n,timestamp\nselection_rate,f,0.25,40,2024-05-01T12:00:00Z\n'],
      ['an index column of pandas before it', `,${OLDER_HEADER}\n0,2024-05-01 12:00:00,selection_rate,f,0.25,40\n`],
      ['a DatetimeIndex without a name', ',metric,group,value,n\n2024-05-01 12:00:00,selection_rate,f,0.25,40\n'],
      ['a DatetimeIndex of a zone', ',metric,group,value,n\n2024-05-01 14:00:00+02:00,selection_rate,f,0.25,40\n'],
      ['times to the nanosecond', `${OLDER_HEADER}\n2024-05-01 12:00:00.000999999,selection_rate,f,0.25,40\n`],
      ['seconds since 1970', `${OLDER_HEADER}\n1714564800,selection_rate,f,0.25,40\n`],
      ['fractions of seconds', `${OLDER_HEADER}\n1714564800.0004,selection_rate,f,0.25,40\n`],
      ['milliseconds', `${OLDER_HEADER}\n1714564800000,selection_rate,f,0.25,40\n`],
      ['microseconds', `${OLDER_HEADER}\n1714564800000000,selection_rate,f,0.25,40\n`],
      ['nanoseconds', `${OLDER_HEADER}\n1714564800000000000,selection_rate,f,0.25,40\n`],
      ['counts written as floats', `${OLDER_HEADER}\n2024-05-01T12:00:00,selection_rate,f,0.25,40.0\n`],
      ['CRLF line ends', `${OLDER_HEADER}\r\n2024-05-01T12:00:00,selection_rate,f,0.25,40\r\n`],
      ['a byte order mark', `\uFEFF${OLDER_HEADER}\n2024-05-01T12:00:00,selection_rate,f,0.25,40\n`],
      ['empty lines', `${OLDER_HEADER}\n\n2024-05-01T12:00:00,selection_rate,f,0.25,40\n\n`],
      [
        'quotes around everything',
        `"${OLDER_HEADER.replaceAll(',', '","')}"\n"2024-05-01T12:00:00","selection_rate","f","0.25","40"\n`,
      ],
      ['additional columns', `${OLDER_HEADER},note\n2024-05-01T12:00:00,selection_rate,f,0.25,40,"late, very"\n`],
    ] as const) {
      it(`with ${title}`, async () => {
        expect(await read(text)).to.deep.equal([OLDER]);
        expect(warnings()).to.deep.equal([]);
      });
    }

    it('with fractions of seconds exact to the millisecond', async () => {
      const rows = Array.from(
        { length: 1000 },
        (_, milli) => `1714564800.${String(milli).padStart(3, '0')},m,f,${milli},1`,
      );
      const log = await readRecords(write(`${OLDER_HEADER}\n${rows.join('\n')}\n`));
      expect([...log.index]).to.deep.equal(rows.map((_, milli) => 1714564800000 + milli));
    });

    it('with attribute, bounds and window if they have them', async () => {
      const text = `timestamp,attribute,metric,group,value,n,high,low,window\n${NOON},sex,m,,nan,7,0.9,0.1,cumulative\n`;
      expect(await read(text)).to.deep.equal([
        { timestamp: NOON, metric: 'm', attribute: 'sex', group: null, window: 'cumulative', value: null, n: 7, low: 0.1, high: 0.9 },
      ]); // prettier-ignore
    });

    it('with the times as index and not as a column', async () => {
      const log = await readRecords(write(`${OLDER_HEADER}\n${NOON},m,f,1,1\n`));
      expect(log.index[0]).to.equal(Date.parse(NOON));
      expect(log.toTable().columnNames).not.to.include.members(['timestamp']);
    });

    it('but does not read row numbers as times', async () => {
      const problem = await failure(',metric,group,value,n\n0,m,f,1,1\n');
      expect(problem?.message).to.match(/line 2: '0' in the column without a name is not a date/);
    });
  });

  for (const [title, text, message, context] of [
    [
      'a missing field',
      `${HEADER}\n${NOON},m,a,g,sliding,1,10,0.1\n`,
      /line 2: it has 8 fields, but the header has 9/,
      { line: 2 },
    ],
    ['an invalid time', `${HEADER}\nsoon,m,a,g,sliding,1,10,,\n`, /line 2: 'soon' is not a time/, { line: 2 }],
    ['30 February', `${HEADER}\n2024-02-30,m,a,g,sliding,1,10,,\n`, /line 2: '2024-02-30' is not a time/, { line: 2 }],
    [
      'text as value',
      `${HEADER}\n${NOON},m,a,g,sliding,high,10,,\n`,
      /line 2: the value 'high' is not a finite number/,
      { line: 2 },
    ],
    [
      'an infinite value',
      `${HEADER}\n${NOON},m,a,g,sliding,inf,10,,\n`,
      /the value 'inf' is not a finite number/,
      { line: 2 },
    ],
    [
      'a hexadecimal value',
      `${HEADER}\n${NOON},m,a,g,sliding,0x10,10,,\n`,
      /the value '0x10' is not a finite number/,
      { line: 2 },
    ],
    ['no n', `${HEADER}\n${NOON},m,a,g,sliding,1,,,\n`, /line 2: the n '' is not a number of at least 0/, { line: 2 }],
    ['an unknown window', `${HEADER}\n${NOON},m,a,g,weekly,1,10,,\n`, /line 2: 'weekly' is not a window/, { line: 2 }],
    [
      'a quote inside a field',
      `${HEADER}\n${NOON},m,a,g,sliding,1,1,,\n${NOON},m,a,x"y",sliding,1,1,,\n`,
      /line 3: it has invalid CSV quotes/,
      { line: 3 },
    ],
    [
      'an invalid line after a label of two lines',
      `${HEADER}\n${NOON},m,a,"x\ny",sliding,1,10,,\nbad\n`,
      /line 4: it has 1 fields/,
      { line: 4 },
    ],
    [
      'an unclosed quote',
      `${HEADER}\n${NOON},m,a,"g,sliding,1,10,,\n${`${NOON},m,a,g,sliding,1,10,,\n`.repeat(3)}`,
      /line 2: a quoted value is not closed/,
      { line: 2 },
    ],
    [
      'other columns',
      'a,b\n1,2\n',
      /does not contain monitoring records\. Missing columns: time or timestamp, metric, value, n/,
      { line: 1 },
    ],
    ['no n column', 'timestamp,metric,group,value\n', /Missing columns: n\./, { line: 1 }],
    ['text without a line end', 'hello', /does not contain monitoring records/, { line: 1 }],
  ] as const) {
    it(`rejects a CSV file with ${title} and gives the line`, async () => {
      const problem = await failure(text);
      expect(problem).to.be.instanceOf(DataValidationError);
      expect(problem?.message).to.match(message);
      expect(problem?.context).to.include(context);
      expect(problem?.suggestion).to.be.a('string');
    });
  }

  for (const [title, text, message] of [
    ['an array', '[1]\n', /line 1: it is not a JSON object/],
    ['half an object before others', '{"time":\n{}\n', /line 1: it is not a JSON object/],
    ['no time', '{"metric":"m","n":1}\n', /line 1: it has no time/],
    ['no metric', `{"time":"${NOON}","n":1}\n`, /line 1: it has no metric/],
    ['a group that is a number', `{"time":"${NOON}","metric":"m","group":5,"n":1}\n`, /line 1: the group is not text/],
    ['a list as value', `{"time":"${NOON}","metric":"m","value":[],"n":1}\n`, /line 1: the value is neither/],
    ['text without a line end', 'hello', /line 1: it is not a JSON object/],
  ] as const) {
    it(`rejects an NDJSON file with ${title} and gives the line`, async () => {
      expect((await failure(text, 'ndjson'))?.message).to.match(message);
    });
  }

  it('reads JSON lines with either name of the time, and null for missing values', async () => {
    const records = await read(
      `{"time":"${NOON}","metric":"m","attribute":"a","group":"","window":"cumulative","value":null,"n":3,"low":null,"high":0.5}\n\n{"timestamp":1714564800000,"metric":"m","n":3}\n`,
      'jsonl',
    );
    expect(records).to.deep.equal([
      { timestamp: NOON, metric: 'm', attribute: 'a', group: '', window: 'cumulative', value: null, n: 3, low: null, high: 0.5 },
      { timestamp: NOON, metric: 'm', attribute: '', group: null, window: 'sliding', value: null, n: 3, low: null, high: null },
    ]); // prettier-ignore
  });

  describe('skips a truncated last line, with a warning', () => {
    const line = `${NOON},m,a,"é,\n1",sliding,0.125,10,0.1,0.2`;
    const bytes = Buffer.from(`${HEADER}\n${NOON},m,a,g,sliding,1,10,,\n${line}`);
    const start = bytes.length - Buffer.byteLength(line);
    for (let end = start + 1; end <= bytes.length; end++) {
      it(`after ${end - start} of its ${bytes.length - start} bytes`, async () => {
        expect(await read(bytes.subarray(0, end))).to.have.length(1);
        expect(warnings()).to.have.length(1);
        expect(warnings()[0]).to.match(/is incomplete and was skipped/);
      });
    }

    it('in the header', async () => {
      expect(await read('time,met')).to.deep.equal([]);
      expect(warnings()).to.have.length(1);
    });

    it('in JSON; a complete object is kept', async () => {
      const full = `{"time":"${NOON}","metric":"m","n":3}`;
      expect(await read(`${full}\n${full.slice(0, -1)}`, 'ndjson')).to.have.length(1);
      expect(warnings()).to.have.length(1);
      expect(await read(`${full}\n${full}`, 'ndjson')).to.have.length(2);
      expect(warnings()).to.have.length(1);
    });
  });

  it('reads an empty file, and one with only a header, as no records', async () => {
    expect(await read('')).to.deep.equal([]);
    expect(await read(`${HEADER}\n`)).to.deep.equal([]);
    expect(await read('', 'ndjson')).to.deep.equal([]);
    expect(warnings()).to.deep.equal([]);
  });

  it('reads rotated files first, oldest first, each with its own layout, despite a gap in their numbers', async () => {
    const file = write(`${HEADER}\n${NOON},new,a,,sliding,1,10,,\n`);
    writeFileSync(`${file}.2`, `${HEADER}\n${NOON},old,a,,sliding,1,10,,\n`);
    writeFileSync(`${file}.10`, `${OLDER_HEADER}\n${NOON},older,,1,10\n`);
    writeFileSync(`${file}.bak`, 'not ours');
    writeFileSync(`${file}.01`, 'not ours');
    const records = (await readRecords(file)).toRecords();
    expect(records.map(({ metric }) => metric)).to.deep.equal(['older', 'old', 'new']);
  });

  it('reads rotated files if the current one is missing', async () => {
    const file = path.join(folder(), 'gone.csv');
    writeFileSync(`${file}.1`, `${HEADER}\n${NOON},old,a,,sliding,1,10,,\n`);
    expect((await readRecords(file)).length).to.equal(1);
  });

  it('reads a file longer than one chunk, with characters across chunk boundaries', async () => {
    const lines = Array.from(
      { length: 12_000 },
      (_, row) => `${NOON},m,é東,"${'ø'.repeat(row % 37)}",sliding,${row},1,,`,
    );
    const records = await read(`${HEADER}\n${lines.join('\n')}\n`);
    expect(records.map(({ value }) => value)).to.deep.equal(lines.map((_, row) => row));
    expect(records.every(({ group }, row) => group?.length === row % 37)).to.equal(true);
  });

  it('rejects text that is not UTF-8, and extremely long lines', async () => {
    expect((await failure(Buffer.from(`${HEADER}\n${NOON},m,a,\xe9,sliding,1,1,,\n`, 'latin1')))?.message).to.match(
      /UTF-8/,
    );
    expect((await failure('x'.repeat(3 * 2 ** 20)))?.message).to.match(/line 1: the line is too long/);
  });

  it('rejects a missing path, a folder, and another extension', async () => {
    mkdirSync(path.join(folder(), 'folder.csv'));
    for (const [name, type, message] of [
      ['missing.csv', DataValidationError, /no such file/],
      ['nowhere/missing.csv', DataValidationError, /no such file/],
      ['folder.csv', DataValidationError, /folder/],
      ['records.parquet', ValueError, /must end in \.csv, \.ndjson or \.jsonl/],
    ] as const) {
      const problem = await readRecords(path.join(folder(), name)).then(() => null, (error: unknown) => error); // prettier-ignore
      expect(problem, name).to.be.instanceOf(type);
      expect((problem as Error).message).to.match(message);
    }
  });
});
