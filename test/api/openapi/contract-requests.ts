import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { InjectOptions, Response } from 'light-my-request';

import type { ServiceApp } from '../../../src/api/app/app-options.ts';
import { createAppOf } from '../../../src/api/app/process-app.ts';
import { writeArchive } from '../../../src/api/jobs/model-archive.ts';
import type { Service } from '../../../src/api/context/service-context.ts';
import { type OperationId, OPERATIONS } from '../../../src/api/openapi/operation-ids.ts';
import { LLM_EVAL_EXAMPLES, TABLE_EXAMPLES, VALIDATE_EXAMPLES } from '../../../src/api/openapi/operations.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { LogisticRegression, saveModel } from '../../../src/training/index.ts';
import { askApp } from '../../helpers/service.ts';
import { serviceWith } from '../middleware/bare-app.ts';

type Headers = Readonly<Record<string, string>>;

/** The request of an operation, besides its method and path. */
export interface Asked {
  readonly runId?: string;
  readonly stream?: string;
  readonly query?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

export const ALL = Object.keys(OPERATIONS) as OperationId[];
export const RUNS = [
  ...(['validate', 'runPipeline', 'runWorkflow', 'evaluateLlm'] as const),
  ...(['predict', 'calibrate', 'compareArms', 'train'] as const),
] as const;
export const RESULTS = ['getResult', 'deleteResult', 'getResultData', 'getResultModel', 'followResult'] as const;
export const STREAM_LINES = ['addEvents', 'addLabels'] as const;
export const ASYNC = { prefer: 'respond-async' };
export const CONFIG = 'sensitive: [g]\npipeline:\n  - { name: weigh, transformer: InstanceReweighting }\n';
const TRAINING =
  'sensitive: [g]\nfeatures: [x]\ntraining: { method: reductions, target_column: y }\nvalidation_threshold: 0.3\n';
const ROWS = [
  'g,x,y',
  ...Array.from({ length: 120 }, (_, row) => `${row % 2 === 0 ? 'a' : 'b'},${row % 7},${row % 3 === 0 ? 1 : 0}`),
].join('\n');

/** Returns a form with a file, and perhaps the archive of a model. */
export function form(file: string, fields: Readonly<Record<string, string>>, model?: Buffer): Asked {
  const boundary = 'a-boundary-of-tests';
  const part = (name: string, content: string | Buffer, fileName?: string): Buffer[] => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"`),
    Buffer.from(fileName === undefined ? '\r\n\r\n' : `; filename="${fileName}"\r\ncontent-type: text/csv\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ];
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([
      ...part('file', file, 'rows.csv'),
      ...Object.entries(fields).flatMap(([name, value]) => part(name, value)),
      ...(model === undefined ? [] : part('model', model, 'model.zip')),
      Buffer.from(`--${boundary}--\r\n`),
    ]),
  };
}

export function jsonBody(value: unknown, headers: Headers = {}): Asked {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** Returns the archive of a small model of x. */
async function smallModel(): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-contract-'));
  try {
    const model = await new LogisticRegression().fit([[1], [2], [3], [4]], [0, 0, 1, 1]);
    await saveModel(model, path.join(folder, 'model'), { features: ['x'] });
    await writeArchive(path.join(folder, 'model'), path.join(folder, 'model.zip'));
    return readFileSync(path.join(folder, 'model.zip'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Valid requests for each kind of run. */
export const GOOD: Readonly<Record<(typeof RUNS)[number], Asked>> = {
  validate: jsonBody(VALIDATE_EXAMPLES.decisions.value),
  runPipeline: form(ROWS, { config: CONFIG }),
  runWorkflow: form(ROWS, { config: TRAINING, min_group_size: '5' }),
  evaluateLlm: jsonBody(LLM_EVAL_EXAMPLES.yaml.value),
  predict: form(ROWS, {}, await smallModel()),
  calibrate: jsonBody(TABLE_EXAMPLES.calibrate.value),
  compareArms: jsonBody(TABLE_EXAMPLES.compareArms.value),
  train: jsonBody(TABLE_EXAMPLES.train.value),
};

export function ask(app: Pick<ServiceApp, 'callback'>, id: OperationId, asked: Asked = {}): Promise<Response> {
  const [method, route] = OPERATIONS[id];
  const { runId = 'no-run', stream = 'no-stream', query = '', headers = {}, body } = asked;
  const options: InjectOptions = {
    method: method.toUpperCase() as 'GET',
    url: `${route.replace('{run_id}', runId).replace('{stream}', stream)}${query === '' ? '' : `?${query}`}`,
    headers: { host: '127.0.0.1', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  };
  return askApp(app, options);
}

/** Creates the service with the given parts. */
export function appWith(parts: Partial<Service>): Pick<ServiceApp, 'callback'> {
  return createAppOf(serviceWith(parts), async (_, next) => {
    await next();
  });
}

/** Returns a request with JSON lines. */
export function lines(body: string): Asked {
  return { headers: { 'content-type': 'application/x-ndjson' }, body };
}

export function csv(body: string): Asked {
  return { headers: { 'content-type': 'text/csv' }, body };
}

/** Returns an invalid request. If it is JSON, it also violates the document. */
export function wrongFields(id: (typeof RUNS)[number]): Asked {
  if (id === 'validate') return jsonBody({ y_pred: [1, 0], sensitive: ['a', 'b'], surprise: true });
  if (id === 'evaluateLlm') return jsonBody({ config: 'provider: local\n', surprise: true });
  if (id === 'calibrate') return jsonBody({ ...TABLE_EXAMPLES.calibrate.value, surprise: true });
  if (id === 'compareArms') return jsonBody({ ...TABLE_EXAMPLES.compareArms.value, surprise: true });
  if (id === 'train') return jsonBody({ ...TABLE_EXAMPLES.train.value, surprise: true });
  if (id === 'predict') return form(ROWS, {});
  return form(ROWS, { config: 'sensitive: 7\n' });
}

export function endedRun(endpoint: string, status: 'cancelled' | 'failed'): RunRecord {
  return {
    runId: 'r',
    endpoint: endpoint as RunRecord['endpoint'],
    status,
    createdAt: '2026-01-31T09:30:00.000Z',
    finishedAt: '2026-01-31T09:30:01.000Z',
    body: null,
    problem:
      status === 'failed'
        ? new ServiceProblem(502, { detail: 'The provider answered 500.', runId: 'r' }).toJSON()
        : null,
    lastEventId: 3,
    files: [],
  };
}

/** Sends the beginning of a body and waits for the answer. */
export function askHalf(
  port: number,
  url: string,
  type: string,
): Promise<{ statusCode: number; headers: Record<string, string>; payload: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: 500\r\n\r\n{"a"`,
      );
    });
    let text = '';
    socket.setTimeout(20_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data) => {
      text += data.toString();
      const [head = '', payload] = text.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line): [string, string] => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      if (payload === undefined || Buffer.byteLength(payload) < Number(headers['content-length'] ?? 0)) return;
      socket.destroy();
      resolve({ statusCode: Number(first.split(' ')[1]), headers, payload });
    });
    socket.on('error', reject);
  });
}
