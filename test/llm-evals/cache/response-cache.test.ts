import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { ResponseCache } from '../../../src/llm-evals/cache/response-cache.ts';
import type { Completion } from '../../../src/llm-evals/client/llm-client.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from './rejection-of.ts';

const KEY = 'ab'.padEnd(64, '0');
const OTHER = 'cd'.padEnd(64, '1');
const ANSWER: Completion = {
  text: 'Ja.\u2028 "so"\ud800',
  finishReason: 'stop',
  isRefusal: false,
  usage: { inputTokens: 3, outputTokens: 5 },
  cached: false,
  latencyMillis: 12.5,
};

describe('ResponseCache', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const freshFolder = () => path.join(folder(), `cache-${number++}`, 'answers');
  const fileOf = (cacheDir: string, key = KEY) => path.join(cacheDir, key.slice(0, 2), `${key}.json`);

  it('returns a stored answer, marked as cached', async () => {
    const cache = new ResponseCache({ cacheDir: freshFolder() });
    await cache.set(KEY, ANSWER);
    expect(await cache.get(KEY)).to.deep.equal({ ...ANSWER, cached: true });
  });

  it('preserves an answer without usage or refusal flag, and an empty text', async () => {
    const cache = new ResponseCache({ cacheDir: freshFolder() });
    const plain: Completion = { text: '', finishReason: 'other', usage: null, cached: false, latencyMillis: 0 };
    await cache.set(KEY, plain);
    expect(await cache.get(KEY)).to.deep.equal({ ...plain, cached: true });
  });

  it('counts hits and misses of get, not of has', async () => {
    const cache = new ResponseCache({ cacheDir: freshFolder() });
    expect(await cache.has(KEY)).to.be.false;
    expect(await cache.get(KEY)).to.equal(undefined);
    await cache.set(KEY, ANSWER);
    expect(await cache.has(KEY)).to.be.true;
    await cache.get(KEY);
    await cache.get(KEY);
    expect([cache.hits, cache.misses]).to.deep.equal([2, 1]);
  });

  it('creates no folder until something is stored', async () => {
    const cacheDir = freshFolder();
    await new ResponseCache({ cacheDir }).get(KEY);
    expect(existsSync(cacheDir)).to.be.false;
  });

  it('makes files readable only by the owner, and leaves no other file behind', async () => {
    const cacheDir = freshFolder();
    await new ResponseCache({ cacheDir }).set(KEY, ANSWER);
    expect(statSync(fileOf(cacheDir)).mode & 0o777).to.equal(0o600);
    expect(statSync(path.dirname(fileOf(cacheDir))).mode & 0o777).to.equal(0o700);
    expect(readdirSync(path.dirname(fileOf(cacheDir)))).to.deep.equal([`${KEY}.json`]);
  });

  it('writes snake_case with a version and the key, without the prompt', async () => {
    const cacheDir = freshFolder();
    await new ResponseCache({ cacheDir }).set(KEY, ANSWER);
    expect(JSON.parse(readFileSync(fileOf(cacheDir), 'utf8'))).to.deep.equal({
      version: 1,
      key: KEY,
      text: ANSWER.text,
      finish_reason: 'stop',
      is_refusal: false,
      usage: { input_tokens: 3, output_tokens: 5 },
      latency_millis: 12.5,
    });
  });

  it('excludes a new folder from git, and does not change an existing one', async () => {
    const cacheDir = freshFolder();
    await new ResponseCache({ cacheDir }).set(KEY, ANSWER);
    expect(readFileSync(path.join(cacheDir, '.gitignore'), 'utf8')).to.equal('*\n');
    const existing = freshFolder();
    mkdirSync(existing, { recursive: true });
    await new ResponseCache({ cacheDir: existing }).set(KEY, ANSWER);
    expect(existsSync(path.join(existing, '.gitignore'))).to.be.false;
  });

  const whole = `{"version":1,"key":"${KEY}","text":"a","finish_reason":"stop","usage":null,"latency_millis":1}`;
  for (const [title, content, reason] of [
    ['empty', '', 'not JSON'],
    ['cut short', whole.slice(0, 60), 'not JSON'],
    ['of zero bytes after a crash', '\0\0\0\0', 'not JSON'],
    ['a list', '[]', 'version'],
    ['null', 'null', 'not a JSON object'],
    ['of another version', whole.replace('"version":1', '"version":2'), 'version'],
    ['of another key', whole.replace(KEY, OTHER), 'another request'],
    ['without text', whole.replace('"text":"a",', ''), 'missing'],
    ['with a number as text', whole.replace('"a"', '1'), 'wrong type'],
    ['with an unknown reason', whole.replace('"stop"', '"tool_use"'), 'wrong type'],
    ['with half a usage', whole.replace('null', '{"input_tokens":1}'), 'wrong type'],
    ['with a negative count', whole.replace('null', '{"input_tokens":1,"output_tokens":-1}'), 'wrong type'],
  ] as const) {
    it(`treats a file that is ${title} as a miss with a warning, and replaces it`, async () => {
      const cacheDir = freshFolder();
      mkdirSync(path.dirname(fileOf(cacheDir)), { recursive: true });
      writeFileSync(fileOf(cacheDir), content);
      const cache = new ResponseCache({ cacheDir });
      expect(await cache.get(KEY)).to.equal(undefined);
      expect(cache.misses).to.equal(1);
      expect(warnings()).to.have.length(1);
      expect(warnings()[0]).to.include(fileOf(cacheDir)).and.to.include(reason);
      await cache.set(KEY, ANSWER);
      expect((await cache.get(KEY))?.text).to.equal(ANSWER.text);
    });
  }

  it('treats a folder in place of a file as a miss', async () => {
    const cacheDir = freshFolder();
    mkdirSync(fileOf(cacheDir), { recursive: true });
    expect(await new ResponseCache({ cacheDir }).get(KEY)).to.equal(undefined);
    expect(warnings()[0]).to.include('EISDIR');
  });

  for (const key of ['', '../../etc/passwd', 'ab/../cd', KEY.toUpperCase(), KEY.slice(1), `${KEY}0`, `${KEY}\n`]) {
    it(`rejects the key ${JSON.stringify(key.slice(0, 20))}`, async () => {
      const cache = new ResponseCache({ cacheDir: freshFolder() });
      for (const use of [() => cache.get(key), () => cache.has(key), () => cache.set(key, ANSWER)]) {
        expect((await rejectionOf(use())).message).to.include('64 hexadecimal digits');
      }
    });
  }

  it('stores no errors', async () => {
    const cache = new ResponseCache({ cacheDir: freshFolder() });
    for (const odd of [new Error('boom'), undefined, { error: {} }, { ...ANSWER, text: null }]) {
      expect((await rejectionOf(cache.set(KEY, odd as never))).message).to.include('completion');
    }
    expect(await cache.has(KEY)).to.be.false;
  });

  it('reports once that it cannot save answers, and counts later failures', async () => {
    const cacheDir = freshFolder();
    mkdirSync(path.dirname(cacheDir), { recursive: true });
    writeFileSync(cacheDir, 'a file in the place of the folder');
    const cache = new ResponseCache({ cacheDir });
    const error = await rejectionOf(cache.set(KEY, ANSWER));
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error.message).to.include(cacheDir);
    await cache.set(OTHER, ANSWER);
    expect(cache.unkept).to.equal(2);
    expect(readFileSync(cacheDir, 'utf8')).to.equal('a file in the place of the folder');
  });

  it('reports that a disk is full', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const cacheDir = freshFolder();
    mkdirSync(path.dirname(fileOf(cacheDir)), { recursive: true });
    symlinkSync('/dev/full', fileOf(cacheDir));
    const error = await rejectionOf(new ResponseCache({ cacheDir }).set(KEY, ANSWER));
    expect(error.message).to.include('the disk is full');
  });

  it('can be shared: two writers of the same answers both find each complete', async () => {
    const cacheDir = freshFolder();
    const caches = [new ResponseCache({ cacheDir }), new ResponseCache({ cacheDir })];
    const keys = Array.from({ length: 40 }, (_, index) => index.toString(16).padStart(64, '0'));
    await Promise.all(
      caches.flatMap((cache, owner) => keys.map((key) => cache.set(key, { ...ANSWER, text: `${owner}` }))),
    );
    for (const key of keys) expect((await caches[0]?.get(key))?.text).to.be.oneOf(['0', '1']);
    expect(warnings()).to.deep.equal([]);
  });

  it('rejects a cacheDir that is not a path', () => {
    for (const cacheDir of ['', 'a\0b', 7]) {
      expect(() => new ResponseCache({ cacheDir: cacheDir as string })).to.throw(RangeError, 'cacheDir');
    }
  });
});
