import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { recordToLine } from '../../../src/llm-evals/transcript/record-json.ts';
import { readTranscripts } from '../../../src/llm-evals/transcript/read-transcripts.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { FAILED, sampleAnswer } from './sample-answer.ts';

describe('readTranscripts', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const holding = (content: string | Buffer) => {
    const file = path.join(folder(), `${number++}.ndjson`);
    writeFileSync(file, content);
    return file;
  };
  const shortly = async (content: string) =>
    (await readTranscripts(holding(content))).map(({ prompt, repeat, text }) => [prompt, repeat, text]);

  it('reads the transcript of a run', async () => {
    const records = [sampleAnswer(), sampleAnswer({ key: 'k2', repeat: 1 }), sampleAnswer({ key: 'k3', ...FAILED })];
    expect(await readTranscripts(holding(records.map(recordToLine).join('')))).to.deep.equal(records);
  });

  it('reads answers of other tools under each name of the text', async () => {
    expect(
      await shortly(
        '{"prompt":"a","text":"1"}\n{"prompt":"b","response":"2","x":[]}\n{"completion":"3","prompt":"c"}\n',
      ),
    ).to.deep.equal([
      ['a', 0, '1'],
      ['b', 0, '2'],
      ['c', 0, '3'],
    ]);
  });

  it('counts the repeats of a prompt if the file does not', async () => {
    expect(
      await shortly(
        '{"prompt":"a","text":"1"}\n{"prompt":"b","text":"2"}\n{"prompt":"a","text":"3"}\n{"prompt":"a","text":"5","repeat":7}\n',
      ),
    ).to.deep.equal([
      ['a', 0, '1'],
      ['b', 0, '2'],
      ['a', 1, '3'],
      ['a', 7, '5'],
    ]);
  });

  it('keeps the model that other tools name, and leaves the other fields unknown', async () => {
    const [record] = await readTranscripts(holding('{"prompt":"a","text":"1","model":"m"}'));
    expect(record).to.deep.include({ model: 'm', finishReason: null, isRefusal: null, inputTokens: null, attempts: 0 });
    expect(record?.key).to.match(/^[0-9a-f]{64}$/);
  });

  it('keeps the last answer, and never replaces it with an error', async () => {
    const lines = [sampleAnswer({ text: 'one' }), sampleAnswer({ text: 'two' }), sampleAnswer(FAILED)].map(
      recordToLine,
    );
    expect(await shortly(lines.join(''))).to.deep.equal([['Why?', 0, 'two']]);
  });

  it('accepts a byte order mark, Windows line endings, blank lines, Unicode separators, and a missing last line feed', async () => {
    expect(
      await shortly(
        '\ufeff{"prompt":"a","text":"1"}\r\n\r\n   \n{"prompt":"b\u2028\u2029","text":"2"}\n\n{"prompt":"c","text":"3"}',
      ),
    ).to.deep.equal([
      ['a', 0, '1'],
      ['b\u2028\u2029', 0, '2'],
      ['c', 0, '3'],
    ]);
  });

  it('skips a truncated last line with a warning', async () => {
    const line = recordToLine(sampleAnswer());
    expect(await shortly(line + line.slice(0, 50))).to.have.length(1);
    expect(warnings()[0]).to.include(':2:').and.to.include('truncated');
  });

  for (const [title, content, line, reason] of [
    ['no JSON', '{"prompt":"a","text":"1"}\n\nhello\n', 3, 'not JSON'],
    ['a table', 'prompt,text\na,b\n', 1, 'not JSON'],
    ['JSON over several lines', '[\n{"prompt":"a","text":"1"}\n]', 1, 'not JSON'],
    ['a key twice', '{"prompt":"a","text":"1","text":"2"}', 1, '/text occurs twice'],
    ['a list in one line', '[{"prompt":"a","text":"1"}]', 1, 'not a JSON object'],
    ['no prompt', '{"text":"1"}', 1, 'prompt should be text'],
    ['a number as prompt', '{"prompt":1,"text":"1"}', 1, 'prompt should be text, not number'],
    ['no answer', '{"prompt":"a","answer":"1"}', 1, 'none of the fields text, response, completion'],
    ['null as an answer', '{"prompt":"a","text":null}', 1, 'text should be text, not null'],
    ['a text as repeat', '{"prompt":"a","text":"1","repeat":"0"}', 1, 'repeat should be a whole number'],
    ['a negative repeat', '{"prompt":"a","text":"1","repeat":-1}', 1, 'repeat should be a whole number'],
    ['a fraction as repeat', '{"prompt":"a","text":"1","repeat":0.5}', 1, 'repeat should be a whole number'],
  ] as const) {
    it(`rejects ${title}, with its line number`, async () => {
      const file = holding(content);
      const error = await rejectionOf(readTranscripts(file));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.include(`${file}:${line}:`).and.to.include(reason);
    });
  }

  for (const content of ['', '\n\n', '\ufeff', ' \r\n']) {
    it(`rejects a file without lines as empty: ${JSON.stringify(content)}`, async () => {
      const file = holding(content);
      const error = await rejectionOf(readTranscripts(file));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.equal(`The transcript file '${file}' is empty.`);
      expect(error.context).to.deep.equal({ path: file });
    });
  }

  it('rejects bytes that are not UTF-8', async () => {
    const file = holding(
      Buffer.concat([Buffer.from('{"prompt":"a","text":"1"}\n{"prompt":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    );
    expect((await rejectionOf(readTranscripts(file))).message)
      .to.include(`${file}:2:`)
      .and.to.include('UTF-8');
  });

  it('reports a missing file, or a folder', async () => {
    expect((await rejectionOf(readTranscripts(path.join(folder(), 'none')))).message).to.include('no such file');
    expect((await rejectionOf(readTranscripts(folder()))).message).to.include('folder');
  });

  it('reads 100 MB @slow', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'large.ndjson');
    const descriptor = openSync(file, 'w');
    const text = 'word '.repeat(200);
    const count = 90_000;
    for (let from = 0; from < count; from += 1000) {
      const lines = Array.from({ length: 1000 }, (_, index) =>
        recordToLine(sampleAnswer({ key: `k${from + index}`, text })),
      );
      writeSync(descriptor, lines.join(''));
    }
    closeSync(descriptor);
    expect(statSync(file).size).to.be.above(100e6);
    const records = await readTranscripts(file);
    expect(records).to.have.length(count);
    expect(records.at(-1)).to.include({ key: `k${count - 1}`, text });
  });
});
