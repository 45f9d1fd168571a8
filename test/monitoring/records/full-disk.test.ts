import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { getLogger } from '../../../src/internal/logger.ts';
import type { FileFunctions } from '../../../src/monitoring/records/file/file-functions.ts';
import { openRecordStore, type RecordStoreOptions } from '../../../src/monitoring/records/open-record-store.ts';
import { readRecords } from '../../../src/monitoring/records/read-records.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { sampleRecord } from './sample-record.ts';
import { StubDisk } from './stub-files.ts';

const folder = useTemporaryFolder();

const infos: string[] = [];
const logger = getLogger();
const { info } = logger;

let count = 0;
const open = (disk: StubDisk, ending: string, options: RecordStoreOptions = {}) => {
  const file = path.join(folder(), `full-${count++}.${ending}`);
  return { file, store: openRecordStore(file, { files: disk.files, ...options }) };
};
const record = (value: number) => sampleRecord({ value, group: 'a "quoted"\nlabel, é' });
const values = async (file: string) => (await readRecords(file)).toRecords().map(({ value }) => value);

describe('a record store whose disk fails', () => {
  const warnings = useLoggedWarnings();
  beforeEach(() => {
    infos.length = 0;
    logger.info = (text: unknown) => {
      infos.push(String(text));
    };
  });
  afterEach(() => {
    logger.info = info;
  });

  for (const ending of ['csv', 'ndjson']) {
    for (const code of ['ENOSPC', 'EIO', 'EACCES', 'EDQUOT']) {
      it(`keeps records of .${ending} in memory during ${code}, and writes them in order afterwards`, async () => {
        const disk = new StubDisk();
        const { file, store } = open(disk, ending);
        store.append([record(0)]);
        disk.failing = { write: code };
        for (let value = 1; value <= 3; value++) store.append([record(value)]);
        expect(store.status()).to.include({ written: 1, pending: 3, dropped: 0 });
        expect(store.status().problem).to.include(code);
        expect(await values(file)).to.deep.equal([0]);
        disk.failing = {};
        store.append([record(4)]);
        expect(store.status()).to.deep.equal({ written: 5, pending: 0, dropped: 0, problem: null });
        expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4]);
        expect([warnings().length, infos.length]).to.deep.equal([1, 1]);
        expect(warnings()[0]).to.match(/cannot be written: .*; records wait in memory, at most 100000/);
        expect(infos[0]).to.match(/can be written again/);
        store.close();
      });
    }

    it(`leaves .${ending} readable and loses nothing, if the disk is full at any byte`, async () => {
      const probe = open(new StubDisk(), ending);
      probe.store.append([record(0), record(1), record(2)]);
      const length = readFileSync(probe.file).length;
      for (let room = 0; room < length; room++) {
        const disk = new StubDisk();
        const { file, store } = open(disk, ending);
        disk.room = room;
        store.append([record(0), record(1), record(2)]);
        const { written, pending, problem } = store.status();
        expect(written + pending, `room ${room}`).to.equal(3);
        expect(problem).to.equal('the disk is full (ENOSPC)');
        // Read as bytes, to check that the file has no incomplete line.
        expect(readFileSync(file, 'latin1')).to.match(/^$|\n$/);
        expect(await values(file)).to.deep.equal([0, 1, 2].slice(0, written));
        disk.room = Infinity;
        store.append([record(3)]);
        expect(await values(file)).to.deep.equal([0, 1, 2, 3]);
        expect(store.status().problem).to.equal(null);
        store.close();
      }
      probe.store.close();
      expect(warnings()).to.have.length(length);
    });

    it(`removes an incomplete line of .${ending} later if it cannot do so immediately`, async () => {
      const disk = new StubDisk();
      const { file, store } = open(disk, ending);
      store.append([record(0)]);
      disk.room = 20;
      disk.failing = { ftruncate: 'EIO' };
      store.append([record(1)]);
      expect(readFileSync(file, 'latin1')).not.to.match(/\n$/);
      expect(await values(file)).to.deep.equal([0]);
      store.append([record(2)]);
      disk.room = Infinity;
      store.append([record(3)]);
      expect(store.status()).to.include({ written: 1, pending: 3 });
      disk.failing = {};
      store.append([]);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3]);
      store.close();
    });

    it(`continues if the system accepts only a part of each write to .${ending}`, async () => {
      const disk = new StubDisk();
      disk.maxAtOnce = 7;
      const { file, store } = open(disk, ending);
      store.append([record(0), record(1)]);
      expect(store.status()).to.deep.equal({ written: 2, pending: 0, dropped: 0, problem: null });
      expect(await values(file)).to.deep.equal([0, 1]);
      expect(warnings()).to.deep.equal([]);
      store.close();
    });
  }

  it('treats a write of no bytes as a failure, and does not loop', () => {
    const disk = new StubDisk();
    const { store } = open(disk, 'csv');
    disk.maxAtOnce = 0;
    store.append([record(0)]);
    expect(store.status()).to.include({ pending: 1, problem: 'the system wrote nothing' });
  });

  it('drops the oldest beyond mostPending, and counts them', async () => {
    const disk = new StubDisk();
    const { file, store } = open(disk, 'csv', { mostPending: 3 });
    disk.failing = { write: 'ENOSPC' };
    for (let value = 0; value < 5; value++) store.append([record(value)]);
    store.append([record(5), record(6), record(7), record(8)]);
    expect(store.status()).to.include({ written: 0, pending: 3, dropped: 6 });
    disk.failing = {};
    store.append([record(9)]);
    expect(await values(file)).to.deep.equal([6, 7, 8, 9]);
    expect(store.status()).to.deep.equal({ written: 4, pending: 0, dropped: 6, problem: null });
    expect(infos[0]).to.match(/6 records were dropped in total/);
    store.close();
  });

  it('drops nothing of an append with more than mostPending records while the disk works', async () => {
    const { file, store } = open(new StubDisk(), 'csv', { mostPending: 1 });
    store.append([record(0), record(1), record(2)]);
    expect(await values(file)).to.deep.equal([0, 1, 2]);
    store.close();
  });

  it('warns once per failure, not once per append', () => {
    const disk = new StubDisk();
    const { store } = open(disk, 'csv');
    for (let outage = 1; outage <= 3; outage++) {
      disk.failing = { write: 'ENOSPC' };
      for (let append = 0; append < 10; append++) store.append([record(append)]);
      disk.failing = {};
      store.append([record(0)]);
      expect([warnings().length, infos.length]).to.deep.equal([outage, outage]);
    }
    store.close();
  });

  const everything: readonly (keyof FileFunctions)[] = [
    'open',
    'write',
    'stat',
    'fstat',
    'mkdir',
    'rename',
    'ftruncate',
  ];
  for (const name of everything) {
    it(`never throws while ${name} fails, also across a rotation, and has all records afterwards`, async () => {
      const disk = new StubDisk();
      const { file, store } = open(disk, 'csv', { maxBytes: 300 });
      store.append([record(0)]);
      disk.failing = { [name]: 'EIO' };
      for (let value = 1; value < 5; value++) store.append([record(value)]);
      disk.failing = {};
      store.append([record(5)]);
      expect(await values(file)).to.deep.equal([0, 1, 2, 3, 4, 5]);
      expect(store.status().pending).to.equal(0);
      store.close();
    });
  }

  it('opens on a full disk and starts writing once there is space; a permanent failure is an immediate error', async () => {
    const disk = new StubDisk();
    disk.failing = { open: 'ENOSPC' };
    const { file, store } = open(disk, 'csv');
    expect(store.status()).to.include({ problem: 'the disk is full (ENOSPC)' });
    store.append([record(0)]);
    disk.failing = {};
    store.append([record(1)]);
    expect(await values(file)).to.deep.equal([0, 1]);
    store.close();
    disk.failing = { open: 'EACCES' };
    expect(() => open(disk, 'csv')).to.throw(DataValidationError, /Cannot write '.*': permission denied \(EACCES\)/);
  });

  it('reports at close what it could not write, and writes pending records if possible', async () => {
    const disk = new StubDisk();
    const { file, store } = open(disk, 'csv');
    disk.failing = { write: 'ENOSPC' };
    store.append([record(0)]);
    disk.failing = {};
    store.close();
    expect(await values(file)).to.deep.equal([0]);
    store.append([record(1)]);
    disk.failing = { write: 'ENOSPC', fsync: 'EIO', close: 'EIO' };
    store.append([record(2)]);
    store.close();
    expect(store.status()).to.include({ pending: 1 });
    expect(warnings().some((warning) => warning.includes('was closed before 1 records were written'))).to.equal(true);
  });

  it('continues even if the log fails', () => {
    const disk = new StubDisk();
    const { store } = open(disk, 'csv');
    const { warn } = logger;
    logger.warn = () => {
      throw new Error('no room for the log');
    };
    disk.failing = { write: 'ENOSPC' };
    store.append([record(0)]);
    logger.warn = warn;
    expect(store.status().pending).to.equal(1);
  });
});
