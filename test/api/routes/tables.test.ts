import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { strToU8, unzipSync, zipSync } from 'fflate';

import { createApp } from '../../../src/api/app/create-app.ts';
import { loadModel } from '../../../src/training/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { askApp, type Json, useService } from '../../helpers/service.ts';

/** 120 rows: x is 0 to 9, y is 1 if x is above 4, except for every eighth row. */
const ROWS = Array.from({ length: 120 }, (_, row) => ({
  id: `0${String(row)}`,
  x: row % 10,
  s: row % 3 === 0 ? 'a' : 'b',
  y: row % 10 > 4 === (row % 8 !== 0) ? 1 : 0,
  arm: row % 2 === 0 ? 'old' : 'new',
}));
const CSV = ['id,x,s,y,arm', ...ROWS.map(({ id, x, s, y, arm }) => `${id},${x},${s},${y},${arm}`), ''].join('\n');
const TRAIN = { method: 'reductions', features: 'x', T: '3', min_group_size: '5' };

function form(
  fields: Readonly<Record<string, string | readonly string[]>>,
  files: Record<string, string | Uint8Array>,
) {
  const parts = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) parts.append(name, one);
  for (const [name, content] of Object.entries(files))
    parts.append(name, new Blob([typeof content === 'string' ? content : Buffer.from(content)]), `${name}.bin`);
  return parts;
}

/** Returns an archive of one file that has the given size after decompression, according to its directory. */
function withSize(name: string, bytes: number): Uint8Array {
  const archive = Buffer.from(zipSync({ [name]: new Uint8Array(1000) }));
  archive.writeUInt32LE(bytes, archive.indexOf(Buffer.from('PK\u0001\u0002')) + 24);
  return archive;
}

describe('requests with tables', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const service = useService({ limits: { arrayItems: 500 } });
  const trained = async (): Promise<Json> => {
    const answer = await service.formData('/train', form(TRAIN, { file: CSV }));
    expect(answer.statusCode, answer.payload).to.equal(200);
    return answer.json<Json>();
  };

  it('returns a model as an archive that the library loads, and that predicts like the run by its ID', async () => {
    const { run_id: id, download } = await trained();
    expect(download).to.equal(`/results/${String(id)}/model`);
    const { rawPayload, headers } = await service.ask({ method: 'GET', url: String(download) });
    expect(headers['content-type']).to.equal('application/zip');
    const model = path.join(folder(), 'unpacked');
    mkdirSync(model);
    const files = unzipSync(rawPayload);
    for (const [name, content] of Object.entries(files)) writeFileSync(path.join(model, name), content);
    const loaded = await loadModel(model);
    const [first] = await loaded.predictProba([[9]]);

    const byId = await service.post('/predict', { model: id, rows: [{ x: 9 }, { x: 0 }] });
    const byArchive = await service.formData('/predict', form({}, { file: 'x\n9\n0\n', model: rawPayload }));
    const [named, sent] = [byId.json<Json>(), byArchive.json<Json>()];
    expect((named['scores'] as number[])[0]).to.equal(first);
    expect((named['scores'] as number[])[1]).to.be.below(0.5);
    expect(named['predictions']).to.have.lengthOf(2);
    expect(sent['mean_score']).to.equal(named['mean_score']);
    // A file can be large, so its predictions are only in the download.
    expect(sent).to.not.have.property('scores');
  });

  it('predicts rows in a body of several megabytes, which a thread reads, with the model at its end', async () => {
    const { run_id: model } = await trained();
    const note = 'n'.repeat(10_000);
    const rows = Array.from({ length: 400 }, (_, index) => ({ x: index % 10, note }));
    const large = await service.post('/predict', { rows, model });
    expect(large.statusCode, large.payload.slice(0, 500)).to.equal(200);
    const small = await service.post('/predict', { model, rows: rows.map(({ x }) => ({ x })) });
    expect(large.json<Json>()['scores']).to.deep.equal(small.json<Json>()['scores']).and.have.lengthOf(400);
    const wrong: readonly [unknown, number, RegExp][] = [
      [{ rows }, 422, /model must be the run_id/],
      [{ rows, model: 7 }, 422, /model must be the run_id/],
      [{ rows, model: 'no-run' }, 404, /no-run/],
      [{ rows: Array(501).fill({ x: 1, note }), model }, 413, /501 rows/],
      ['{"rows": "' + 'x'.repeat(2e6), 400, /JSON/],
    ];
    for (const [body, status, detail] of wrong) {
      const payload = typeof body === 'string' ? body : JSON.stringify(body);
      const headers = { 'content-type': 'application/json' };
      const answer = await service.ask({ method: 'POST', url: '/predict', headers, payload });
      expect(answer.statusCode, answer.payload).to.equal(status);
      expect(answer.json<Json>()['detail']).to.match(detail);
    }
  });

  it('rejects a JSON body above the limit of the service with 413, for each kind of request', async () => {
    const app = createApp({ keys: [], threads: 1, limits: { jsonBytes: 3000 } });
    try {
      await app.ready();
      const payload = JSON.stringify({ model: 'm', rows: [{ x: 'x'.repeat(3000) }] });
      for (const url of ['/predict', '/calibrate', '/ab-test', '/train', '/validate']) {
        const headers = { 'content-type': 'application/json' };
        const answer = await askApp(app, { method: 'POST', url, headers, payload });
        expect(answer.statusCode, url).to.equal(413);
        expect(answer.payload, url).to.match(/larger than the limit of/);
      }
    } finally {
      await app.close(1000);
    }
  });

  it('keeps the texts of the rows in the download of predictions, and the numbers in Parquet', async () => {
    const { run_id: model } = await trained();
    const answer = await service.formData('/predict', form({ model: String(model) }, { file: CSV }));
    const { download } = answer.json<Json>();
    const { payload } = await service.ask({ method: 'GET', url: String(download) });
    expect(payload.split(/\r?\n/)[0]).to.equal('id,x,s,y,arm,score,prediction');
    expect(payload.split(/\r?\n/)[2]).to.match(/^01,1,b,/);
    const parquet = await service.ask({ method: 'GET', url: `${String(download)}?format=parquet` });
    expect(parquet.rawPayload.subarray(0, 4).toString()).to.equal('PAR1');
  });

  it('predicts with the model of a deleted run no longer, with 404', async () => {
    const { run_id: model } = await trained();
    await service.ask({ method: 'DELETE', url: `/results/${String(model)}` });
    const { statusCode, payload } = await service.post('/predict', { model, rows: [{ x: 1 }] });
    expect(statusCode).to.equal(404);
    expect(payload).to.include(String(model));
  });

  it('compares one table for each arm like one table with both', async () => {
    const options = { outcome: 'y', sensitive: 's', min_group_size: '5' };
    const rows = (arm: string) => [
      'x,s,y',
      ...ROWS.filter((row) => row.arm === arm).map((r) => `${r.x},${r.s},${r.y}`),
      '',
    ];
    const both = await service.formData('/ab-test', form({ ...options, arm: 'arm', control: 'old' }, { file: CSV }));
    const files = { control_file: rows('old').join('\n'), treatment_file: rows('new').join('\n') };
    const two = await service.formData('/ab-test', form(options, files));
    expect(two.statusCode, two.payload).to.equal(200);
    expect(two.json<Json>()['rows']).to.deep.equal(both.json<Json>()['rows']);
    const json = await service.post('/ab-test', {
      control_rows: ROWS.filter(({ arm }) => arm === 'old'),
      treatment_rows: ROWS.filter(({ arm }) => arm === 'new'),
      ...{ outcome: 'y', sensitive: ['s'], min_group_size: 5 },
    });
    expect(json.json<Json>()['rows']).to.deep.equal(both.json<Json>()['rows']);
  });

  it('warns of people with several rows, of which some are held out', async () => {
    const people = (name: string): string =>
      CSV.split('\n').map((line, row) => (row === 0 ? `${line},${name}` : line && `${line},p${String(row >> 2)}`)).join('\n'); // prettier-ignore
    const note =
      /column 'person' has about 3\.\d rows for each of its values, and some may be trained on while others are held out/;
    const warningsOf = async (url: string, fields: Record<string, string>, files: Record<string, string>) => {
      const answer = await service.formData(url, form(fields, files));
      expect(answer.statusCode, answer.payload).to.equal(200);
      const { run_id: id, warnings } = answer.json<{ run_id: string; warnings: string[] }>();
      return {
        warnings: warnings.join(),
        page: (await service.ask({ method: 'GET', url: `/results/${id}`, headers: { accept: 'text/markdown' } }))
          .payload,
      };
    };
    const file = people('person');
    const trained = await warningsOf('/train', TRAIN, { file });
    expect(trained.warnings).to.match(note);
    expect(trained.page).to.include('rows for each of its values, and some may be trained on');
    const sweep = await warningsOf(
      '/train',
      { method: 'regularized', features: 'x', etas: '0,1', epochs: '1', min_group_size: '5' },
      { file },
    );
    expect(sweep.warnings).to.match(note);
    expect(sweep.page).to.include('Training sweep').and.include('some may be trained on');
    expect((await warningsOf('/train', TRAIN, { file, test_file: file })).warnings).not.to.match(note);
    const scores = { score: 'p', y_true: 'y', sensitive: 's' };
    const scored = file.replace('id,x,', 'id,p,').replaceAll(/^(\d+),(\d)/gm, '$1,0.$2');
    expect((await warningsOf('/calibrate', scores, { file: scored })).warnings).to.match(note);
    expect((await warningsOf('/calibrate', { ...scores, folds: '1' }, { file: scored })).warnings).not.to.match(note);
  });

  it('trains on one table and evaluates on another', async () => {
    const answer = await service.formData('/train', form(TRAIN, { file: CSV, test_file: CSV }));
    expect(answer.json<Json>()).to.include({ n_train: 120, n_test: 120 });
  });

  it('reads lists as a comma list, as JSON, and as repeated fields', async () => {
    const given: (string | string[])[] = ['x,id', '["x","id"]', ['x', 'id']];
    const warnings = new Set<string>();
    for (const features of given) {
      const answer = await service.formData('/train', form({ ...TRAIN, features }, { file: CSV }));
      expect(answer.statusCode, answer.payload).to.equal(200);
      warnings.add(JSON.stringify(answer.json<Json>()['final']));
    }
    expect(warnings.size).to.equal(1);
  });

  it('reports the progress of a training, and cancels it', async () => {
    const sizes = { epochs: '2000', patience: '2000', min_group_size: '5' };
    const slow = { method: 'lagrangian', features: 'x', backend: 'cpu', ...sizes };
    let events = '';
    // The first attempts may be cancelled before the training has begun.
    for (let millis = 250; millis < 20_000 && !events.includes('event: progress'); millis *= 2) {
      const accepted = await service.formData('/train', form(slow, { file: CSV }), { prefer: 'respond-async' });
      const url = `/results/${String(accepted.json<Json>()['run_id'])}`;
      const following = service.ask({ method: 'GET', url: `${url}/events` });
      await new Promise((resolve) => setTimeout(resolve, millis));
      expect((await service.ask({ method: 'DELETE', url })).json<Json>()['status']).to.equal('cancelled');
      events = (await following).payload;
      expect(events).to.match(/event: status\ndata: \{"status":"cancelled"\}\n\n$/);
    }
    expect(events).to.include('training');
    // The only thread is free again, because the job has stopped.
    const start = performance.now();
    await trained();
    expect(performance.now() - start).to.be.below(15_000);
  });

  const rows = ROWS.slice(0, 4);
  const invalid: readonly [string, string, unknown, number, string, RegExp][] = [
    ['no rows', '/calibrate', {}, 422, '/rows', /rows are missing/],
    ['an empty list', '/calibrate', { rows: [] }, 422, '/rows', /no rows/],
    ['a row that is a number', '/calibrate', { rows: [1] }, 422, '/rows/0', /must be an object/],
    ['a nested value', '/calibrate', { rows: [{ p: [1] }] }, 422, '/rows/0/p', /not a plain value/],
    ['columns of different lengths', '/calibrate', { rows: { p: [1], y: [1, 0] } }, 422, '/rows/y', /has 2 values/],
    ['too many rows', '/calibrate', { rows: { p: Array(501).fill(0.5) } }, 413, '/rows', /501 rows/],
    ['a label that loses digits', '/calibrate', { rows: [{ g: 1 }] }, 400, '/rows/0/g', /digits/],
    ['both folds and train_size', '/calibrate', { rows, folds: 2, train_size: 0.5 }, 422, '/folds', /either/],
    ['an unknown field', '/calibrate', { rows, metod: 'platt' }, 422, '/metod', /method/],
    ['an unknown method', '/train', { rows, method: 'magic' }, 422, '/method', /one of/],
    ['no method', '/train', { rows }, 422, '/method', /method/],
    ['an option of another method', '/train', { rows, method: 'lagrangian', eps: 1 }, 422, '/eps', /lagrangian/],
    ['an arm without its column', '/ab-test', { rows, outcome: 'y', sensitive: 's' }, 422, '/arm', /arm is missing/],
    [
      'one arm alone',
      '/ab-test',
      { control_rows: rows, outcome: 'y', sensitive: 's' },
      422,
      '/treatment_rows',
      /missing/,
    ],
    [
      'an unknown metric',
      '/ab-test',
      { rows, arm: 'arm', outcome: 'y', sensitive: 's', metric: 'x' },
      422,
      '/metric',
      /metric/,
    ],
    ['a body that is a list', '/train', [], 422, '', /object/],
    ['no model', '/predict', { rows }, 422, '/model', /model/],
  ];
  for (const [title, url, body, status, pointer, detail] of invalid) {
    it(`rejects ${title} with ${String(status)}`, async () => {
      const text = JSON.stringify(body).replace('{"g":1}', '{"g":12345678901234567890}');
      const { statusCode, payload } = await service.post(url, text);
      expect(statusCode, payload).to.equal(status);
      const problem = JSON.parse(payload) as { detail: string; errors?: { pointer: string }[]; suggestion: string };
      if (pointer !== '') expect(problem.errors?.[0]?.pointer, payload).to.equal(pointer);
      expect(problem.detail).to.match(detail);
      expect(problem.suggestion).to.be.a('string');
    });
  }

  const archives: readonly [string, () => Uint8Array, RegExp][] = [
    ['no ZIP archive', () => strToU8('hello'), /not a complete ZIP archive/],
    ['an archive that ends too early', () => zipSync({ 'card.json': strToU8('{}') }).subarray(0, 30), /not a complete/],
    ['a name outside the folder', () => zipSync({ '../../x': strToU8('x') }), /not that of a model's file/],
    ['an absolute name', () => zipSync({ '/etc/x': strToU8('x') }), /not that of a model's file/],
    ['no card', () => zipSync({ 'model.json': strToU8('{}') }), /no file card.json/],
    ['a card that is not one', () => zipSync({ 'card.json': strToU8('{}') }), /^Cannot load the model: card\.json/],
    ['a compression bomb', () => withSize('card.json', 2 ** 29), /more than 256 MiB/],
  ];
  for (const [title, archive, detail] of archives) {
    it(`rejects a model that is ${title} with 422, and reveals no path`, async () => {
      const { statusCode, payload } = await service.formData(
        '/predict',
        form({}, { file: 'x\n1\n', model: archive() }),
      );
      expect(statusCode, payload).to.equal(422);
      const problem = JSON.parse(payload) as { detail: string; errors: readonly { pointer: string }[] };
      expect(problem.detail).to.match(detail);
      expect(problem.errors.map(({ pointer }) => pointer)).to.deep.equal(['/model']);
      expect(payload).to.not.match(/\/tmp\/|evenhand-\d/);
    });
  }

  it('finds the model in an archive of its folder', async () => {
    const { download } = await trained();
    const { rawPayload } = await service.ask({ method: 'GET', url: String(download) });
    const inside = Object.fromEntries(
      Object.entries(unzipSync(rawPayload)).map(([name, file]) => [`adult/${name}`, file]),
    );
    const answer = await service.formData('/predict', form({}, { file: 'x\n1\n', model: zipSync(inside) }));
    expect(answer.statusCode, answer.payload).to.equal(200);
  });

  it('names the field of a column that does not exist', async () => {
    const { payload } = await service.formData('/calibrate', form({ score: 'p' }, { file: CSV }));
    const { errors } = JSON.parse(payload) as { errors: { pointer: string }[] };
    expect(errors[0]?.pointer).to.equal('/score');
  });

  it('saves the calibrator in the archive of a calibration', async () => {
    const scored = `score,y,g\n${ROWS.map(({ x, y, s }) => `${x / 10},${y},${s}`).join('\n')}\n`;
    const { run_id: id } = (await service.formData('/calibrate', form({}, { file: scored }))).json<Json>();
    const { rawPayload } = await service.ask({ method: 'GET', url: `/results/${String(id)}/model` });
    const calibrator = Buffer.from(unzipSync(rawPayload)['calibrator.json'] ?? []).toString();
    expect(JSON.parse(calibrator)).to.include({ kind: 'group_fairness_calibrator' });
  });

  const forms: readonly [string, Record<string, string | string[]>, Record<string, string>, string, RegExp][] = [
    ['no table', { sensitive: 's' }, {}, '/file', /no table/],
    ['rows and counts', { sensitive: 's' }, { file: CSV, counts: CSV }, '/file', /rows and counts/],
    ['no decisions', { sensitive: 's' }, { file: CSV }, '/y_pred', /y_pred is missing/],
    [
      'roles of columns with counts',
      { sensitive: 's', y_pred: 'y' },
      { counts: CSV },
      '/y_pred',
      /y_pred names a column of rows/,
    ],
    ['counts without n', { sensitive: 's' }, { counts: CSV }, '', /'n'|counts/],
    ['an unknown column', { sensitive: 'sex', y_pred: 'y' }, { file: CSV }, '/sensitive', /no column 'sex'/],
    ['gates that are not JSON', { sensitive: 's', y_pred: 'y', gates: '{' }, { file: CSV }, '/gates', /gates/],
    ['a number that is text', { sensitive: 's', y_pred: 'y', ci_level: 'x' }, { file: CSV }, '/ci_level', /ci_level/],
    ['a repeated option', { sensitive: 's', y_pred: ['y', 'y'] }, { file: CSV }, '/y_pred', /occurs twice/],
  ];
  for (const [title, fields, files, pointer, detail] of forms) {
    it(`rejects a form of /validate with ${title}`, async () => {
      const { statusCode, payload } = await service.formData('/validate', form(fields, files));
      expect(statusCode, payload).to.equal(422);
      const problem = JSON.parse(payload) as { detail: string; errors?: { pointer: string }[] };
      if (pointer !== '') expect(problem.errors?.[0]?.pointer, payload).to.equal(pointer);
      expect(problem.detail).to.match(detail);
    });
  }

  it('gives no model for a run without one', async () => {
    const { run_id: id } = (await service.post('/validate', { y_pred: [1, 0], sensitive: ['a', 'b'] })).json<Json>();
    const { statusCode, payload } = await service.ask({ method: 'GET', url: `/results/${String(id)}/model` });
    expect(statusCode).to.equal(404);
    expect(payload).to.include('Runs of /validate have no model.');
  });

  const rejected: readonly [string, string, Record<string, string>, string][] = [
    [
      'a pipeline with an unknown transformer',
      '/pipeline',
      { config: 'sensitive: [s]\npipeline:\n  - { name: a, transformer: Nope }\n' },
      '/config/pipeline/0',
    ],
    ['a pipeline with invalid YAML', '/pipeline', { config: 'sensitive: [s' }, '/config'],
    [
      'a pipeline whose configuration is long',
      '/pipeline',
      { config: `sensitive: 7 # ${'x'.repeat(20_000)}\n` },
      '/config/sensitive',
    ],
    ['a pipeline with an unknown profile', '/pipeline', { config: 'sensitive: [s]\n', profile: 'nope' }, ''],
    ['a workflow with an invalid field', '/workflow', { config: 'sensitive: [s]\n', train_size: '7' }, '/train_size'],
    ['a training with an invalid option', '/train', { method: 'reductions', T: '0' }, '/T'],
    ['a calibration with an unknown method', '/calibrate', { method: 'magic' }, '/method'],
    ['a validation without columns', '/validate', { y_pred: 'y' }, '/sensitive'],
  ];
  for (const [title, url, fields, pointer] of rejected) {
    it(`answers ${title} with 422 before 202, and stores no run`, async () => {
      const before = (await service.ask({ method: 'GET', url: '/results' })).json<{ results: Json[] }>().results.length;
      const answer = await service.formData(url, form(fields, { file: CSV }), { prefer: 'respond-async' });
      expect(answer.statusCode, answer.payload).to.equal(422);
      const { errors = [] } = answer.json<{ errors?: { pointer: string }[] }>();
      expect(errors.map((one) => one.pointer).join(), answer.payload).to.include(pointer);
      expect(answer.payload).to.not.match(/\/tmp\/|run_id/);
      const { results } = (await service.ask({ method: 'GET', url: '/results' })).json<{ results: Json[] }>();
      expect(results.length).to.equal(before);
    });
  }

  const refused: readonly [string, string, object, string][] = [
    ['a calibration with an unknown method', '/calibrate', { rows: ROWS, method: 'magic' }, '/method'],
    ['a calibration with rows that are no rows', '/calibrate', { rows: 7 }, '/rows'],
    ['a training with an invalid option', '/train', { rows: ROWS, method: 'reductions', T: 0 }, '/T'],
    ['a training with an unknown field', '/train', { rows: ROWS, method: 'reductions', magic: 1 }, '/magic'],
    ['an A/B test with an invalid level', '/ab-test', { rows: ROWS, arm: 'g', outcome: 'y', sensitive: 's', alpha: 7 }, '/alpha'], // prettier-ignore
    ['a validation without groups', '/validate', { y_pred: [0, 1] }, '/sensitive'],
  ];
  for (const [title, url, body, pointer] of refused) {
    it(`answers ${title} in a JSON body with 422 before 202, and stores no run`, async () => {
      const answer = await service.post(url, body, { prefer: 'respond-async' });
      expect(answer.statusCode, answer.payload).to.equal(422);
      const { errors = [] } = answer.json<{ errors?: { pointer: string }[] }>();
      expect(errors.map((one) => one.pointer).join(), answer.payload).to.include(pointer);
      expect(answer.payload).to.not.match(/\/tmp\/|run_id/);
    });
  }

  it('answers an evaluation with an invalid configuration with 422 before 202', async () => {
    const answer = await service.post('/llm-eval', { provider: 'nobody' }, { prefer: 'respond-async' });
    expect(answer.statusCode, answer.payload).to.equal(422);
    const valid = {
      provider: 'local',
      prompt_templates: { a: 'Hello {x}.' },
      counterfactual: { dimensions: { x: ['a', 'b'] } },
    };
    expect((await service.post('/llm-eval', valid, { prefer: 'respond-async' })).statusCode).to.equal(202);
  });
});
