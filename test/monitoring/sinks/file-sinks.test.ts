import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { getLogger } from '../../../src/internal/logger.ts';
import { logSink } from '../../../src/monitoring/sinks/log-sink.ts';
import { ndjsonSink } from '../../../src/monitoring/sinks/ndjson-sink.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { StubDisk } from '../records/stub-files.ts';
import { SAMPLE_JSON, SAMPLE_TEXT, sampleTransition } from './sample-transition.ts';

const folder = useTemporaryFolder();

let count = 0;
const newPath = () => path.join(folder(), `alerts-${count++}.ndjson`);
const lines = (file: string) => readFileSync(file, 'utf8').split('\n');
const ids = (file: string) =>
  lines(file)
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as typeof SAMPLE_JSON).alert.id);

describe('an NDJSON sink', () => {
  const warnings = useLoggedWarnings();
  it('appends a transition as a line of JSON in snake_case, immediately on the disk', async () => {
    const disk = new StubDisk();
    const file = newPath();
    const sink = ndjsonSink(file, { files: disk.files });
    sink.send(sampleTransition());
    expect(lines(file)).to.have.length(2);
    expect(JSON.parse(lines(file)[0] ?? '')).to.deep.equal(SAMPLE_JSON);
    expect([disk.calls['write'], disk.calls['fsync']]).to.deep.equal([1, 1]);
    await sink.close();
    expect([sink.name, sink.failures]).to.deep.equal(['ndjson', 0]);
  });

  it('writes one complete line for any text', async () => {
    const file = newPath();
    const sink = ndjsonSink(file);
    sink.send(sampleTransition('raised', { reason: 'a\nb\r\n"c"\u2028 é' }));
    await sink.close();
    expect(lines(file)).to.have.length(2);
    expect((JSON.parse(lines(file)[0] ?? '') as typeof SAMPLE_JSON).alert.reason).to.equal('a\nb\r\n"c"\u2028 é');
  });

  it('appends to earlier lines, and removes a truncated last line', async () => {
    const file = newPath();
    for (const id of ['a', 'b']) {
      const sink = ndjsonSink(file);
      sink.send(sampleTransition('raised', { id }));
      await sink.close();
      appendFileSync(file, '{"change":"raised","times');
    }
    ndjsonSink(file);
    expect(ids(file)).to.deep.equal(['a', 'b']);
    expect(warnings()).to.have.length(2);
  });

  it('keeps alerts in memory while the disk is full, and counts those that it drops', async () => {
    const disk = new StubDisk();
    const file = newPath();
    const sink = ndjsonSink(file, { files: disk.files, mostPending: 2 });
    disk.room = 100;
    for (const id of ['a', 'b', 'c', 'd']) sink.send(sampleTransition('raised', { id }));
    expect([sink.failures, readFileSync(file, 'utf8')]).to.deep.equal([2, '']);
    disk.room = Infinity;
    sink.send(sampleTransition('raised', { id: 'e' }));
    expect(ids(file)).to.deep.equal(['c', 'd', 'e']);
    expect([sink.failures, warnings().length]).to.deep.equal([2, 1]);
    await sink.close();
  });

  it('counts what it could not write until it was closed', async () => {
    const disk = new StubDisk();
    const sink = ndjsonSink(newPath(), { files: disk.files });
    disk.failing = { write: 'ENOSPC' };
    sink.send(sampleTransition());
    expect(sink.failures).to.equal(0);
    await sink.close();
    expect(sink.failures).to.equal(1);
  });

  it('does not write a line twice if only the flush to the disk failed', async () => {
    const disk = new StubDisk();
    const file = newPath();
    const sink = ndjsonSink(file, { files: disk.files });
    disk.failing = { fsync: 'EIO' };
    sink.send(sampleTransition('raised', { id: 'a' }));
    disk.failing = {};
    sink.send(sampleTransition('raised', { id: 'b' }));
    await sink.close();
    expect(ids(file)).to.deep.equal(['a', 'b']);
    expect(warnings()).to.have.length(1);
  });

  for (const content of ['{"a":1}\n', 'text\n', 'text', '{"time":"x","metric":"m"}\n']) {
    it(`rejects a file with ${JSON.stringify(content)}, and leaves it unchanged`, () => {
      const file = newPath();
      writeFileSync(file, content);
      expect(() => ndjsonSink(file)).to.throw(
        DataValidationError,
        /has (unexpected content|content other than alerts)/,
      );
      expect(readFileSync(file, 'utf8')).to.equal(content);
      expect(existsSync(`${file}.1`)).to.equal(false);
    });
  }

  it('rejects mostPending of 0', () => {
    expect(() => ndjsonSink(newPath(), { mostPending: 0 })).to.throw(ValueError, /mostPending/);
  });
});

describe('a log sink', () => {
  const warnings = useLoggedWarnings();
  const infos: string[] = [];
  const logger = getLogger();
  const { info } = logger;
  beforeEach(() => {
    infos.length = 0;
    logger.info = (text: unknown) => {
      infos.push(String(text));
    };
  });
  afterEach(() => {
    logger.info = info;
  });

  it('warns of an alarm that is raised or repeated, and logs all other changes as info', async () => {
    const sink = logSink();
    sink.send(sampleTransition());
    sink.send(sampleTransition('repeated'));
    expect(warnings()).to.deep.equal([SAMPLE_TEXT, SAMPLE_TEXT.replace('raised', 'repeated')]);
    sink.send(sampleTransition('raised', { tier: 'watch', severity: 'low', reason: 'Perhaps.', id: 'w' }));
    for (const change of ['acknowledged', 'resolved', 'cleared'] as const)
      sink.send(sampleTransition(change, { id: 'x', reason: 'Why.' }));
    expect(infos).to.deep.equal([
      'Watch raised (low): Perhaps. [w]',
      'Alarm acknowledged: Why. [x]',
      'Alarm resolved: Why. [x]',
      'Alarm cleared: Why. [x]',
    ]);
    await sink.close();
    expect([sink.name, sink.failures]).to.deep.equal(['log', 0]);
  });

  it('counts a line that could not be logged', () => {
    const { warn } = logger;
    logger.warn = () => {
      throw new Error('no room');
    };
    const sink = logSink();
    sink.send(sampleTransition());
    logger.warn = warn;
    expect(sink.failures).to.equal(1);
  });
});
