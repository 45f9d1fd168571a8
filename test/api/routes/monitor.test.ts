import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createApp } from '../../../src/api/app/create-app.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { askApp, type Json, useService } from '../../helpers/service.ts';

const TYPE = { 'content-type': 'application/x-ndjson' };
const OPTIONS = 'y_pred=approved&sensitive=sex&y_true=repaid';

type Row = Record<string, unknown>;
const text = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Returns events in which the men get more approvals than the women. */
function events(count: number, from = 0): Row[] {
  return Array.from({ length: count }, (_, index) => {
    const id = from + index;
    return {
      id: `e${String(id)}`,
      approved: id % 2 === 0 ? Number(id % 10 < 4) : Number(id % 10 < 9),
      sex: id % 2 === 0 ? 'f' : 'm',
    };
  });
}

describe('monitored streams', function () {
  this.timeout(60_000);
  const service = useService({ limits: { streams: 20 } });
  const post = (location: string, body: string | readonly Row[], type: Record<string, string> = TYPE) =>
    service.ask({
      method: 'POST',
      url: `/monitor/${location}`,
      headers: type,
      payload: typeof body === 'string' ? body : text(body),
    });
  const state = async (name: string) => (await service.ask({ method: 'GET', url: `/monitor/${name}` })).json<Json>();

  it('counts an event once, however often and in whatever request it is sent', async () => {
    const first = await post(`once/events?${OPTIONS}`, events(50));
    expect(first.json<Json>()).to.include({ accepted: 50, repeated: 0, n_events: 50 });
    const again = await post('once/events', events(60));
    expect(again.json<Json>()).to.include({ accepted: 10, repeated: 50, n_events: 60 });
    const twice = [...events(1, 60), ...events(1, 60)];
    expect((await post('once/events', twice)).json<Json>()).to.include({ accepted: 1, repeated: 1, n_events: 61 });
    const [a, b] = await Promise.all([post('once/events', events(5, 70)), post('once/events', events(5, 70))]);
    expect([a, b].map((answer) => answer.json<Json>()['accepted']).sort()).to.deep.equal([0, 5]);
    expect(await state('once')).to.include({ n_events: 66 });
    expect((await state('once'))['faults']).to.deep.equal({});
  });

  it('warns of a limit within which groups are very different', async () => {
    await post(`lenient/events?${OPTIONS}&limit=0.9`, events(20));
    expect((await state('lenient'))['warnings']).to.include(
      'Very different groups stay within the limit of 0.9, such as values of 0.05 and 0.95.',
    );
    await service.ask({ method: 'DELETE', url: '/monitor/lenient' });
  });

  it('rejects different events with the same id, and warns if most events repeat an id', async () => {
    const [first = {}, second = {}] = events(2);
    const answer = await post(`person/events?${OPTIONS}`, [first, { ...second, id: first['id'] }]);
    expect(answer.statusCode).to.equal(422);
    expect(answer.payload).to.match(/as in line 1, which has other values\. Each event needs an id of its own/);
    await post(`person/events?${OPTIONS}`, events(20));
    await post('person/events', events(20));
    expect((await state('person'))['warnings']).to.deep.equal([]);
    await post('person/events', events(20));
    expect(((await state('person'))['warnings'] as string[]).join()).to.match(
      /^40 events have an id that was counted before, and are not counted again\./,
    );
  });

  it('warns if all decisions are equal', async () => {
    await post(
      `equal/events?${OPTIONS}`,
      events(100).map((row) => ({ ...row, approved: 1 })),
    );
    expect(((await state('equal'))['warnings'] as string[]).join()).to.include(
      "All decisions in 'approved' are positive",
    );
    await post('equal/events', [{ ...events(1, 100)[0], approved: 0 }]);
    expect((await state('equal'))['warnings']).to.deep.equal([]);
  });

  it('warns if a label differs from the one that was counted for its event', async () => {
    await post(`corrected/events?${OPTIONS}`, events(20));
    const labels = (repaid: number, from: number, to: number): Row[] =>
      events(20)
        .slice(from, to)
        .map(({ id }) => ({ id, repaid }));
    await post('corrected/labels', labels(1, 0, 10));
    expect((await post('corrected/labels', labels(1, 0, 10))).json<Json>()).to.include({ accepted: 0, repeated: 10 });
    expect((await state('corrected'))['warnings']).to.deep.equal([]);
    const answer = await post('corrected/labels', [...labels(0, 0, 4), ...labels(0, 10, 12), ...labels(1, 11, 12)]);
    expect(answer.json<Json>()).to.include({ accepted: 2, repeated: 5, n_labels: 12 });
    expect((await state('corrected'))['warnings']).to.deep.equal([
      '5 labels differ from a label that was sent before for the same event, and are not counted: the first label stays. Send final labels only; corrected labels need a new stream.',
    ]);
  });

  it('warns if true labels arrive only for one decision', async () => {
    const rows = events(100);
    await post(`selected/events?${OPTIONS}`, rows);
    const warnings = async (): Promise<string> => ((await state('selected'))['warnings'] as string[]).join();
    expect(await warnings()).to.equal('');
    const labelsOf = (decision: number): Row[] =>
      rows.flatMap(({ id, approved }, index) =>
        approved === decision ? [{ id, repaid: index % 3 === 0 ? 0 : 1 }] : [],
      );
    await post('selected/labels', labelsOf(1));
    expect(await warnings()).to.match(
      /^A true label is known for 100\.0% of the rows with a positive decision, but for 0\.0% of those with a negative one\./,
    );
    await post('selected/labels', labelsOf(0));
    expect(await warnings()).to.equal('');
  });

  it('warns if the weights of events follow from their decisions', async () => {
    const weighed = events(200).map((row, index) => ({ ...row, w: index % 2 === 0 ? 1 : 2 }));
    await post(`weights/events?${OPTIONS}&sample_weight=w`, weighed);
    expect((await state('weights'))['warnings']).to.deep.equal([]);
    const amounts = events(200).map((row) => ({ ...row, w: row['approved'] === 1 ? 5000 : 1 }));
    await post(`amounts/events?${OPTIONS}&sample_weight=w`, amounts);
    expect(((await state('amounts'))['warnings'] as string[]).join()).to.match(
      /^The mean weight of rows with a positive decision is 5,000 times that of rows with a negative one\./,
    );
    // The service has few streams.
    for (const name of ['weights', 'amounts']) await service.ask({ method: 'DELETE', url: `/monitor/${name}` });
  });

  it('answers with the numbers of problems of the request by reason', async () => {
    const ungrouped = (row: Row) => ({ ...row, sex: null });
    const first = await post(`reasons/events?${OPTIONS}`, [...events(3), ...events(4, 3).map(ungrouped)]);
    expect(first.json<Json>()).to.deep.include({ accepted: 7, faults: { missing_group: 4 } });
    expect((await post('reasons/events', events(3, 7))).json<Json>()).to.deep.include({ accepted: 3, faults: {} });
    const rows = [ungrouped(events(1, 10)[0] ?? {}), { ...events(1, 11)[0], approved: null }];
    const last = (await post('reasons/events', rows)).json<Json>();
    expect(last).to.deep.include({ accepted: 2, faults: { missing_prediction: 1, missing_group: 1 } });
    expect(await state('reasons')).to.deep.include({ faults: { missing_prediction: 1, missing_group: 5 } });
  });

  it('rejects events of which none has a sensitive field, and counts none of them', async () => {
    const renamed = (row: Row) => ({ id: row['id'], approved: row['approved'], sx: row['sex'] });
    const rows = events(50).map(renamed);
    const detail = "No event has the sensitive field 'sex'. No event was counted.";
    const created = await post(`renamed/events?${OPTIONS}`, rows);
    expect(created.statusCode).to.equal(422);
    const problem = created.json<Json>();
    expect(problem).to.include({ detail });
    expect(problem['suggestion']).to.match(
      /^Did you mean 'sx'\? The fields of the first event are 'id', 'approved' and 'sx'\./,
    );
    expect(problem['suggestion']).to.include('"sex": null');
    expect((await service.ask({ method: 'GET', url: '/monitor/renamed' })).statusCode).to.equal(404);

    await post(`renamed/events?${OPTIONS}`, events(20));
    expect((await post('renamed/events', rows)).json<Json>()).to.include({ detail });
    expect(await state('renamed')).to.deep.include({ n_events: 20, faults: {} });
    // One event with the field is enough: the others are counted as problems.
    const mixed = await post('renamed/events', [...events(1, 60), ...events(2, 61).map(renamed)]);
    expect(mixed.json<Json>()).to.deep.include({ accepted: 3, faults: { missing_group: 2 } });
    const two = await post('two/events?y_pred=approved&sensitive=sex&sensitive=race', events(5));
    expect(two.payload).to.include("No event has the sensitive field 'race'");
  });

  it('warns of groups whose labels look alike in the state and on the dashboard', async () => {
    const rows = events(60).map((row, index) => ({ ...row, sex: ['Female', 'FEMALE ', 'm'][index % 3] }));
    await post(`alike/events?${OPTIONS}`, rows);
    const warning =
      "Groups of 'sex' differ only by case, spaces or Unicode form: 'FEMALE ' (20 events), 'Female' (20 events); each is measured as a separate group.";
    expect((await state('alike'))['warnings']).to.deep.equal([warning]);
    const headers = { accept: 'text/markdown' };
    const report = await service.ask({ method: 'GET', url: '/monitor/alike/dashboard', headers });
    expect(report.payload).to.include(warning);
  });

  it('warns of a positive label that no event has, and of several negative ones', async () => {
    const rows = events(60).map((row, index) => ({ ...row, approved: ['ja', 'nein', 'k. A.'][index % 3] }));
    await post(`misspelt/events?${OPTIONS}&positive_label=Ja`, rows);
    const warnings = (await state('misspelt'))['warnings'];
    expect(warnings).to.include("No event has the positive label 'Ja' in 'approved'.");
    expect(String(warnings)).to.match(/Several labels of 'approved' count as negative: 'ja', 'nein', 'k\. A\.'/);
  });

  it('counts labels of known events once, and reports unknown ones', async () => {
    await post(`labels/events?${OPTIONS}`, events(4));
    const labels = [
      { id: 'e1', repaid: 1 },
      { id: 'e2', repaid: 0 },
      { id: 'nobody', repaid: 1 },
    ];
    const expected = { accepted: 2, repeated: 0, unknown: 1, n_labels: 2 };
    expect((await post('labels/labels', labels)).json<Json>()).to.include(expected);
    const again = { accepted: 0, repeated: 2, unknown: 1, n_labels: 2 };
    expect((await post('labels/labels', labels)).json<Json>()).to.include(again);
  });

  it('raises the alarm of a large gap, and lists it', async () => {
    const { alerts } = (await post(`alarm/events?${OPTIONS}`, events(2000))).json<{ alerts: Json[] }>();
    expect(alerts[0]).to.include({ tier: 'alarm', attribute: 'sex', metric: 'demographic_parity_difference' });
    // By construction 40% of the women and 80% of the men are approved.
    const found = (await state('alarm')) as {
      metrics: Record<string, Record<string, Json>>;
      states: Json;
      alerts: Json[];
    };
    expect(found.metrics['sex']?.['demographic_parity_difference']?.['value']).to.be.closeTo(0.4, 1e-12);
    expect(found.states).to.have.nested.property('sex.demographic_parity_difference', 'breach');
    expect(found.alerts[0]).to.deep.equal(alerts[0]);
  });

  it('forgets the ids of events after label_horizon later ones', async () => {
    await post(`horizon/events?${OPTIONS}&label_horizon=3&min_group_size=1`, events(5));
    const labels = events(5).map(({ id }) => ({ id, repaid: 1 }));
    // Of five events, the last three can be labelled.
    expect((await post('horizon/labels', labels)).json<Json>()).to.include({ accepted: 3, unknown: 2 });
  });

  it('watches gaps within the labels of a field, from labels that arrive later', async () => {
    const rows = events(2000).map((row, index) => ({ ...row, region: `r${String(index % 3)}` }));
    await post('strata/events?y_pred=approved&sensitive=sex&y_true=repaid&within=region', rows);
    const labels = rows.map((_, index) => ({ id: `e${String(index)}`, repaid: Math.floor(index / 10) % 2 }));
    await post('strata/labels', labels);
    const found = (await state('strata')) as {
      metrics: Record<string, Record<string, Json>>;
      alerts: { id: string; within: Json }[];
    };
    const within = found.alerts.filter((alert) => alert.within['is_reason'] === true);
    expect(within.map(({ id }) => id)).to.include('sex:demographic_parity_difference:within:1');
    // 40% of the women and 80% of the men are approved, also among those who repaid and those who did not.
    for (const metric of ['demographic_parity_difference', 'equalized_odds_difference']) {
      expect(found.metrics['sex']?.[`${metric}_within_strata`]?.['value']).to.be.closeTo(0.4, 0.02);
    }
    const rejected = await post(`both/events?${OPTIONS}&within=region&within_time=60`, events(1));
    expect(rejected.statusCode).to.equal(422);
    expect(rejected.payload).to.include('within_time');
    const odd = await post(`odd/events?${OPTIONS}&within=region`, [{ ...events(1)[0], region: [1] }]);
    expect(odd.statusCode).to.equal(422);
    expect(odd.payload).to.include('region');
  });

  it('shows the dashboard as a page and as Markdown', async () => {
    await post(`pages/events?${OPTIONS}`, events(200));
    const page = await service.ask({ method: 'GET', url: '/monitor/pages/dashboard' });
    expect(page.headers['content-type']).to.match(/^text\/html/);
    expect(page.payload).to.include('Fairness of pages').and.include('200');
    const report = await service.ask({
      method: 'GET',
      url: '/monitor/pages/dashboard',
      headers: { accept: 'text/markdown' },
    });
    expect(report.payload).to.match(/^# Fairness of pages\n/);
  });

  it('lists streams, and forgets a deleted one', async () => {
    await post(`gone/events?${OPTIONS}`, events(3));
    const { streams } = (await service.ask({ method: 'GET', url: '/monitor' })).json<{ streams: Json[] }>();
    expect(streams.find(({ stream }) => stream === 'gone')).to.deep.include({
      options: { y_pred: 'approved', sensitive: 'sex', y_true: 'repaid' },
    });
    expect((await service.ask({ method: 'DELETE', url: '/monitor/gone' })).statusCode).to.equal(204);
    expect((await service.ask({ method: 'GET', url: '/monitor/gone' })).statusCode).to.equal(404);
    expect((await service.ask({ method: 'DELETE', url: '/monitor/gone' })).statusCode).to.equal(404);
    // Another stream of that name begins from nothing, with other options.
    const other = await post('gone/events?y_pred=approved&sensitive=sex&limit=0.2', events(3));
    expect(other.json<Json>()).to.include({ accepted: 3, n_events: 3 });
  });

  it('keeps a time that events have, and otherwise their time of arrival', async () => {
    const timed = events(3).map((row, index) => ({ ...row, timestamp: `2026-01-01T00:00:0${String(index)}Z` }));
    await post(`timed/events?${OPTIONS}`, timed);
    expect(await state('timed')).to.include({ timestamp: '2026-01-01T00:00:02.000Z' });
  });

  const good = events(1)[0] as Row;
  const refused: readonly [string, string, string, Record<string, string>, number, RegExp][] = [
    ['no lines', `x/events?${OPTIONS}`, '\n \n', TYPE, 422, /no lines/],
    ['another type', `x/events?${OPTIONS}`, '[]', { 'content-type': 'application/json' }, 415, /Content-Type/],
    ['a null byte', `x/events?${OPTIONS}`, '\u0000', TYPE, 422, /not a JSON object/],
    ['a list', `x/events?${OPTIONS}`, '[1]', TYPE, 422, /Line 1 cannot be counted: it is not a JSON object/],
    ['a line that is cut', `x/events?${OPTIONS}`, '{"id":1', TYPE, 422, /not a JSON object/],
    ['a key that occurs twice', `x/events?${OPTIONS}`, '{"id":1,"id":2,"approved":1}', TYPE, 422, /id/],
    [
      'an id that loses digits',
      `x/events?${OPTIONS}`,
      '{"id":12345678901234567890,"approved":1,"sex":"f"}',
      TYPE,
      422,
      /digits/,
    ],
    [
      'no id',
      `x/events?${OPTIONS}`,
      '{"approved":1,"sex":"f"}',
      TYPE,
      422,
      /'id', which identifies the event, is missing/,
    ],
    ['an empty id', `x/events?${OPTIONS}`, '{"id":"","approved":1,"sex":"f"}', TYPE, 422, /'id'/],
    ['an id that is an object', `x/events?${OPTIONS}`, '{"id":{},"approved":1,"sex":"f"}', TYPE, 422, /'id'/],
    ['no decision', `x/events?${OPTIONS}`, '{"id":1,"sex":"f"}', TYPE, 422, /it has no 'approved'/],
    [
      'a decision that is a word',
      `x/events?${OPTIONS}`,
      '{"id":1,"approved":"maybe","sex":"f"}',
      TYPE,
      422,
      /'approved' must be/,
    ],
    ['a deep line', `x/events?${OPTIONS}`, '['.repeat(5000), TYPE, 422, /not a JSON object/],
    ['no columns', 'x/events', text([good]), TYPE, 422, /y_pred/],
    ['an unknown parameter', `x/events?${OPTIONS}&limt=1`, text([good]), TYPE, 422, /limt/],
    ['a repeated parameter', `x/events?${OPTIONS}&limit=1&limit=2`, text([good]), TYPE, 422, /more than once/],
    ['a limit that is no number', `x/events?${OPTIONS}&limit=a`, text([good]), TYPE, 422, /limit/],
    ['a limit that nothing exceeds', `x/events?${OPTIONS}&limit=5`, text([good]), TYPE, 422, /limit/],
    ['an unknown metric', `x/events?${OPTIONS}&metric=nope`, text([good]), TYPE, 422, /nope/],
    ['an unknown detector', `x/events?${OPTIONS}&detector=nope`, text([good]), TYPE, 422, /nope/],
    ['a window smaller than a group', `x/events?${OPTIONS}&window_size=5`, text([good]), TYPE, 422, /window_size/],
    ['a name with a slash', `a%2Fb/events?${OPTIONS}`, text([good]), TYPE, 422, /name of a stream/],
    ['a name of dots', `..%2e/events?${OPTIONS}`, text([good]), TYPE, 422, /name of a stream/],
    ['labels of an unknown stream', 'nobody/labels', '{"id":1,"repaid":1}', TYPE, 404, /no stream 'nobody'/],
  ];
  for (const [title, location, body, type, status, detail] of refused) {
    it(`rejects ${title} with ${String(status)}, and creates no stream`, async () => {
      const { statusCode, payload } = await post(location, body, type);
      expect(statusCode, payload).to.equal(status);
      expect((JSON.parse(payload) as Json)['detail']).to.match(detail);
      const { streams } = (await service.ask({ method: 'GET', url: '/monitor' })).json<{ streams: Json[] }>();
      expect(streams.map(({ stream }) => stream)).to.not.include.members(['x']);
    });
  }

  it('rejects bytes that are not UTF-8 with 400', async () => {
    const payload = Buffer.concat([
      Buffer.from('{"id":1,"approved":1,"sex":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const answer = await service.ask({ method: 'POST', url: `/monitor/x/events?${OPTIONS}`, headers: TYPE, payload });
    expect(answer.statusCode).to.equal(400);
    expect(answer.payload).to.include('UTF-8');
  });

  it('counts no line of a request with an invalid line, and names up to 20 of them', async () => {
    await post(`atomic/events?${OPTIONS}`, events(2));
    const lines = [...events(10, 2), ...Array.from({ length: 30 }, (_, id) => ({ id, approved: 'x', sex: 'f' }))];
    const { statusCode, payload } = await post('atomic/events', lines);
    expect(statusCode).to.equal(422);
    const { errors } = JSON.parse(payload) as { errors: { pointer: string }[] };
    expect(errors).to.have.lengthOf(20);
    expect(errors[0]?.pointer).to.equal('/10');
    expect(await state('atomic')).to.include({ n_events: 2 });
    expect((await post('atomic/events', events(10, 2))).json<Json>()).to.include({ accepted: 10 });
  });

  it('rejects other options for an existing stream, and a label that is not one', async () => {
    await post(`fixed/events?${OPTIONS}`, events(2));
    const other = await post('fixed/events?y_pred=decision', events(2));
    expect(other.statusCode).to.equal(422);
    expect(other.payload).to.include('was created with y_pred=approved');
    expect((await post('fixed/events?y_pred=approved', events(2))).statusCode).to.equal(200);
    for (const repaid of ['x', 2, null, {}]) {
      const { statusCode, payload } = await post('fixed/labels', [{ id: 'e1', repaid }]);
      expect(statusCode, payload).to.equal(422);
    }
    await post('unlabelled/events?y_pred=approved&sensitive=sex', events(2));
    const none = await post('unlabelled/labels', [{ id: 'e1', repaid: 1 }]);
    expect(none.payload).to.include('has no field of true labels');
  });

  it('creates no more streams than the limit, with 503', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 17; index++) {
      statuses.push((await post(`many-${String(index)}/events?${OPTIONS}`, events(1))).statusCode);
    }
    expect(statuses.at(-1)).to.equal(503);
    expect(new Set(statuses)).to.have.all.keys([200, 503]);
  });
});

describe('monitored streams of a service with a store', function () {
  this.timeout(60_000);
  const root = useTemporaryFolder();

  async function withService<Result>(
    storeFolder: string,
    use: (app: ReturnType<typeof createApp>) => Promise<Result>,
  ): Promise<Result> {
    const app = createApp({ keys: [], threads: 1, storeFolder });
    try {
      await app.ready();
      return await use(app);
    } finally {
      await app.close(1000);
    }
  }
  const send = (app: ReturnType<typeof createApp>, location: string, rows: readonly Row[]) =>
    askApp(app, { method: 'POST', url: `/monitor/${location}`, headers: TYPE, payload: text(rows) });
  const read = async (app: ReturnType<typeof createApp>, name: string) =>
    (await askApp(app, { method: 'GET', url: `/monitor/${name}` })).json<Json>();
  const timed = (count: number, from = 0) =>
    events(count, from).map((row, index) => ({ ...row, timestamp: Date.UTC(2026, 0, 1) + 1000 * (from + index) }));

  it('continues after restarts exactly as without them', async () => {
    const folder = path.join(root(), 'restarts');
    const labels = events(300).map(({ id }, index) => ({ id, repaid: index % 3 === 0 ? 0 : 1 }));
    await withService(folder, (app) => send(app, `s/events?${OPTIONS}`, timed(700)));
    await withService(folder, (app) => send(app, 's/labels', labels));
    await withService(folder, (app) => send(app, 's/events', timed(750, 700)));
    const [restarted, view] = await withService(
      folder,
      async (app) =>
        [
          await read(app, 's'),
          await askApp(app, { method: 'GET', url: '/monitor/s/dashboard', headers: { accept: 'text/markdown' } }),
        ] as const,
    );
    await withService(path.join(root(), 'together'), async (app) => {
      await send(app, `s/events?${OPTIONS}`, timed(700));
      await send(app, 's/labels', labels);
      await send(app, 's/events', timed(750, 700));
      const { created_at: _, ...together } = await read(app, 's');
      const { created_at: __, ...apart } = restarted;
      expect(apart).to.deep.equal(together);
      const page = await askApp(app, {
        method: 'GET',
        url: '/monitor/s/dashboard',
        headers: { accept: 'text/markdown' },
      });
      expect(view.payload).to.equal(page.payload);
    });
    expect(restarted).to.include({ n_events: 1450, n_labels: 300 });
  });

  it('stores only the fields that the stream uses', async () => {
    const folder = path.join(root(), 'private');
    await withService(folder, (app) =>
      send(
        app,
        `s/events?${OPTIONS}`,
        events(3).map((row) => ({ ...row, name: 'Jane Roe', income: 12345 })),
      ),
    );
    const stream = path.join(folder, 'streams', readdirSync(path.join(folder, 'streams'))[0] ?? '');
    const stored = readdirSync(stream)
      .map((name) => readFileSync(path.join(stream, name), 'utf8'))
      .join('\n');
    expect(stored)
      .to.include('e1')
      .and.not.match(/Jane|12345|income/);
  });

  it('answers 500 for a damaged stream without internals, and serves the others', async () => {
    const folder = path.join(root(), 'damaged');
    await withService(folder, async (app) => {
      await send(app, `a/events?${OPTIONS}`, events(3));
      await send(app, `b/events?${OPTIONS}`, events(3));
    });
    const streams = path.join(folder, 'streams');
    const [one = ''] = readdirSync(streams).filter((name) =>
      readFileSync(path.join(streams, name, 'stream.json'), 'utf8').includes('"a"'),
    );
    const saved = path.join(streams, one, 'state.json');
    writeFileSync(saved, readFileSync(saved, 'utf8').replace('"sex"', '"age"'));
    await withService(folder, async (app) => {
      const broken = await send(app, 'a/events', events(1, 10));
      expect(broken.statusCode).to.equal(500);
      expect(broken.payload).to.not.match(/state\.json|checksum/);
      expect((await send(app, 'b/events', events(1, 10))).json<Json>()).to.include({ accepted: 1, n_events: 4 });
    });
  });

  it('deletes the files of a stream', async () => {
    const folder = path.join(root(), 'deleted');
    await withService(folder, async (app) => {
      await send(app, `a/events?${OPTIONS}`, events(3));
      await askApp(app, { method: 'DELETE', url: '/monitor/a' });
      expect(readdirSync(path.join(folder, 'streams'))).to.deep.equal([]);
      expect((await send(app, `a/events?${OPTIONS}`, events(3))).json<Json>()).to.include({ accepted: 3, n_events: 3 });
    });
  });
});
