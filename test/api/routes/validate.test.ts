import { expect } from 'chai';

import { type Json, useService } from '../../helpers/service.ts';

const ROWS = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };

describe('POST /validate', function () {
  this.timeout(60_000);
  const service = useService();

  it('measures arrays; by hand: rates 1 and 0.5, a difference of 0.5', async () => {
    const answer = await service.post('/validate', { ...ROWS, threshold: 0.1 });
    expect(answer.statusCode).to.equal(200);
    const body = answer.json<Json>();
    expect(Object.keys(body)).to.include.members(['run_id', 'status', 'passed', 'metrics', 'timestamp']);
    expect(body).to.include({ status: 'success', passed: false, threshold: 0.1 });
    expect(body['metrics']).to.have.nested.property('demographic_parity_difference.value', 0.5);
  });

  it('returns no verdict without a threshold', async () => {
    const answer = await service.post('/validate', ROWS);
    expect(answer.json<Json>()).to.include({ passed: null, verdict: null });
  });

  it('fails for an undefined metric, which is null with its reason', async () => {
    const answer = await service.post('/validate', { ...ROWS, min_group_size: 30, threshold: 0.1 });
    expect(answer.statusCode).to.equal(200);
    expect(answer.json<Json>()).to.have.property('passed', false);
    const metric = answer.json<{ metrics: Record<string, Json> }>().metrics['demographic_parity_difference'];
    expect(metric).to.have.property('value', null);
    expect(metric?.['undefined_reason']).to.be.a('string');
  });

  it('gives intervals unless with_ci is false', async () => {
    const ciOf = async (body: Json): Promise<unknown> =>
      (await service.post('/validate', body)).json<{ metrics: Record<string, Json> }>().metrics[
        'demographic_parity_difference'
      ]?.['ci'];
    const [low, high] = (await ciOf(ROWS)) as [number, number];
    expect(low).to.be.within(0, 0.5);
    expect(high).to.be.within(0.5, 1);
    expect(await ciOf({ ...ROWS, with_ci: false })).to.equal(null);
  });

  it('answers a request above the limit of replicates without the intervals that it did not ask for', async () => {
    const answer = await service.post('/validate', { ...ROWS, sensitive: { x: ROWS.sensitive }, ci_samples: 100_000, min_group_size: 1 }); // prettier-ignore
    expect(answer.statusCode).to.equal(200);
    const groups = Array.from({ length: 100 }, (_, row) => `g${String(row % 25)}`);
    const body = { y_pred: groups.map((_, row) => row % 2), sensitive: groups, min_group_size: 1, ci_samples: 100_000 };
    const many = await service.post('/validate', body);
    expect(many.statusCode, many.payload).to.equal(200);
    expect(many.payload).to.match(/no interval: 100,000 replicates times 25 groups exceed the limit of 2,000,000/);
    expect((await service.post('/validate', { ...body, with_ci: true })).statusCode).to.equal(422);
  });

  it('applies gates to their attributes', async () => {
    const sensitive = { sex: ['f', 'f', 'm', 'm'], race: ['x', 'y', 'x', 'y'] };
    const gate = { metric: 'demographic_parity_difference', threshold: 0.6, attributes: ['sex'] };
    const answer = await service.post('/validate', { ...ROWS, sensitive, gates: [gate] });
    const body = answer.json<{ passed: boolean; gates: Json[]; attributes: Record<string, Json> }>();
    expect(body).to.include({ passed: true });
    expect(body.gates.map(({ attribute, status }) => [attribute, status])).to.deep.equal([['sex', 'pass']]);
    expect(body.attributes['race']).to.include({ passed: null, verdict: null });
    const refused: readonly (readonly [gates: unknown, pointer: string, text: RegExp])[] = [
      [[], '/gates', /at least 1/],
      [[gate, { ...gate, metric: 'demographic_parity_diference' }], '/gates/1/metric', /gates\[1\]\.metric/],
      [[{ ...gate, attributes: ['sexx'] }], '/gates/0/attributes', /'sexx'/],
      [[{ ...gate, threshold: 5 }], '/gates/0/threshold', /5 always passes/],
      [[{ ...gate, treshold: 1 }], '/gates/0/treshold', /treshold/],
      [[{ metric: gate.metric }], '/gates/0/threshold', /number/],
    ];
    for (const [gates, pointer, text] of refused) {
      const problem = await service.post('/validate', { ...ROWS, sensitive, gates });
      expect(problem.statusCode, problem.payload).to.equal(422);
      const { detail, errors } = problem.json<{ detail: string; errors: Json[] }>();
      expect([detail, errors[0]?.['pointer']]).to.satisfy(
        ([said, at]: [string, string]) => text.test(said) && at === pointer,
        problem.payload,
      );
    }
  });

  it('averages over classes', async () => {
    const body = { y_pred: ['x', 'x', 'y', 'z'], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 1, average: 'macro' };
    const answer = await service.post('/validate', body);
    expect(answer.statusCode, answer.payload).to.equal(200);
    // By hand: x 1 and 0, y 0 and 0.5, z 0 and 0.5.
    expect(answer.json<Json>()['metrics']).to.have.nested.property('demographic_parity_difference.value').that.is.closeTo(2 / 3, 1e-12); // prettier-ignore
    const many = Array.from({ length: 101 }, (_, row) => `c${String(row)}`);
    const refused = await service.post('/validate', {
      ...body,
      y_pred: many,
      sensitive: many.map((_, row) => row % 2),
    });
    expect(refused.statusCode).to.equal(422);
    expect(refused.json<Json>()['detail']).to.match(/101 classes/);
  });

  it('measures several attributes separately, and their intersection', async () => {
    const answer = await service.post('/validate', {
      ...ROWS,
      sensitive: { sex: ['f', 'f', 'm', 'm'], race: ['x', 'y', 'x', 'y'] },
      intersections: [['sex', 'race']],
    });
    expect(Object.keys(answer.json<{ attributes: Json }>().attributes)).to.deep.equal(['sex', 'race', 'sex||race']);
  });

  it('returns the same from a thread as immediately, except for the ID and the time', async () => {
    const body = { ...ROWS, with_ci: true, threshold: 0.3 };
    const [atOnce, inThread] = await Promise.all([
      service.post('/validate', body),
      service.post('/validate', body, { 'idempotency-key': 'thread' }),
    ]);
    const plain = ({ run_id: _, timestamp: __, ...rest }: Json): Json => rest;
    expect(inThread.statusCode).to.equal(200);
    expect(plain(inThread.json<Json>())).to.deep.equal(plain(atOnce.json<Json>()));
  });

  it('measures a table in the body, with its columns in the query', async () => {
    const answer = await service.ask({
      method: 'POST',
      url: '/validate?y_pred=hired&sensitive=sex&sensitive=sex,race&min_group_size=1',
      headers: { 'content-type': 'text/csv' },
      payload: 'hired,sex,race\n1,f,x\n0,f,y\n1,m,x\n1,m,y\n',
    });
    expect(answer.statusCode, answer.payload).to.equal(200);
    const { attributes } = answer.json<{ attributes: Record<string, { metrics: Record<string, Json> }> }>();
    expect(Object.keys(attributes)).to.deep.equal(['sex', 'sex||race']);
    expect(attributes['sex']?.metrics['demographic_parity_difference']).to.have.property('value', 0.5);
  });

  it('says how to send a table whose lines were joined', async () => {
    const answer = await service.ask({
      method: 'POST',
      url: '/validate?y_pred=hired&sensitive=sex',
      headers: { 'content-type': 'text/csv' },
      payload: 'hired,sex,race1,f,x0,f,y1,m,x1,m,y',
    });
    expect(answer.statusCode, answer.payload).to.equal(422);
    expect(answer.json<Json>()['suggestion']).to.match(
      /^Check that the request has rows\. Send a table with --data-binary/,
    );
  });

  it('measures lines of JSON', async () => {
    const answer = await service.ask({
      method: 'POST',
      url: '/validate?y_pred=hired&sensitive=sex&min_group_size=1',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: '{"hired":1,"sex":"f"}\n{"hired":0,"sex":"f"}\n{"hired":1,"sex":"m"}\n',
    });
    expect(answer.statusCode, answer.payload).to.equal(200);
    expect(answer.json<Json>()['metrics']).to.have.nested.property('demographic_parity_difference.value', 0.5);
  });

  const refused: readonly (readonly [what: string, status: number, body: unknown, headers?: Record<string, string>])[] =
    [
      ['invalid JSON', 400, '{"y_pred": [1,'],
      ['NaN, which is not valid JSON', 400, '{"y_pred": [NaN], "sensitive": ["a"]}'],
      ['a key __proto__', 400, '{"y_pred": [1], "sensitive": ["a"], "__proto__": {"x": 1}}'],
      ['an empty body', 400, ''],
      ['an array', 422, [1]],
      ['nothing to measure', 422, { sensitive: ['a'] }],
      ['text for numbers', 422, { y_pred: ['yes', 'no'], sensitive: ['a', 'b'] }],
      ['a decision of 2', 422, { y_pred: [0, 2], sensitive: ['a', 'b'] }],
      ['different lengths', 422, { y_pred: [1], sensitive: ['a', 'b'] }],
      ['no rows', 422, { y_pred: [], sensitive: [] }],
      ['an unknown field', 422, { ...ROWS, treshold: 0.1 }],
      ['an unknown metric', 422, { ...ROWS, metric: 'demografic_parity_difference', threshold: 0.1 }],
      ['a metric without its labels', 422, { ...ROWS, metric: 'equalized_odds_difference', threshold: 0.1 }],
      ['another content type', 415, 'y_pred=1', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['an unusable idempotency key', 400, ROWS, { 'idempotency-key': 'a b' }],
    ];
  for (const [what, status, body, headers] of refused) {
    it(`rejects ${what} with ${String(status)} and a suggestion`, async () => {
      const answer = await service.post('/validate', body, headers);
      expect(answer.statusCode, answer.payload).to.equal(status);
      expect(answer.headers['content-type']).to.match(/^application\/problem\+json/);
      const problem = answer.json<Json>();
      expect(problem).to.include({ status });
      expect(problem['detail']).to.be.a('string').with.length.above(10);
      expect(answer.payload).to.not.match(/node_modules|\.ts:|\bat \//);
    });
  }

  it('names the first invalid item by its pointer', async () => {
    const answer = await service.post('/validate', { y_pred: [0, 1, 7], sensitive: ['a', 'b', 'a'] });
    expect(answer.json<{ errors: Json[] }>().errors[0]).to.include({ pointer: '/y_pred/2' });
  });
});

describe('limits of POST /validate', function () {
  this.timeout(60_000);
  const service = useService({ limits: { arrayItems: 10, jsonBytes: 1000, inlineBytes: 200, uploadBytes: 500 } });
  const rows = (n: number): Json => ({
    y_pred: Array.from({ length: n }, () => 1),
    sensitive: Array.from({ length: n }, (_, row) => (row % 2 === 0 ? 'a' : 'b')),
    min_group_size: 1,
  });

  it('an array of the maximum length is accepted', async () => {
    expect((await service.post('/validate', rows(10))).statusCode).to.equal(200);
  });

  for (const [n, where] of [
    [11, 'at once'],
    [60, 'in a thread'],
  ] as const) {
    it(`a longer array is answered with 413, detected ${where}`, async () => {
      const answer = await service.post('/validate', rows(n));
      expect(answer.statusCode, answer.payload).to.equal(413);
      expect(answer.json<{ errors: Json[] }>().errors[0]).to.include({ pointer: '/y_pred' });
    });
  }

  it('a body above the limit is answered with 413', async () => {
    expect((await service.post('/validate', rows(300))).statusCode).to.equal(413);
  });

  it('a table above the limit is answered with 413', async () => {
    const answer = await service.ask({
      method: 'POST',
      url: '/validate?y_pred=p&sensitive=s',
      headers: { 'content-type': 'text/csv' },
      payload: `p,s\n${'1,a\n'.repeat(200)}`,
    });
    expect(answer.statusCode).to.equal(413);
  });
});
