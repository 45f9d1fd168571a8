import { expect } from 'chai';
import fc from 'fast-check';

import { canonicalJson, requestKey, requestKeys } from '../../../src/llm-evals/cache/request-key.ts';

const PLAIN = { provider: 'openai', baseUrl: null, model: 'gpt-4o-mini', prompt: '', params: {}, repeat: 0 };

/** Digests by sha256sum of strings written by hand. */
const DIGESTS = [
  {
    title: 'nested parameters, quotes, a line break, an accent',
    identity: {
      repeat: 3,
      provider: 'compatible',
      prompt: 'Hello "world"\nzwei',
      params: { temperature: 0.5, max_tokens: 16, a: [1, { y: 'é', x: null }] },
      model: 'm-1',
      baseUrl: 'https://llm.example.org/v1',
    },
    digest: 'aa8118c53d2924453a49c44e038e5d157466f44b37037a900021136a787683bb',
  },
  {
    title: 'nothing but what is required',
    identity: PLAIN,
    digest: '39b352591c590f9bed35ab44982e9d5403c534762f104bcbd7a03d75f3f3ae61',
  },
  {
    title: 'keys in the order of UTF-16, and one named __proto__',
    identity: {
      ...PLAIN,
      provider: 'local',
      model: 'm',
      prompt: 'p',
      params: JSON.parse('{"😀":5,"€":4,"ä":3,"a":2,"__proto__":{"z":1},"B":1}') as Record<string, unknown>,
    },
    digest: '5dd420c70ee16a4c123d5a3f3c721443e0569de8e134cefa2b9338797f569dbe',
  },
  {
    title: 'the messages of a conversation',
    identity: {
      ...{ ...PLAIN, provider: 'local', model: 'm', prompt: 'p' },
      messages: [
        { role: 'user', content: 'A' },
        { role: 'assistant', content: null },
        { role: 'user', content: 'B' },
      ],
    },
    digest: '3960c00c7973d9d34e42ded363e325e85e4fe2b4110a1e239fe5f7835654e4e6',
  },
  {
    title: 'the program of a configuration',
    identity: {
      ...{ ...PLAIN, provider: 'command', model: 'm', prompt: 'p' },
      target: { commandInput: 'text', command: ['ask'] },
    },
    digest: '1460b0e248e2cc34b045520cdd277042497bdef2d5c3dc68e7358bf4d5185c05',
  },
];

describe('requestKey', () => {
  for (const { title, identity, digest } of DIGESTS) {
    it(`matches sha256sum: ${title}`, () => {
      expect(requestKey(identity)).to.equal(digest);
      expect(requestKeys(identity, identity.params)(identity)).to.equal(digest);
    });
  }

  it('does not depend on the order of keys, nor on undefined ones', () => {
    const key = requestKey({ ...PLAIN, params: { a: 1, b: { c: 2, d: 3 } } });
    expect(requestKey({ ...PLAIN, params: { b: { d: 3, e: undefined, c: 2 }, f: undefined, a: 1 } })).to.equal(key);
  });

  it('differs if anything differs that an answer depends on', () => {
    const changes = [
      {},
      { provider: 'anthropic' },
      { baseUrl: 'https://a.example.org' },
      { model: 'other' },
      { prompt: ' ' },
      { params: { temperature: 0 } },
      { params: { temperature: '0' } },
      { params: { temperature: null } },
      { params: { stop: ['a', 'b'] } },
      { params: { stop: ['b', 'a'] } },
      { repeat: 1 },
      { messages: [{ role: 'user', content: '' }] },
      { messages: [{ role: 'assistant', content: null }] },
      { target: { url: 'https://a.example.org' } },
    ];
    expect(new Set(changes.map((change) => requestKey({ ...PLAIN, ...change }))).size).to.equal(changes.length);
  });

  for (const [title, value, reported] of [
    ['NaN', NaN, 'Got NaN'],
    ['infinity', -Infinity, 'Got -Infinity'],
    ['a function', () => 1, 'Got function'],
    ['a big integer', 1n, 'Got bigint'],
    ['a date', new Date(0), 'Got an instance of Date'],
    ['undefined in a list', [undefined], 'Got undefined'],
  ] as const) {
    it(`rejects ${title}, and names the field`, () => {
      expect(() => requestKey({ ...PLAIN, params: { top: { inner: value } } }))
        .to.throw(RangeError, reported)
        .with.property('message')
        .that.includes('params.top.inner');
    });
  }

  it('rejects a circular reference', () => {
    const params: Record<string, unknown> = {};
    params['self'] = params;
    expect(() => requestKey({ ...PLAIN, params })).to.throw(RangeError, 'a circular reference');
  });

  it('round-trips any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Negative zero is zero in JSON.
        expect(JSON.parse(canonicalJson(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});
