import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { parseJsonPath, valueAtPath } from '../../src/internal/json-path.ts';

describe('parseJsonPath', () => {
  // The syntax of RFC 9535, sections 2.3.1 and 2.3.3; the steps are written by hand.
  const valid: readonly (readonly [text: string, steps: readonly (string | number)[]])[] = [
    ['$', []],
    ['$.answer', ['answer']],
    ['$.choices[0].message.content', ['choices', 0, 'message', 'content']],
    ["$['a key']['b.c']", ['a key', 'b.c']],
    ['$["it\'s"]', ["it's"]],
    ["$['it\\'s']", ["it's"]],
    ["$['back\\\\slash']", ['back\\slash']],
    ["$['']", ['']],
    ['$.finish-reason', ['finish-reason']],
    ['$.größe[12][0]', ['größe', 12, 0]],
    ['$.__proto__', ['__proto__']],
  ];
  for (const [text, steps] of valid) {
    it(`reads ${text}`, () => {
      expect(parseJsonPath(text)).to.deep.equal(steps);
    });
  }

  const invalid: readonly (readonly [text: string, position: number])[] = [
    ['', 1],
    ['choices', 1],
    ['.a', 1],
    ['$a', 2],
    ['$.', 2],
    ['$..a', 2],
    ['$.a.', 4],
    ['$.*', 2],
    ['$[*]', 2],
    ['$[-1]', 2],
    ['$[01]', 2],
    ['$[0:2]', 2],
    ['$[?(@.a)]', 2],
    ["$['a]", 2],
    ["$['a'", 2],
    ['$.a b', 4],
    ['$.a[0', 4],
    ['$ .a', 2],
    ['$.1a', 2],
  ];
  for (const [text, position] of invalid) {
    it(`rejects ${JSON.stringify(text)} at character ${String(position)}`, () => {
      expect(() => parseJsonPath(text))
        .to.throw(ValueError, `at character ${String(position)}:`)
        .with.nested.property('context.position', position);
    });
  }

  it('takes linear time', function () {
    this.timeout(1000);
    expect(() => parseJsonPath(`$['${'\\\\'.repeat(100_000)}`)).to.throw(ValueError);
    expect(parseJsonPath(`$${'.a'.repeat(100_000)}`)).to.have.length(100_000);
  });
});

describe('valueAtPath', () => {
  const body = { choices: [{ message: { content: 'Hello' } }], 'a.b': null, list: ['x'] };
  const cases: readonly (readonly [path: string, value: unknown])[] = [
    ['$', body],
    ['$.choices[0].message.content', 'Hello'],
    ["$['a.b']", null],
    ['$.list[0]', 'x'],
    ['$.list[1]', undefined],
    ["$.list['0']", undefined],
    ['$.list.length', undefined],
    ['$.choices.message', undefined],
    ['$.nothing.at.all', undefined],
    ['$.constructor', undefined],
    ['$.__proto__', undefined],
    ['$[0]', undefined],
  ];
  for (const [path, value] of cases) {
    it(`finds ${(JSON.stringify(value) as string | undefined)?.slice(0, 20) ?? 'nothing'} at ${path}`, () => {
      expect(valueAtPath(body, parseJsonPath(path))).to.deep.equal(value);
    });
  }

  it('finds nothing in a text, a number or null', () => {
    for (const value of ['text', 4, null, undefined]) expect(valueAtPath(value, ['length'])).to.be.undefined;
  });
});
