import { expect } from 'chai';
import fc from 'fast-check';

import { findJsonProblem, parseStrictJson } from '../../src/internal/strict-json.ts';

const LABELS = new Set(['sensitive', 'id']);
const WIDE = '9007199254740993';

describe('data that JSON.parse silently changes', () => {
  for (const [title, text, pointer] of [
    ['a key twice', '{"a": 1, "a": 2}', '/a'],
    ['a key twice, once in escapes', String.raw`{"a": 1, "\u0061": 2}`, '/a'],
    ['a key twice in a nested object', '{"x": [0, {"a": 1, "b": {}, "a": 2}]}', '/x/1/a'],
    ['a key twice with spaces before its colon', '{"a" : 1 , "a"\n\t: 2}', '/a'],
    ['a key with a slash and a tilde', '{"a/b~": 1, "a/b~": 2}', '/a~1b~0'],
    ['the empty key twice', '{"": 1, "": 2}', '/'],
    ['__proto__ twice', '{"__proto__": 1, "__proto__": 2}', '/__proto__'],
    ['an id of 16 digits', `{"id": ${WIDE}}`, '/id'],
    ['a negative id', `{"id": -${WIDE}}`, '/id'],
    ['a group of 19 digits after others', '{"sensitive": [1, 2.5, 0.1234567890123456789]}', '/sensitive/2'],
    ['a group beyond float64', '{"sensitive": {"g": [1, 1e400]}}', '/sensitive/g/1'],
    ['a group of 16 digits at the end of the text', `{"sensitive": [${WIDE}]}`, '/sensitive/0'],
  ] as const) {
    it(`include ${title}`, () => {
      JSON.parse(text);
      expect(findJsonProblem(text, LABELS)?.pointer).to.equal(pointer);
    });
  }

  for (const [title, text] of [
    ['a key in two objects', '[{"a": 1}, {"a": 2}, {"b": {"a": 1}, "a": 3}]'],
    ['a text that repeats a key', '{"a": "a", "b": "\\"a\\":", "c": ["a", "a"]}'],
    ['a text that ends in a backslash', String.raw`{"a": "\\", "b": "\\\"", "c": 1}`],
    ['a long number that is a value', `{"y_score": [0.1234567890123456789, ${WIDE}], "other": ${WIDE}}`],
    ['a long number as text', `{"sensitive": ["${WIDE}"]}`],
    ['numbers that float64 keeps', '{"sensitive": [9007199254740992, 0.30000000000000004, 1e300, -1.50, 1E2]}'],
    ['a number at the top level', WIDE],
    ['an empty object', '{}'],
  ] as const) {
    it(`do not include ${title}`, () => {
      JSON.parse(text);
      expect(findJsonProblem(text, LABELS)).to.equal(undefined);
    });
  }

  it('do not occur in the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(findJsonProblem(JSON.stringify({ sensitive: value }, undefined, indent), LABELS)).to.equal(undefined);
      }),
    );
  });

  it('are rejected by parseStrictJson, which parses other texts', () => {
    expect(parseStrictJson('{"a": [1, {"b": null}]}')).to.deep.equal({ a: [1, { b: null }] });
    expect(() => parseStrictJson('{"a": {"b": 1, "b": 2}}')).to.throw(SyntaxError, '/a/b occurs twice');
    expect(() => parseStrictJson('{"a": 1')).to.throw(SyntaxError);
  });

  it('are found in time linear in the length of the text', () => {
    const start = performance.now();
    findJsonProblem(
      `["${'\\\\'.repeat(2_000_000)}", {${Array.from({ length: 100_000 }, (_, key) => `"k${key}": ${key}`).join()}}]`,
    );
    expect(performance.now() - start).to.be.below(3000);
  });
});
