import { expect } from 'chai';

import { parseJson } from '../../../src/api/problem/parse-json.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { cpuMillis } from '../../helpers/cpu-millis.ts';

describe('parseJson', () => {
  for (const value of [
    { y_pred: [0, 1], text: '[[[{{{"' },
    null,
    'text',
    { strings: Array.from({ length: 200 }, (_, index) => `[{${String(index)}\\"`) },
    { objects: Array.from({ length: 200 }, (_, index) => ({ place: index, list: [[index]] })) },
    { name: '__proto__' },
  ]) {
    it(`parses ${JSON.stringify(value).slice(0, 40)} like JSON.parse`, () => {
      expect(parseJson(JSON.stringify(value))).to.deep.equal(value);
    });
  }

  it('ignores a byte order mark', () => {
    expect(parseJson('\ufeff{"a": 1}')).to.deep.equal({ a: 1 });
  });

  it('reads a string of 20 MB after many brackets in time', () => {
    const text = `${'['.repeat(40)}"${'x'.repeat(20_000_000)}"${']'.repeat(40)}`;
    expect(parseJson(text)).to.be.an('array');
  });

  const deep = (depth: number, open = '[', close = ']'): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
  it('reads 64 levels, and rejects 65', () => {
    expect(parseJson(deep(64))).to.be.an('array');
    expect(parseJson(deep(64, '{"a":', '}'))).to.be.an('object');
  });

  for (const [what, text] of [
    ['arrays 65 deep', deep(65)],
    ['objects 65 deep', deep(65, '{"a":', '}')],
    ['both, 66 deep in total', deep(33, '[{"a":', '}]')],
    ['brackets that never close', '['.repeat(1_000_000)],
    ['a string that never ends', `${'["'.repeat(1000)}${'\\'.repeat(100_001)}`],
    ['nothing', ''],
    ['NaN', '[NaN]'],
    ['a key __proto__', '{"__proto__": 1}'],
    ['the key with escapes', String.raw`{"\u005F\u005f\u0070roto__": 1, "__proto__" : 2}`],
    ['the key with other escapes', String.raw`{"__\u0070roto__": 1}`],
    ['a string of escaped quotes that never ends', `${'['.repeat(33)}"${'\\"'.repeat(1_000_000)}`],
    ['the key in a nested object', '{"sensitive": {"__proto__": ["a"]}}'],
  ] as const) {
    it(`answers 400 immediately for ${what}`, () => {
      const start = cpuMillis();
      expect(() => parseJson(text))
        .to.throw(ServiceProblem)
        .with.property('status', 400);
      expect(cpuMillis() - start).to.be.below(1000);
    });
  }
});
