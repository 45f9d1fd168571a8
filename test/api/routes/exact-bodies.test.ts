import { expect } from 'chai';

import { type Json, useService } from '../../helpers/service.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
/** Two groups of 20 rows: all accepted in the first, none in the second. The gap is 1. */
const DECISIONS = [...Array<number>(20).fill(1), ...Array<number>(20).fill(0)];
const rows = (first: string, second: string): string[] =>
  DECISIONS.map((decision) => (decision === 1 ? first : second));
const body = (first: string, second: string, rest = ''): string =>
  `{"y_pred": ${JSON.stringify(DECISIONS)}, "sensitive": [${rows(first, second).join()}], "threshold": 0.1, "min_group_size": 5${rest}}`;

describe('JSON bodies whose values a lax parser would change', function () {
  this.timeout(60_000);
  const service = useService();
  const send = (url: string, payload: string | Buffer, headers = {}) =>
    service.ask({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload });

  // In a thread the body is read again, so both ways are tested.
  for (const [way, headers] of [
    ['at once', {}],
    ['in a thread', { 'idempotency-key': 'exact' }],
  ] as const) {
    const key = (name: string) => ('idempotency-key' in headers ? { 'idempotency-key': `${name}-exact` } : {});

    it(`reject text that is not UTF-8 with the offset of the byte, ${way}`, async () => {
      const latin1 = Buffer.from(body('"é"', '"è"'), 'latin1');
      const answer = await send('/validate', latin1, key('utf8'));
      expect(answer.statusCode).to.equal(400);
      expect(answer.json<Json>()['detail']).to.equal(
        `The body is not UTF-8: byte 0xe9 at offset ${latin1.indexOf(0xe9)}.`,
      );
      const utf8 = await send('/validate', Buffer.from(body('"é"', '"è"')), key('utf8-right'));
      expect(utf8.json<Json>()).to.have.nested.property('metrics.demographic_parity_difference.value', 1);
    });

    it(`reject a duplicate key, ${way}`, async () => {
      const answer = await send('/validate', body('"a"', '"b"', ', "threshold": 2'), key('twice'));
      expect(answer.statusCode).to.equal(400);
      expect(answer.json<Json>()['errors']).to.have.nested.property('[0].pointer', '/threshold');
    });

    it(`reject groups given as numbers that lose digits, ${way}`, async () => {
      const answer = await send('/validate', body('9007199254740992', '9007199254740993'), key('digits'));
      expect(answer.statusCode).to.equal(400);
      expect(answer.json<Json>()['errors']).to.have.nested.property('[0].pointer', '/sensitive/20');
      const text = await send('/validate', body('"9007199254740992"', '"9007199254740993"'), key('text'));
      expect(text.json<Json>()).to.have.nested.property('metrics.demographic_parity_difference.value', 1);
    });
  }

  for (const [field, rest] of [
    ['/control/g/0', ', "control": {"g": [0.1234567890123456789]}'],
    ['/y_true/0', ', "y_true": [9007199254740993], "positive_label": "9007199254740992"'],
  ] as const) {
    it(`reject a number that loses digits at ${field}`, async () => {
      const answer = await send('/validate', body('"a"', '"b"', rest));
      expect(answer.statusCode).to.equal(400);
      expect(answer.json<Json>()['errors']).to.have.nested.property('[0].pointer', field);
    });
  }

  it('accept scores with any number of digits', async () => {
    const scores = DECISIONS.map((decision) => (decision === 1 ? '0.9999999999999999999' : '0.12345678901234567890'));
    const text = body('"a"', '"b"').replace(/"y_pred": \[[^\]]*\]/, `"y_score": [${scores.join()}]`);
    const answer = await send('/validate', text);
    expect(answer.json<Json>()).to.have.nested.property('metrics.demographic_parity_difference.value', 1);
  });

  it('are also checked for POST /llm-eval', async () => {
    const latin1 = await send('/llm-eval', Buffer.from('{"config": "é"}', 'latin1'));
    expect(latin1.statusCode).to.equal(400);
    expect(latin1.json<Json>()['detail']).to.equal('The body is not UTF-8: byte 0xe9 at offset 12.');
    const twice = await send('/llm-eval', '{"config": "a", "dry_run": true, "config": "b"}');
    expect(twice.statusCode).to.equal(400);
  });
});
