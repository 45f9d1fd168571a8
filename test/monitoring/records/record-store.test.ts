import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';
import { openRecordStore } from '../../../src/monitoring/records/open-record-store.ts';
import { readRecords } from '../../../src/monitoring/records/read-records.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { recordsAt, sampleRecord } from './sample-record.ts';
import { StubDisk } from './stub-files.ts';

const folder = useTemporaryFolder();

let count = 0;
const newPath = (ending: string) => path.join(folder(), `store-${count++}.${ending}`);
const text = (file: string) => readFileSync(file, 'utf8');
const values = async (file: string) => (await readRecords(file)).toRecords().map(({ value }) => value);
const HEADER = 'time,metric,attribute,group,window,value,n,low,high\n';

const ODD: MonitoringRecord[] = [
  sampleRecord(),
  sampleRecord({ group: '', value: null, low: null, high: null }),
  sampleRecord({ group: 'a,b', attribute: 'sex||"race"', metric: 'line\nend', window: 'cumulative' }),
  sampleRecord({ group: 'cr\rlf\r\n', value: 1 / 3, n: 0, low: -5e-324, high: 1.7976931348623157e308 }),
  sampleRecord({ group: ' spaces ', attribute: '', timestamp: '2024-05-01T00:00:00.001Z' }),
  sampleRecord({ group: "東京 🗼 '", value: 0.1 + 0.2, timestamp: '2024-05-01T00:00:00.002Z' }),
];

describe('a record store', () => {
  const warnings = useLoggedWarnings();
  for (const ending of ['csv', 'CSV', 'ndjson', 'jsonl']) {
    it(`returns all records appended to .${ending} over several openings`, async () => {
      const file = newPath(ending);
      for (const record of ODD) {
        const store = openRecordStore(file);
        store.append([record]);
        expect(store.status()).to.deep.equal({ written: 1, pending: 0, dropped: 0, problem: null });
        store.close();
      }
      expect((await readRecords(file)).toRecords()).to.deep.equal(ODD);
      expect(warnings()).to.deep.equal([]);
    });
  }

  it('writes CSV with the time first, missing values as empty fields and numbers in shortest form', () => {
    const file = newPath('csv');
    const store = openRecordStore(file);
    store.append(ODD.slice(0, 3));
    store.append([]);
    expect(text(file)).to.equal(
      `${HEADER}2024-05-01T00:00:00.000Z,demographic_parity_difference,sex,,sliding,0.1,500,0.05,0.15
2024-05-01T00:00:00.000Z,demographic_parity_difference,sex,"",sliding,,500,,
2024-05-01T00:00:00.000Z,"line
end","sex||""race""","a,b",cumulative,0.1,500,0.05,0.15
`,
    );
    store.close();
  });

  it('writes one JSON object per line', () => {
    const file = newPath('ndjson');
    const store = openRecordStore(file);
    store.append([sampleRecord({ timestamp: '2024-05-01T02:00:00+02:00', value: null })]);
    expect(text(file)).to.equal(
      '{"time":"2024-05-01T00:00:00.000Z","metric":"demographic_parity_difference","attribute":"sex","group":null,"window":"sliding","value":null,"n":500,"low":0.05,"high":0.15}\n',
    );
    store.close();
  });

  it('makes one write per append of any number of records, and never reads or truncates a complete file', () => {
    const disk = new StubDisk();
    const store = openRecordStore(newPath('csv'), { files: disk.files });
    for (let append = 1; append <= 5; append++) {
      store.append(recordsAt(...Array.from({ length: 100 }, (_, row) => row)));
      expect(disk.calls['write']).to.equal(append);
    }
    expect([disk.calls['ftruncate'], disk.calls['read'], disk.calls['open']]).to.deep.equal([undefined, undefined, 1]);
    store.close();
  });

  it('creates missing folders', () => {
    const file = path.join(folder(), 'a', 'b', 'records.csv');
    openRecordStore(file).close();
    expect(existsSync(file)).to.equal(true);
  });

  it('writes the header once, also into an existing empty file', () => {
    const file = newPath('csv');
    writeFileSync(file, '');
    for (let opening = 0; opening < 3; opening++) {
      const store = openRecordStore(file);
      store.append([sampleRecord()]);
      store.append([sampleRecord()]);
      store.close();
    }
    expect(text(file).split('\n').filter((line) => line.startsWith('time,'))).to.have.length(1); // prettier-ignore
    expect(text(file).split('\n')).to.have.length(8);
  });

  it('rejects an invalid record, and writes nothing of its batch', () => {
    const file = newPath('csv');
    const store = openRecordStore(file);
    expect(() => {
      store.append([sampleRecord(), sampleRecord({ value: NaN })]);
    }).to.throw(DataValidationError, 'The value of records[1]');
    expect(text(file)).to.equal('');
    store.close();
  });

  describe('rotates files', () => {
    const line = Buffer.byteLength(
      `2024-05-01T00:00:00.000Z,demographic_parity_difference,sex,,sliding,0,500,0.05,0.15\n`,
    );
    const room = (lines: number) => HEADER.length + lines * line;

    it('when they would exceed maxBytes, each with a header, and loses nothing before the oldest is removed', async () => {
      const file = newPath('csv');
      const store = openRecordStore(file, { maxBytes: room(2), maxFiles: 4 });
      for (let value = 0; value < 8; value++) store.append([sampleRecord({ value })]);
      const names = [`${file}.3`, `${file}.2`, `${file}.1`, file];
      for (const [slot, name] of names.entries()) {
        expect(text(name).startsWith(HEADER), name).to.equal(true);
        expect(text(name).length).to.equal(room(2));
        expect(text(name)).to.match(new RegExp(`sliding,${2 * slot},.*\n.*sliding,${2 * slot + 1},`));
      }
      expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
      store.append([sampleRecord({ value: 8 })]);
      expect(await values(file)).to.deep.equal([2, 3, 4, 5, 6, 7, 8]);
      expect(existsSync(`${file}.4`)).to.equal(false);
      expect(store.status().written).to.equal(9);
      store.close();
    });

    it('within one append that is larger than a file may be', async () => {
      const file = newPath('csv');
      const store = openRecordStore(file, { maxBytes: room(3), maxFiles: 10 });
      store.append(Array.from({ length: 10 }, (_, value) => sampleRecord({ value })));
      expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(readdirSync(folder()).filter((name) => name.startsWith(path.basename(file)))).to.have.length(4);
      store.close();
    });

    it('with one record in each if a single record is larger than a file may be', async () => {
      const file = newPath('ndjson');
      const store = openRecordStore(file, { maxBytes: 1, maxFiles: 5 });
      store.append(Array.from({ length: 4 }, (_, value) => sampleRecord({ value })));
      store.append([sampleRecord({ value: 4 })]);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4]);
      store.close();
    });

    it('immediately if the file is full when it is opened, and removes earlier files beyond maxFiles', async () => {
      const file = newPath('csv');
      const first = openRecordStore(file, { maxBytes: room(1), maxFiles: 10 });
      for (let value = 0; value < 6; value++) first.append([sampleRecord({ value })]);
      first.close();
      const second = openRecordStore(file, { maxBytes: room(1), maxFiles: 3 });
      second.append([sampleRecord({ value: 6 })]);
      expect(await values(file)).to.deep.equal([4, 5, 6]);
      second.close();
    });

    it('with a gap after an interrupted rename, which the next rotation closes', async () => {
      const file = newPath('csv');
      const store = openRecordStore(file, { maxBytes: room(1), maxFiles: 4 });
      for (let value = 0; value < 3; value++) store.append([sampleRecord({ value })]);
      renameSync(`${file}.2`, `${file}.3`);
      for (let value = 3; value < 4; value++) store.append([sampleRecord({ value })]);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3]);
      store.close();
    });

    it('but continues in the current file if it cannot be renamed, with one warning', async () => {
      const disk = new StubDisk();
      const file = newPath('csv');
      const store = openRecordStore(file, { maxBytes: room(1), files: disk.files });
      disk.failing = { rename: 'EACCES' };
      for (let value = 0; value < 4; value++) store.append([sampleRecord({ value })]);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3]);
      expect(store.status()).to.deep.equal({ written: 4, pending: 0, dropped: 0, problem: null });
      expect(warnings()).to.have.length(1);
      expect(warnings()[0]).to.match(/cannot be rotated and keeps growing: permission denied/);
      disk.failing = {};
      store.append([sampleRecord({ value: 4 })]);
      expect(existsSync(`${file}.1`)).to.equal(true);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4]);
      store.close();
    });
  });

  describe('opened on an existing file', () => {
    for (const ending of ['csv', 'ndjson']) {
      it(`removes a last line of .${ending} that was truncated at any position, and continues`, async () => {
        const file = newPath(ending);
        const first = openRecordStore(file);
        first.append([sampleRecord({ value: 1 })]);
        const whole = text(file).length;
        first.append([sampleRecord({ value: 2, group: 'a"\n,é' })]);
        first.close();
        const bytes = readFileSync(file);
        for (let end = whole + 1; end < bytes.length - 1; end++) {
          writeFileSync(file, bytes.subarray(0, end));
          const store = openRecordStore(file);
          store.append([sampleRecord({ value: 3 })]);
          store.close();
          expect(await values(file), `cut at ${end}`).to.deep.equal([1, 3]);
        }
        expect(warnings()).to.have.length(bytes.length - 2 - whole);
        expect(warnings().every((warning) => warning.includes('was incomplete'))).to.equal(true);
      });
    }

    it('removes a truncated header', async () => {
      const file = newPath('csv');
      for (let end = 1; end < HEADER.length; end++) {
        writeFileSync(file, HEADER.slice(0, end));
        const store = openRecordStore(file);
        store.append([sampleRecord({ value: 3 })]);
        store.close();
        expect(await values(file), `cut at ${end}`).to.deep.equal([3]);
      }
    });

    it('adds the line end of a complete JSON object', async () => {
      const file = newPath('ndjson');
      const first = openRecordStore(file);
      first.append([sampleRecord({ value: 1 }), sampleRecord({ value: 2 })]);
      first.close();
      writeFileSync(file, text(file).slice(0, -1));
      const store = openRecordStore(file);
      store.append([sampleRecord({ value: 3 })]);
      expect(await values(file)).to.deep.equal([1, 2, 3]);
      expect(warnings()).to.deep.equal([]);
      store.close();
    });

    it('loses no lines after an unclosed quote, but rotates the file', () => {
      const file = newPath('csv');
      const good = '2024-05-01T00:00:00.000Z,m,a,g,sliding,1,1,,\n';
      const content = `${HEADER}${good}2024-05-01T00:00:00.000Z,m,a,"g,sliding,1,1,,\n${good.repeat(3)}`;
      writeFileSync(file, content);
      const store = openRecordStore(file);
      store.append([sampleRecord({ value: 3 })]);
      store.close();
      expect(text(`${file}.1`)).to.equal(content);
      expect(text(file).split('\n')).to.have.length(3);
      expect(warnings()[0]).to.match(/the file is kept as '.*\.1', and a new file is started/);
    });

    for (const [title, header, row] of [
      ['a timestamp column', 'timestamp,metric,group,value,n', '2023-01-01 00:00:00,m,f,7,10'],
      ['an index column before it', ',timestamp,metric,group,value,n', '0,2023-01-01 00:00:00,m,f,7,10'],
      ['a DatetimeIndex', ',metric,group,value,n', '2023-01-01 00:00:00,m,f,7,10'],
    ] as const) {
      it(`rotates a file of an older layout, with ${title}, and logs this`, async () => {
        const file = newPath('csv');
        writeFileSync(file, `${header}\n${row}\n`);
        const store = openRecordStore(file);
        store.append([sampleRecord({ value: 8 })]);
        store.close();
        expect(text(`${file}.1`)).to.equal(`${header}\n${row}\n`);
        expect(await values(file)).to.deep.equal([7, 8]);
        expect(warnings()).to.have.length(1);
        expect(warnings()[0]).to.match(/older layout/);
      });
    }

    for (const [ending, content, message] of [
      ['csv', 'a,b\n1,2', /has the columns a, b, which are not the columns of monitoring records/],
      ['csv', 'time,metric,attribute,group,window,value,n\n', /has the columns time, metric,/],
      ['csv', 'no line end', /has unexpected content/],
      ['csv', '{"time":"x"}\n', /which are not the columns of monitoring records/],
      ['ndjson', HEADER, /does not contain monitoring records/],
      ['ndjson', '{"a":1}\n', /does not contain monitoring records/],
      ['ndjson', 'no line end', /has unexpected content/],
    ] as const) {
      it(`rejects ${JSON.stringify(content)} as .${ending}, and leaves it unchanged`, () => {
        const file = newPath(ending);
        writeFileSync(file, content);
        expect(() => openRecordStore(file)).to.throw(DataValidationError, message);
        expect(text(file)).to.equal(content);
        expect(existsSync(`${file}.1`)).to.equal(false);
      });
    }
  });

  it('starts a new file if its file was removed or renamed, and a new header if it was emptied', async () => {
    const file = newPath('csv');
    const store = openRecordStore(file);
    store.append([sampleRecord({ value: 1 })]);
    rmSync(file);
    store.append([sampleRecord({ value: 2 })]);
    expect(await values(file)).to.deep.equal([2]);
    renameSync(file, `${file}.1`);
    store.append([sampleRecord({ value: 3 })]);
    expect(await values(file)).to.deep.equal([2, 3]);
    writeFileSync(file, '');
    store.append([sampleRecord({ value: 4 })]);
    expect(await values(file)).to.deep.equal([2, 4]);
    store.close();
  });

  it('shares a file with another store: lines stay complete, and each notices a rotation by the other', async () => {
    const file = newPath('csv');
    const options = { maxBytes: 2000, maxFiles: 50 };
    const stores = [openRecordStore(file, options), openRecordStore(file, options)];
    for (let value = 0; value < 100; value++) stores[value % 2]?.append([sampleRecord({ value })]);
    for (const store of stores) store.close();
    expect(await values(file)).to.deep.equal(Array.from({ length: 100 }, (_, value) => value));
  });

  it('appends again after it was closed', async () => {
    const file = newPath('csv');
    const store = openRecordStore(file);
    store.append([sampleRecord({ value: 1 })]);
    store.close();
    store.close();
    store.append([sampleRecord({ value: 2 })]);
    store.close();
    expect(await values(file)).to.deep.equal([1, 2]);
  });

  for (const [options, parameter] of [
    [{ maxBytes: 0 }, 'maxBytes'],
    [{ maxBytes: 1.5 }, 'maxBytes'],
    [{ maxFiles: 1 }, 'maxFiles'],
    [{ mostPending: 0 }, 'mostPending'],
    [{ mostPending: NaN }, 'mostPending'],
  ] as const) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => openRecordStore(newPath('csv'), options)).to.throw(ValueError, `The ${parameter} parameter`);
    });
  }

  it('rejects other extensions, and paths that cannot be written', () => {
    expect(() => openRecordStore(path.join(folder(), 'records.parquet'))).to.throw(ValueError, /\.csv, \.ndjson/);
    mkdirSync(path.join(folder(), 'taken.csv'));
    expect(() => openRecordStore(path.join(folder(), 'taken.csv'))).to.throw(DataValidationError, /it is a folder/);
    writeFileSync(path.join(folder(), 'file'), '');
    const below = path.join(folder(), 'file', 'records.csv');
    expect(() => openRecordStore(below)).to.throw(DataValidationError, /a part of the path is a file/);
  });
});
