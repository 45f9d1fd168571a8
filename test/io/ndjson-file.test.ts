import { writeFileSync } from 'node:fs';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { loadData } from '../../src/io/load-data.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

describe('loadData of JSON lines', () => {
  const folder = useTemporaryFolder();
  const write = (text: string, name = 'rows.ndjson') => {
    const path = `${folder()}/${name}`;
    writeFileSync(path, text);
    return path;
  };

  it('finds columns in all lines; a value that a line lacks is missing', async () => {
    const table = await loadData(write('{"a":1,"b":"x"}\n\n{"b":"y","c":1.5}\n{"a":null,"b":null}\n'));
    expect(table.toColumns()).to.deep.equal({ a: [1, null, null], b: ['x', 'y', null], c: [null, 1.5, null] });
  });

  it('keeps dates and other texts as written, and reads mixed columns as labels', async () => {
    const table = await loadData(write('{"d":"2020-01-01T10:00:00Z","m":1}\n{"d":"01","m":"x"}\n', 'rows.jsonl'));
    expect(table.toColumns()).to.deep.equal({ d: ['2020-01-01T10:00:00Z', '01'], m: ['1', 'x'] });
  });

  const problems: readonly (readonly [title: string, text: string, told: RegExp])[] = [
    ['a list', '{"a":1}\n[1]\n', /line 2: it is not an object/],
    ['a number', '{"a":1}\n5\n', /line 2: it is not an object/],
    ['an object that does not end', '{"a":1}\n\n{"a":2\n{"a":3}\n', /line 3: it is not JSON/],
    ['two objects in a line', '{"a":1}{"a":2}\n', /line 1: it is not JSON/],
    ['only empty lines', '\n\n', /no line/],
    ['a key twice', '{"a":1,"a":2}\n', /line 1: \/a occurs twice/],
  ];
  for (const [title, text, reported] of problems) {
    it(`names the line with ${title}`, async () => {
      const error: unknown = await loadData(write(text)).catch((reason: unknown) => reason);
      expect(error).instanceOf(DataValidationError);
      expect(String(error)).to.match(reported);
    });
  }
});
