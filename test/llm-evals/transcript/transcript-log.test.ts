import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import type { AnswerRecord } from '../../../src/llm-evals/client/transcript.ts';
import { openTranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { FAILED, sampleAnswer } from './sample-answer.ts';

/** A line as expected, written by hand. */
const LINE =
  '{"key":"k1","model":"openai/gpt-4o-mini","prompt":"Why?","repeat":0,"text":"So.","error":null,' +
  '"finish_reason":"stop","is_refusal":null,"input_tokens":3,"output_tokens":5,"cached":false,' +
  '"latency_millis":12.5,"attempts":1}\n';

describe('openTranscriptLog', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const freshPath = () => path.join(folder(), `${number++}`, 'transcript.ndjson');
  const holding = (content: string | Buffer) => {
    const file = freshPath();
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const reopened = async (file: string) => {
    const log = await openTranscriptLog(file, { resume: true });
    await log.close();
    return log.records;
  };

  it('writes one line with snake_case keys per record, readable only by the owner', async () => {
    const file = freshPath();
    const log = await openTranscriptLog(file);
    await log.append(sampleAnswer());
    expect(readFileSync(file, 'utf8')).to.equal(LINE);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    await log.close();
  });

  it('reads back any text that it wrote', async () => {
    const file = freshPath();
    const log = await openTranscriptLog(file);
    const records = ['', '\n\r\n', '\u2028\u2029\u0085', '"\\', '\ud800', '\ufeffx', '😀'.repeat(5000), '\0'].map(
      (text, index) => sampleAnswer({ key: `k${index}`, text, prompt: `${text}?`, isRefusal: index % 2 === 0 }),
    );
    const failed = sampleAnswer({ key: 'f', ...FAILED, attempts: 4 });
    for (const record of [...records, failed]) await log.append(record);
    await log.close();
    expect(await reopened(file)).to.deep.equal([...records, failed]);
  });

  describe('an invalid field of a provider', () => {
    const oddities: readonly (readonly [string, Partial<AnswerRecord>, Partial<AnswerRecord>])[] = [
      ['a finish reason that is none', { finishReason: {} as never }, { finishReason: 'other' }],
      ['an unknown finish reason', { finishReason: 'tool' as never }, { finishReason: 'other' }],
      ['a refusal that is a text', { isRefusal: 'no' as never }, { isRefusal: null }],
      ['a count below 0', { inputTokens: -1 }, { inputTokens: null }],
      ['a count that is none', { outputTokens: NaN }, { outputTokens: null }],
      ['a count as a text', { outputTokens: '5' as never }, { outputTokens: null }],
      ['no latency', { latencyMillis: Infinity }, { latencyMillis: 0 }],
      ['half an attempt', { attempts: 0.5 }, { attempts: 0 }],
      ['a model that is none', { model: null as never }, { model: '' }],
      [
        'half an error',
        { ...FAILED, error: { kind: 7 as never, message: undefined as never } },
        { ...FAILED, error: { kind: 'malformed', message: 'The message is unknown.' } },
      ],
      [
        'an error without a kind',
        { ...FAILED, error: { message: 'It broke.' } as never },
        { ...FAILED, error: { kind: 'malformed', message: 'It broke.' } },
      ],
    ];
    for (const [title, odd, kept] of oddities) {
      it(`does not make the file unreadable: ${title}`, async () => {
        const file = freshPath();
        const log = await openTranscriptLog(file);
        await log.append(sampleAnswer(odd));
        await log.append(sampleAnswer({ key: 'next' }));
        await log.close();
        expect(await reopened(file)).to.deep.equal([sampleAnswer(kept), sampleAnswer({ key: 'next' })]);
      });
    }

    it('is rejected if no valid record is left, and the file is unchanged', async () => {
      const file = freshPath();
      const log = await openTranscriptLog(file);
      for (const odd of [{ key: 7 as never }, { text: null }, { prompt: undefined as never }, { repeat: -1 }]) {
        const error = await rejectionOf(log.append(sampleAnswer(odd)));
        expect(error).to.be.instanceOf(DataValidationError);
      }
      await log.append(sampleAnswer());
      await log.close();
      expect(readFileSync(file, 'utf8')).to.equal(LINE);
    });
  });

  it('keeps the order of the records, also if append is not awaited', async () => {
    const file = freshPath();
    const log = await openTranscriptLog(file, { flushEvery: 7 });
    const records = Array.from({ length: 500 }, (_, index) => sampleAnswer({ key: `k${index}` }));
    await Promise.all([...records.map((record) => log.append(record)), log.close()]);
    expect((await reopened(file)).map(({ key }) => key)).to.deep.equal(records.map(({ key }) => key));
  });

  it('rejects records after it was closed', async () => {
    const log = await openTranscriptLog(freshPath());
    await log.close();
    await log.close();
    expect(await rejectionOf(log.append(sampleAnswer()))).to.be.instanceOf(DataValidationError);
  });

  it('rejects a file that is not empty unless it is resumed, and leaves it unchanged', async () => {
    const file = holding(LINE);
    const error = await rejectionOf(openTranscriptLog(file));
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error.message).to.include(file);
    expect(error.suggestion).to.include('resume');
    expect(readFileSync(file, 'utf8')).to.equal(LINE);
  });

  it('leaves no file if nothing was appended to a new one', async () => {
    const file = path.join(folder(), 'refused.ndjson');
    await (await openTranscriptLog(file)).close();
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, '');
    await (await openTranscriptLog(file)).close();
    expect(existsSync(file)).to.equal(true);
  });

  it('opens an empty file, and with resume a missing one', async () => {
    await (await openTranscriptLog(holding(''))).close();
    expect(await reopened(freshPath())).to.deep.equal([]);
  });

  it('appends after the last record when it is resumed', async () => {
    const file = holding(LINE);
    const log = await openTranscriptLog(file, { resume: true });
    expect(log.records).to.deep.equal([sampleAnswer()]);
    await log.append(sampleAnswer({ key: 'k2' }));
    await log.close();
    expect(readFileSync(file, 'utf8')).to.equal(LINE + LINE.replace('k1', 'k2'));
  });

  describe('a truncated last line', () => {
    it('is removed and reported, at any length', async () => {
      for (let length = 1; length < LINE.length - 1; length++) {
        const file = holding(LINE + LINE.slice(0, length));
        expect(await reopened(file), `${length}`).to.have.length(1);
        expect(readFileSync(file, 'utf8')).to.equal(LINE);
      }
      expect(warnings()).to.have.length(LINE.length - 2);
      expect(warnings()[0]).to.include('truncated');
    });

    it('is removed if it ends within a character', async () => {
      const bytes = Buffer.from(LINE.replace('So.', 'Süß'));
      const file = holding(Buffer.concat([Buffer.from(LINE), bytes.subarray(0, bytes.indexOf(0xc3) + 1)]));
      expect(await reopened(file)).to.have.length(1);
      expect(readFileSync(file, 'utf8')).to.equal(LINE);
    });

    it('gets a line feed if only that is missing', async () => {
      const file = holding(LINE.trimEnd());
      expect(await reopened(file)).to.have.length(1);
      expect(readFileSync(file, 'utf8')).to.equal(LINE);
      expect(warnings()).to.deep.equal([]);
    });

    it('is left unchanged if it is not a record', async () => {
      const file = holding('a letter to somebody');
      const error = await rejectionOf(openTranscriptLog(file, { resume: true }));
      expect(error.message).to.include(`${file}:1:`).and.to.include('not JSON');
      expect(readFileSync(file, 'utf8')).to.equal('a letter to somebody');
    });
  });

  for (const [title, line, reason] of [
    ['no JSON', 'oops', 'not JSON'],
    ['a list', '[1]', 'not a JSON object'],
    ['a record without a key', LINE.replace('"key":"k1",', '').trim(), 'key should be text, not missing'],
    [
      'a record with a text as repeat',
      LINE.replace('"repeat":0', '"repeat":"0"').trim(),
      'its repeat should be a whole number',
    ],
    ['a record with a number as text', LINE.replace('"So."', '7').trim(), 'its text should be text or null, not 7'],
    ['a record with neither answer nor error', LINE.replace('"So."', 'null').trim(), 'either a text or an error'],
    ['a record with both', LINE.replace('"error":null', '"error":{"kind":"server","message":"x"}').trim(), 'either'],
    [
      'a record with half an error',
      LINE.replace('"error":null', '"error":{"kind":"server"}').trim(),
      'its error should be',
    ],
    [
      'a record with an unknown finish_reason',
      LINE.replace('"stop"', '"tool"').trim(),
      'finish_reason should be one of stop',
    ],
    ['a record with negative tokens', LINE.replace('"input_tokens":3', '"input_tokens":-3').trim(), 'input_tokens'],
  ] as const) {
    it(`rejects ${title}, with its line number, and leaves the file unchanged`, async () => {
      const content = `${LINE}\n${line}\n${LINE.slice(0, 20)}`;
      const file = holding(content);
      const error = await rejectionOf(openTranscriptLog(file, { resume: true }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.include(`${file}:3:`).and.to.include(reason);
      expect(error.context).to.include({ line: 3 });
      expect(readFileSync(file, 'utf8')).to.equal(content);
    });
  }

  it('returns the last answer of a key, and never an error in place of an answer', async () => {
    const file = freshPath();
    const log = await openTranscriptLog(file);
    for (const record of [
      sampleAnswer({ key: 'a', text: 'first' }),
      sampleAnswer({ key: 'b', ...FAILED }),
      sampleAnswer({ key: 'a', text: 'second' }),
      sampleAnswer({ key: 'a', ...FAILED }),
      sampleAnswer({ key: 'b', ...FAILED, attempts: 7 }),
      sampleAnswer({ key: 'c', ...FAILED }),
      sampleAnswer({ key: 'c', text: 'at last' }),
    ]) {
      await log.append(record);
    }
    await log.close();
    const records = await reopened(file);
    expect(records.map(({ key, text, attempts }) => [key, text, attempts])).to.deep.equal([
      ['a', 'second', 1],
      ['b', null, 7],
      ['c', 'at last', 1],
    ]);
  });

  it('throws the same error each time when the disk is full', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const log = await openTranscriptLog('/dev/full');
    const first = await rejectionOf(log.append(sampleAnswer()));
    expect(first).to.be.instanceOf(DataValidationError);
    expect(first.message).to.include('/dev/full').and.to.include('the disk is full');
    expect(await rejectionOf(log.append(sampleAnswer()))).to.equal(first);
    await log.close();
  });

  it('leaves complete lines if the system writes only a part of one', async function () {
    if (process.platform === 'win32') this.skip();
    this.timeout(30_000);
    const file = freshPath();
    const child = path.join(import.meta.dirname, 'append-until-full.ts');
    // The shell limits the file to 8 blocks; the limit is within the last line.
    const command = `ulimit -f 8 && exec "${process.execPath}" --import tsx "${child}" "${file}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const shown = JSON.parse(stdout) as { appended: number; message: string };
    expect(shown.message).to.include('may not grow');
    const content = readFileSync(file, 'utf8');
    expect(content.endsWith('\n')).to.be.true;
    expect(content.split('\n')).to.have.length(shown.appended + 1);
    expect(await reopened(file)).to.have.length(shown.appended);
    expect(warnings()).to.deep.equal([]);
  });

  it('reports a folder, a file in place of a folder, and a file without write permission', async () => {
    const file = holding(LINE);
    for (const position of [path.dirname(file), path.join(file, 'inner.ndjson')]) {
      const error = await rejectionOf(openTranscriptLog(position));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.include(position);
    }
    if (process.getuid?.() === 0) return;
    chmodSync(file, 0o400);
    expect((await rejectionOf(openTranscriptLog(file, { resume: true }))).message).to.include('permission denied');
  });

  it('reads a file with a byte order mark, Windows line endings and blank lines', async () => {
    const file = holding(`\ufeff${LINE.trim()}\r\n\r\n  \n`);
    appendFileSync(file, LINE.replace('k1', 'k2').replace('\n', '\r\n'));
    expect((await reopened(file)).map(({ key }) => key)).to.deep.equal(['k1', 'k2']);
  });
});
