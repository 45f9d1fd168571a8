import { expect } from 'chai';

import { parseJson } from '../../../src/api/problem/parse-json.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { cpuMillis } from '../../helpers/cpu-millis.ts';

describe('the text of a JSON body', () => {
  for (const value of [
    { y_pred: [0, 1], text: '[[[{{{"' },
    null,
    'text',
    { strings: Array.from({ length: 200 }, (_, place) => `[{${String(place)}\\"`) },
    { objects: Array.from({ length: 200 }, (_, place) => ({ place, list: [[place]] })) },
    { name: '__proto__' },
  ]) {
    it(`${JSON.stringify(value).slice(0, 40)} is what JSON.parse gives`, () => {
      expect(parseJson(JSON.stringify(value))).to.deep.equal(value);
    });
  }

  it('a byte order mark counts for nothing', () => {
    expect(parseJson('\ufeff{"a": 1}')).to.deep.equal({ a: 1 });
  });

  it('a string of 20 MB behind many brackets is read, and in time', () => {
    const text = `${'['.repeat(40)}"${'x'.repeat(20_000_000)}"${']'.repeat(40)}`;
    expect(parseJson(text)).to.be.an('array');
  });

  const deep = (depth: number, open = '[', close = ']'): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
  it('64 levels are read, 65 are refused', () => {
    expect(parseJson(deep(64))).to.be.an('array');
    expect(parseJson(deep(64, '{"a":', '}'))).to.be.an('object');
  });

  for (const [what, text] of [
    ['arrays 65 deep', deep(65)],
    ['objects 65 deep', deep(65, '{"a":', '}')],
    ['both, 66 deep together', deep(33, '[{"a":', '}]')],
    ['brackets that never close', '['.repeat(1_000_000)],
    ['a string that never ends', `${'["'.repeat(1000)}${'\\'.repeat(100_001)}`],
    ['nothing', ''],
    ['NaN', '[NaN]'],
    ['a key __proto__', '{"__proto__": 1}'],
    ['such a key in escapes', String.raw`{"\u005F\u005f\u0070roto__": 1, "__proto__" : 2}`],
    ['such a key in other escapes', String.raw`{"__\u0070roto__": 1}`],
    ['a string of escaped quotes that never ends', `${'['.repeat(33)}"${'\\"'.repeat(1_000_000)}`],
    ['such a key inside', '{"sensitive": {"__proto__": ["a"]}}'],
  ] as const) {
    it(`${what}: 400, at once`, () => {
      const start = cpuMillis();
      expect(() => parseJson(text))
        .to.throw(ServiceProblem)
        .with.property('status', 400);
      expect(cpuMillis() - start).to.be.below(1000);
    });
  }
});
