import { expect } from 'chai';

import { readYaml } from '../../src/io/read-yaml.ts';

describe('readYaml', () => {
  const cases: readonly { readonly title: string; readonly text: string; readonly value: unknown }[] = [
    {
      title: 'no, yes, on and off are texts in YAML 1.2',
      text: '[no, yes, on, off, y]',
      value: ['no', 'yes', 'on', 'off', 'y'],
    },
    {
      title: 'true, null and numbers are not',
      text: '[true, null, ~, 1, 1.5, 0x10]',
      value: [true, null, null, 1, 1.5, 16],
    },
    { title: 'a date is a text', text: '2024-01-31', value: '2024-01-31' },
    { title: 'a number with leading zeros is a number, in quotes a text', text: "[007, '007']", value: [7, '007'] },
    { title: 'JSON is YAML', text: '{"a": [1, {"b": null}], "c": "\\u00e9"}', value: { a: [1, { b: null }], c: 'é' } },
    {
      title: 'Windows line ends and a byte order mark are ignored',
      text: '\ufeffa: 1\r\nb: x\r\n',
      value: { a: 1, b: 'x' },
    },
    { title: 'a merge key is an ordinary key', text: '<<: { a: 1 }', value: { '<<': { a: 1 } } },
    { title: 'aliases are resolved', text: 'a: &x [1, 2]\nb: *x\n', value: { a: [1, 2], b: [1, 2] } },
    { title: 'a text over several lines', text: 'a: >\n  one\n  two\n', value: { a: 'one two\n' } },
    { title: 'an empty text is null', text: '', value: null },
    { title: 'only comments are null', text: '# nothing\n', value: null },
  ];
  for (const { title, text, value } of cases) {
    it(title, async () => {
      const read = await readYaml(text);
      expect(read.faults).to.deep.equal([]);
      expect(read.value).to.deep.equal(value);
    });
  }

  it('uses YAML 1.2 regardless of a version directive', async () => {
    const { value, faults: problems } = await readYaml('%YAML 1.1\n---\n[no, yes, 0o17, 2024-01-31]\n');
    expect(problems).to.deep.equal([]);
    expect(value).to.deep.equal(['no', 'yes', 15, '2024-01-31']);
  });

  it('keys are text, as written', async () => {
    const { value, faults: problems } = await readYaml('{ 1: a, 1.0: b, true: c, no: e, 0x10: f, "q": g }');
    expect(problems).to.deep.equal([]);
    expect(Object.entries(value as object)).to.have.deep.members([
      ['1', 'a'],
      ['1.0', 'b'],
      ['true', 'c'],
      ['no', 'e'],
      ['0x10', 'f'],
      ['q', 'g'],
    ]);
  });

  it('a key __proto__ is an ordinary key', async () => {
    const { value } = await readYaml('{ __proto__: { a: 1 }, constructor: 2 }');
    expect(Object.entries(value as object)).to.deep.equal([
      ['__proto__', { a: 1 }],
      ['constructor', 2],
    ]);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  it('values of text keys are text, others are not', async () => {
    const { value } = await readYaml('label: 1.0\nother: 1.0\nin: [{ label: true }, { label: }, { label: [1] }]\n', {
      textKeys: ['label'],
    });
    expect(value).to.deep.equal({
      label: '1.0',
      other: 1,
      in: [{ label: 'true' }, { label: null }, { label: [1] }],
    });
  });

  it('every part has its position', async () => {
    const { value, indices: places } = await readYaml('# first\na: 1.50\nlist:\n  - x\n  - k: v\n    empty:\n');
    const root = value as { list: [string, object] };
    expect(places.get(root)?.at).to.deep.equal({ line: 2, column: 1 });
    expect(places.get(root)?.entries.get('a')).to.deep.equal({
      written: 'a',
      key: { line: 2, column: 1 },
      value: { line: 2, column: 4 },
      source: '1.50',
    });
    expect(places.get(root.list)?.entries.get(0)?.value).to.deep.equal({ line: 4, column: 5 });
    const [, item] = root.list;
    expect(places.get(item)?.entries.get('k')?.value).to.deep.equal({ line: 5, column: 8 });
    expect(places.get(item)?.entries.get('empty')?.value).to.deep.equal({ line: 6, column: 5 });
  });

  it('more than 100 anchors are rejected before parsing', async () => {
    const { faults: problems, value } = await readYaml(`a: ${'&a '.repeat(100_000)}`);
    expect(value).to.equal(null);
    // The 101st anchor comes after 3 characters and 100 anchors of 3 characters.
    expect(problems).to.deep.equal([
      {
        line: 1,
        column: 304,
        message: 'there are more than 100 anchors',
        suggestion: 'Write the values instead of aliases.',
      },
    ]);
  });

  it('an ampersand in a text is not an anchor', async () => {
    const { faults: problems } = await readYaml(`a: [${"'R&D & more', ".repeat(200)}x]`);
    expect(problems).to.deep.equal([]);
  });
});
