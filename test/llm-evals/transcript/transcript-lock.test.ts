import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { openTranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { sampleAnswer } from './sample-answer.ts';

const CHILD = path.join(import.meta.dirname, 'hold-transcript.ts');

describe('the lock of a transcript', function () {
  this.timeout(60_000);
  const allFiles = useTemporaryFolder();
  let folder = '';
  const children: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(path.join(allFiles(), 'lock-'));
  });

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a process that opens the file. Returns it with the line that it prints. */
  async function holder(file: string): Promise<{ child: ChildProcess; said: string }> {
    const child = spawn(process.execPath, ['--import', 'tsx', CHILD, file], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return { child, said: line.toString().trim() };
  }

  it('refuses a second process with an error that names the first, and leaves the file unchanged', async () => {
    const file = path.join(folder, 'answers.ndjson');
    const { child, said } = await holder(file);
    expect(said).to.equal('open');
    const error = await rejectionOf(openTranscriptLog(file, { resume: true }));
    expect(error).to.be.instanceOf(DataValidationError);
    const pid = String(child.pid);
    expect(error.message).to.equal(
      `The transcript file '${file}' is being written by process ${pid} on ${hostname()}.`,
    );
    expect(error.suggestion).to.include(`${file}.lock`);
    expect((await holder(file)).said).to.include(`is being written by process ${pid} on`);
    expect(readFileSync(file, 'utf8')).to.equal('');
  });

  it('does not refuse a run after the other was killed, and removes the lock at its end', async () => {
    const file = path.join(folder, 'answers.ndjson');
    const { child } = await holder(file);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(`${file}.lock`)).to.equal(true);
    const log = await openTranscriptLog(file, { resume: true });
    await log.append(sampleAnswer());
    await log.close();
    expect(readdirSync(folder)).to.deep.equal(['answers.ndjson']);
  });

  it('does not refuse a run after the other ended', async () => {
    const file = path.join(folder, 'answers.ndjson');
    const { child } = await holder(file);
    child.stdin?.end();
    await once(child, 'exit');
    // Neither the lock nor an empty transcript is left.
    expect(readdirSync(folder)).to.deep.equal([]);
    await (await openTranscriptLog(file)).close();
  });

  it('is taken by exactly one of several processes that find the lock of a killed one', async () => {
    const file = path.join(folder, 'answers.ndjson');
    const { child } = await holder(file);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const said = await Promise.all(Array.from({ length: 4 }, async () => (await holder(file)).said));
    expect(said.filter((line) => line === 'open')).to.have.length(1);
  });

  it('refuses to open a file twice in one process', async () => {
    const file = path.join(folder, 'answers.ndjson');
    const log = await openTranscriptLog(file);
    const error = await rejectionOf(openTranscriptLog(file));
    expect(error.message).to.include(`is being written by this process (${String(process.pid)})`);
    await log.close();
    await (await openTranscriptLog(file)).close();
  });

  it('takes over the lock of a process id that another program has now, and of a silent machine', async () => {
    const file = path.join(folder, 'answers.ndjson');
    await (await openTranscriptLog(file)).close();
    const lock = `${file}.lock`;
    // On this machine: the id runs, but it started at another time.
    const log = await openTranscriptLog(file, { resume: true });
    const owner = JSON.parse(readFileSync(lock, 'utf8')) as Record<string, unknown>;
    await log.close();
    if (owner['start'] !== null) {
      writeFileSync(lock, JSON.stringify({ ...owner, start: '1', id: 'a' }));
      await (await openTranscriptLog(file, { resume: true })).close();
    }
    // On another machine, a lock counts for a minute after its last sign of life.
    writeFileSync(lock, JSON.stringify({ ...owner, machine: 'elsewhere', id: 'b' }));
    expect((await rejectionOf(openTranscriptLog(file))).message).to.include('on elsewhere.');
    const { mtimeMs } = statSync(lock);
    utimesSync(lock, mtimeMs / 1000 - 61, mtimeMs / 1000 - 61);
    await (await openTranscriptLog(file)).close();
    // A lock without content, after a crash of the machine.
    writeFileSync(lock, '');
    await (await openTranscriptLog(file)).close();
    expect(existsSync(lock)).to.equal(false);
  });
});
