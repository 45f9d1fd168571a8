import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { ResponseCache } from '../../../src/llm-evals/cache/response-cache.ts';
import { AnswerKeeper } from '../../../src/llm-evals/run/answer-keeper.ts';
import { openTranscriptLog, type TranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { FAILED, sampleAnswer } from '../transcript/sample-answer.ts';

const KEY = 'a'.repeat(64);

describe('AnswerKeeper', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const cacheAt = (name: string) => new ResponseCache({ cacheDir: path.join(folder(), name) });
  const brokenLog: TranscriptLog = {
    path: 'full.ndjson',
    records: [],
    append: () => Promise.reject(new DataValidationError('the disk is full')),
    close: () => Promise.resolve(),
  };

  it('caches an answer if the transcript cannot be written, and reports the transcript', async () => {
    const cache = cacheAt(`${number++}`);
    const keeper = new AnswerKeeper(brokenLog, cache, new Map());
    expect((await rejectionOf(keeper.keep(sampleAnswer({ key: KEY })))).message).to.equal('the disk is full');
    expect((await cache.get(KEY))?.text).to.equal('So.');
    expect([cache.kept, cache.unkept]).to.deep.equal([1, 0]);
    await rejectionOf(keeper.keep(sampleAnswer({ key: 'b'.repeat(64), ...FAILED })));
    expect(cache.kept, 'an error is no answer').to.equal(1);
  });

  it('writes an answer to the transcript if it cannot be cached, and warns once', async () => {
    const name = `${number++}`;
    writeFileSync(path.join(folder(), name), 'a file in its place');
    const file = path.join(folder(), 'log.ndjson');
    const log = await openTranscriptLog(file);
    const cache = cacheAt(name);
    const keeper = new AnswerKeeper(log, cache, new Map());
    for (const key of [KEY, 'b'.repeat(64)]) await keeper.keep(sampleAnswer({ key }));
    await log.close();
    expect([cache.kept, cache.unkept, keeper.records.size]).to.deep.equal([0, 2, 2]);
    expect(warnings()).to.have.length(1);
    const again = await openTranscriptLog(file, { resume: true });
    expect(again.records).to.have.length(2);
    await again.close();
  });

  it('reports the transcript if neither can be written', async () => {
    const name = `${number++}`;
    writeFileSync(path.join(folder(), name), 'a file in its place');
    const keeper = new AnswerKeeper(brokenLog, cacheAt(name), new Map());
    expect((await rejectionOf(keeper.keep(sampleAnswer({ key: KEY })))).message).to.equal('the disk is full');
  });

  it('checks before sending whether the cache can be written, and leaves no files', async () => {
    const fresh = path.join(folder(), `${number++}`);
    await cacheAt(path.basename(fresh)).assertWritable();
    expect(existsSync(fresh)).to.equal(false);
    mkdirSync(fresh);
    await cacheAt(path.basename(fresh)).assertWritable();
    const name = `${number++}`;
    writeFileSync(path.join(folder(), name), 'a file in its place');
    for (const location of [name, `${name}/inner`]) {
      const error = await rejectionOf(cacheAt(location).assertWritable());
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.include(path.join(folder(), location));
      expect(error.suggestion).to.include('cache_dir');
    }
  });
});
