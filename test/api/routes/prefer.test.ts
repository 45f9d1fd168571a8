import { expect } from 'chai';

import { readPreference } from '../../../src/api/routes/answer-run.ts';

describe('readPreference (RFC 7240)', () => {
  const cases: readonly (readonly [header: string, isAsync: boolean, waitSeconds: number | null])[] = [
    ['', false, null],
    ['respond-async', true, null],
    ['Respond-Async', true, null],
    ['respond-async, wait=10', true, 10],
    ['wait=0, respond-async', true, 0],
    ['respond-async; foo=bar', true, null],
    ['wait="5"', false, 5],
    ['return=minimal', false, null],
    ['respond-asynchronously', false, null],
    ['wait=-1', false, null],
    ['wait=ten', false, null],
    [', ,', false, null],
  ];
  for (const [header, isAsync, waitSeconds] of cases) {
    it(`reads '${header}'`, () => {
      expect(readPreference(header)).to.deep.equal({ isAsync, waitSeconds });
    });
  }
});
