import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createApp } from '../../../src/api/app/create-app.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { askApp, type Json, useService } from '../../helpers/service.ts';

const ROWS = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2, threshold: 0.1 };
const CONFIG = 'sensitive: [sex]\npipeline:\n  - transformer: InstanceReweighting\n';
const CSV = `hired,sex,age\n${Array.from({ length: 60 }, (_, row) => `${String(row % 3 === 0 ? 1 : 0)},${row % 2 === 0 ? 'f' : 'm'},${String(20 + (row % 7))}`).join('\n')}\n`;

describe('results of runs', function () {
  this.timeout(120_000);
  const service = useService();
  const get = (url: string, headers: Record<string, string> = {}) => service.ask({ method: 'GET', url, headers });

  it('a result is the answer of POST, with its endpoint, state and time', async () => {
    const posted = (await service.post('/validate', ROWS)).json<Json>();
    const run = (await get(`/results/${String(posted['run_id'])}`)).json<Json>();
    expect(run).to.include({ run_id: posted['run_id'], endpoint: '/validate', status: 'succeeded', problem: null });
    expect(run['result']).to.deep.equal(posted);
    expect(run['created_at']).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('the same result is available as Markdown and as a page, by Accept', async () => {
    const { run_id: id } = (await service.post('/validate', ROWS)).json<Json>();
    const markdown = await get(`/results/${String(id)}`, { accept: 'text/markdown' });
    expect(markdown.headers['content-type']).to.match(/^text\/markdown/);
    expect(markdown.payload).to.contain('# Fairness validation').and.contain('FAIL');
    const html = await get(`/results/${String(id)}`, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(html.headers['content-type']).to.match(/^text\/html/);
    expect(html.payload).to.contain('<h1>Fairness validation</h1>').and.contain('FAIL');
    expect(html.headers['content-security-policy']).to.contain("default-src 'none'");
    expect(html.headers['vary']).to.match(/accept/i);
  });

  it('the list can be filtered by state, endpoint and number; other parameters are answered with 422', async () => {
    await service.post('/validate', ROWS);
    await service.post('/validate', ROWS);
    const list = async (query: string): Promise<Json[]> =>
      (await get(`/results${query}`)).json<{ results: Json[] }>().results;
    expect(await list('?limit=1')).to.have.length(1);
    expect((await list('?endpoint=/validate&status=succeeded')).length).to.be.at.least(2);
    expect(await list('?endpoint=/workflow')).to.deep.equal([]);
    for (const query of [
      '?limit=0',
      '?limit=x',
      '?status=done',
      '?endpoint=validate',
      '?offset=2',
      '?limit=1&limit=2',
    ]) {
      expect((await get(`/results${query}`)).statusCode, query).to.equal(422);
    }
  });

  it('a misplaced option is rejected, so that no gate is silently dropped', async () => {
    const json = await service.post('/validate?threshold=0.1', ROWS);
    expect(json.statusCode).to.equal(422);
    expect(json.json<{ errors: Json[] }>().errors[0]).to.include({ pointer: 'threshold' });
    const form = await service.form('/workflow?threshold=0.1', { config: CONFIG }, { name: 'x.csv', content: CSV });
    expect(form.statusCode).to.equal(422);
  });

  it('errors of a waiting client are not stored among the results', async () => {
    const before = (await get('/results')).json<{ results: Json[] }>().results.length;
    const answer = await service.form('/pipeline', { config: 'sensitve: [sex]' }, { name: 'x.csv', content: CSV });
    expect(answer.statusCode).to.equal(422);
    expect((await get('/results')).json<{ results: Json[] }>().results).to.have.length(before);
  });

  it('the report of a table names its attribute by its column', async () => {
    const answer = await service.ask({
      method: 'POST',
      url: '/validate?y_pred=hired&sensitive=sex&min_group_size=1',
      headers: { 'content-type': 'text/csv' },
      payload: CSV,
    });
    const { run_id: id } = answer.json<Json>();
    for (const accept of ['text/markdown', 'text/html']) {
      const report = await get(`/results/${String(id)}`, { accept });
      expect(report.payload, accept).to.match(/By (?:<bdi>)?sex/);
    }
  });

  it('an unavailable format is answered with 406', async () => {
    const { run_id: id } = (await service.post('/validate', ROWS)).json<Json>();
    expect((await get(`/results/${String(id)}`, { accept: 'image/png' })).statusCode).to.equal(406);
  });

  it('the list is sorted newest first', async () => {
    const first = (await service.post('/validate', ROWS)).json<Json>();
    const second = (await service.post('/validate', ROWS)).json<Json>();
    const { results } = (await get('/results')).json<{ results: Json[] }>();
    const indices = [second, first].map(({ run_id: id }) => results.findIndex(({ run_id: own }) => own === id));
    expect(indices[0])
      .to.be.at.least(0)
      .and.below(indices[1] as number);
  });

  it('DELETE removes a result; afterwards, and for an unknown one, the answer is 404', async () => {
    const { run_id: id } = (await service.post('/validate', ROWS)).json<Json>();
    const url = `/results/${String(id)}`;
    expect((await service.ask({ method: 'DELETE', url })).statusCode).to.equal(204);
    expect((await service.ask({ method: 'DELETE', url })).statusCode).to.equal(404);
    expect((await get(url)).statusCode).to.equal(404);
    expect((await get('/results/..%2f..%2fetc%2fpasswd')).statusCode).to.equal(404);
  });

  it('a pipeline stores its data as CSV and Parquet, and a report', async () => {
    const answer = await service.form('/pipeline', { config: CONFIG }, { name: '../../x.csv', content: CSV });
    expect(answer.statusCode, answer.payload).to.equal(200);
    const body = answer.json<Json>();
    expect(body).to.include({
      status: 'success',
      transformed_rows: 60,
      download: `/results/${String(body['run_id'])}/data`,
    });
    const url = String(body['download']);
    const csv = await get(url);
    expect(csv.headers['content-type']).to.match(/^text\/csv/);
    expect(csv.payload.split('\n')[0]).to.equal('hired,sex,age,sample_weight');
    expect(csv.headers['content-disposition']).to.match(/^attachment; filename="[\w-]+\.csv"$/);
    const parquet = await get(url, { accept: 'application/vnd.apache.parquet' });
    expect(parquet.rawPayload.toString('latin1', 0, 4)).to.equal('PAR1');
    expect((await get(`${url}?format=parquet`)).rawPayload).to.deep.equal(parquet.rawPayload);
    expect((await get(`${url}?format=xlsx`)).statusCode).to.equal(422);
    const report = await get(`/results/${String(body['run_id'])}`, { accept: 'text/html' });
    expect(report.payload).to.match(/^<!doctype html>/i);
  });

  it('a validation has no data', async () => {
    const { run_id: id } = (await service.post('/validate', ROWS)).json<Json>();
    expect((await get(`/results/${String(id)}/data`)).statusCode).to.equal(404);
  });

  it('respond-async is answered with 202 and the path of the result, which becomes available', async () => {
    const answer = await service.post('/validate', ROWS, { prefer: 'respond-async' });
    expect(answer.statusCode).to.equal(202);
    const { run_id: id, status } = answer.json<Json>();
    expect(answer.headers['location']).to.equal(`/results/${String(id)}`);
    expect(answer.headers['preference-applied']).to.equal('respond-async');
    expect(Number(answer.headers['retry-after'])).to.be.at.least(1);
    expect(status).to.be.oneOf(['queued', 'running']);
    const run = await service.ended(String(id));
    expect(run).to.include({ status: 'succeeded' });
    expect(run['result']).to.include({ passed: false, run_id: id });
  });

  it('respond-async with wait is answered with 200 if the run ends in time', async () => {
    const answer = await service.post('/validate', ROWS, { prefer: 'respond-async, wait=60' });
    expect(answer.statusCode).to.equal(200);
  });

  it('a failed run has its problem, for the waiting client and in the store', async () => {
    const waited = await service.form('/pipeline', { config: 'sensitve: [sex]' }, { name: 'x.csv', content: CSV });
    expect(waited.statusCode).to.equal(422);
    expect(waited.json<{ errors: Json[] }>().errors[0]?.['detail']).to.contain('sensitive');
    const answer = await service.form(
      '/pipeline',
      // The configuration is valid, but does not fit the data.
      { config: 'sensitive: [nothing]' },
      { name: 'x.csv', content: CSV },
      { prefer: 'respond-async' },
    );
    const run = await service.ended(String(answer.json<Json>()['run_id']));
    expect(run).to.include({ status: 'failed', result: null });
    expect(run['problem']).to.include({ status: 422 });
  });

  it('events report the states of a run in order, and end', async () => {
    const posted = await service.post('/validate', ROWS, { prefer: 'respond-async' });
    const events = await get(`${String(posted.headers['location'])}/events`);
    expect(events.headers['content-type']).to.match(/^text\/event-stream/);
    const blocks = events.payload.split('\n\n').filter((block) => block.startsWith('id:'));
    expect(blocks.at(-1)).to.contain('"status":"succeeded"');
    const ids = blocks.map((block) => Number(/^id: (\d+)/.exec(block)?.[1]));
    expect(ids).to.deep.equal([...ids].sort((a, b) => a - b));
    const rest = await get(`${String(posted.headers['location'])}/events`, { 'last-event-id': String(ids.at(-1)) });
    expect([rest.statusCode, rest.payload], 'a reconnecting EventSource must stop').to.deep.equal([204, '']);
    expect((await get('/results/nobody/events')).statusCode).to.equal(404);
  });

  it('requests with the same idempotency key are one run', async () => {
    const send = (body: unknown) => service.post('/validate', body, { 'idempotency-key': 'once-1' });
    const [a, b] = await Promise.all([send(ROWS), send(ROWS)]);
    const c = await send(ROWS);
    expect(new Set([a, b, c].map((answer) => answer.json<Json>()['run_id'])).size).to.equal(1);
    expect(c.headers['idempotency-replayed']).to.equal('true');
    expect((await send({ ...ROWS, threshold: 0.2 })).statusCode).to.equal(422);
  });

  it('a workflow without a training section gets a hint to the endpoint that needs none', async () => {
    const answer = await service.form('/workflow', { config: CONFIG }, { name: 'x.csv', content: CSV });
    expect(answer.statusCode).to.equal(422);
    expect(answer.json<Json>()['suggestion'])
      .to.contain('POST /pipeline')
      .and.not.match(/evenhand pipeline|applyPipeline/);
  });

  it('a form without a configuration or a file is answered with 422 and its name', async () => {
    const noConfig = await service.form('/workflow', {}, { name: 'x.csv', content: CSV });
    expect(noConfig.statusCode).to.equal(422);
    expect(noConfig.json<{ errors: Json[] }>().errors[0]).to.include({ pointer: '/config' });
    const noFile = await service.form('/workflow', { config: CONFIG });
    expect(noFile.statusCode).to.equal(422);
    expect(noFile.json<{ errors: Json[] }>().errors[0]).to.include({ pointer: '/file' });
  });
});

describe('results of several keys', () => {
  const [alice, bob] = ['alice-0123456789abcdef', 'bob-0123456789abcdefgh'];
  const [carol, dave] = ['carol-0123456789abcdef', 'dave-0123456789abcdefg'];
  const service = useService({ keys: [alice, bob, `team-a:${carol}`, `team-a:${dave}`], rateLimit: 40 });
  const as = (key: string, headers: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...headers });
  const idOf = (answer: { json: () => Json }): string => String(answer.json()['run_id']);
  const listed = async (key: string) => {
    const answer = await service.ask({ method: 'GET', url: '/results', headers: as(key) });
    return answer.json<{ results: Json[] }>().results.map((run) => run['run_id']);
  };

  it('another key cannot list, read, follow, download, cancel or delete a result, and cannot tell that it exists', async () => {
    const runId = idOf(await service.post('/validate', ROWS, as(alice)));
    expect(await listed(alice)).to.include(runId);
    expect(await listed(bob)).to.deep.equal([]);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/data'],
      ['GET', '/model'],
      ['GET', '/events'],
    ] as const) {
      const ask = (id: string) => service.ask({ method, url: `/results/${id}${path}`, headers: as(bob) });
      const [foreign, unknown] = [await ask(runId), await ask('no-run')];
      expect(foreign.statusCode, path).to.equal(404);
      expect(foreign.payload.replaceAll(runId, 'no-run')).to.equal(unknown.payload);
    }
    const predicted = await service.post('/predict', { model: runId, rows: [{ x: 1 }] }, as(bob));
    expect(predicted.json<Json>()['detail']).to.equal(`There is no run '${runId}'.`);
    expect((await service.ask({ method: 'GET', url: `/results/${runId}`, headers: as(alice) })).statusCode).to.equal(
      200,
    );
  });

  it('keys of one tenant share results and streams, which other tenants do not see', async () => {
    const runId = idOf(await service.post('/validate', ROWS, as(carol, { prefer: 'respond-async' })));
    const url = `/results/${runId}`;
    expect((await service.ask({ method: 'GET', url: `${url}/events`, headers: as(dave) })).payload).to.include(
      'succeeded',
    );
    expect(await listed(dave)).to.deep.equal([runId]);
    expect(await listed(bob)).to.deep.equal([]);
    const type = { 'content-type': 'application/x-ndjson' };
    const send = (key: string, id: number) =>
      service.ask({
        method: 'POST',
        url: '/monitor/shared/events?y_pred=d&sensitive=g',
        headers: as(key, type),
        payload: JSON.stringify({ id, d: 1, g: 'a' }),
      });
    expect((await send(carol, 1)).json<Json>()).to.include({ accepted: 1, n_events: 1 });
    expect((await send(dave, 2)).json<Json>()).to.include({ accepted: 1, n_events: 2 });
    expect((await send(bob, 1)).json<Json>()).to.include({ accepted: 1, n_events: 1 });
    const state = (key: string) => service.ask({ method: 'GET', url: '/monitor/shared', headers: as(key) });
    expect((await state(dave)).json<Json>()['n_events']).to.equal(2);
    expect((await state(alice)).statusCode).to.equal(404);
    expect((await service.ask({ method: 'DELETE', url, headers: as(dave) })).statusCode).to.equal(204);
  });

  it('the name of a tenant is not part of its key, and is no key', async () => {
    for (const key of [`team-a:${carol}`, 'team-a', 'team-a:', '']) {
      expect((await service.ask({ method: 'GET', url: '/results', headers: as(key) })).statusCode).to.equal(401);
    }
  });

  it('the answer of a run names no tenant', async () => {
    const posted = await service.post('/validate', ROWS, as(carol));
    const list = await service.ask({ method: 'GET', url: '/results', headers: as(carol) });
    for (const { payload } of [posted, list]) expect(payload).to.not.match(/tenant|team-a/);
  });

  it('an Idempotency-Key belongs to the key that it was sent with', async () => {
    const named = { 'idempotency-key': 'the-same-name' };
    const first = idOf(await service.post('/validate', ROWS, as(alice, named)));
    expect(idOf(await service.post('/validate', ROWS, as(bob, named)))).to.not.equal(first);
    expect(idOf(await service.post('/validate', ROWS, as(alice, named)))).to.equal(first);
  });

  it('the rate limit is counted for each key separately', async () => {
    const statuses: number[] = [];
    for (let request = 0; request < 41; request++) {
      statuses.push((await service.ask({ method: 'GET', url: '/results', headers: as(alice) })).statusCode);
    }
    expect(statuses.at(-1)).to.equal(429);
    expect((await service.ask({ method: 'GET', url: '/results', headers: as(bob) })).statusCode).to.equal(200);
  });
});

describe('an edited entry of the store', () => {
  const root = useTemporaryFolder();

  it('is answered with a problem that reports it, never with its content', async () => {
    const storeFolder = mkdtempSync(path.join(root(), 'store-'));
    const open = async () => {
      const app = createApp({ keys: [], threads: 1, storeFolder });
      await app.ready();
      return app;
    };
    const first = await open();
    const posted = await askApp(first, { method: 'POST', url: '/validate', payload: ROWS });
    const { run_id: runId } = posted.json<{ run_id: string }>();
    await first.close(1000);
    const name = readdirSync(storeFolder).find((file) => file === `${runId}.json`) as string;
    const file = path.join(storeFolder, name);
    const text = readFileSync(file, 'utf8');
    expect(text).to.include('\\"passed\\":false');
    writeFileSync(file, text.replace('\\"passed\\":false', '\\"passed\\":true'));
    const second = await open();
    try {
      const ask = (method: 'GET' | 'DELETE') => askApp(second, { method, url: `/results/${runId}` });
      const answer = await ask('GET');
      expect(answer.statusCode).to.equal(500);
      expect(answer.headers['content-type']).to.match(/^application\/problem\+json/);
      const problem = answer.json<Json>();
      expect(problem['detail'])
        .to.match(/damaged/)
        .and.to.match(/checksum/);
      expect(problem['run_id']).to.equal(runId);
      expect(answer.payload)
        .to.not.match(/passed|selection_rate/)
        .and.not.include(storeFolder);
      const list = await askApp(second, { method: 'GET', url: '/results' });
      expect(list.json<{ results: Json[] }>().results).to.deep.equal([]);
      expect((await ask('DELETE')).statusCode).to.equal(204);
      expect((await ask('GET')).statusCode).to.equal(404);
    } finally {
      await second.close(1000);
    }
  });
});
