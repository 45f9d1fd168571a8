import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openAsBlob, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { loadavg } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { validateRows } from '../../src/integration/validate-rows.ts';
import { validationToJson } from '../../src/integration/validation-report.ts';
import { camelFields } from '../../src/internal/arguments.ts';
import { createRandom } from '../../src/internal/random.ts';
import { assertResult, type Note } from './report.ts';

const root = path.resolve(import.meta.dirname, '../..');
const cli = path.join(root, 'dist/cli/main.js');
const bareService = path.join(import.meta.dirname, 'bare-service.mjs');
const fairlearnService = path.join(import.meta.dirname, 'fairlearn-service.py');
const loadScript = path.join(import.meta.dirname, 'load.mjs');

/** The duration of each load in seconds, the number of connections, and how often all loads are repeated. */
const SECONDS = 4;
const CONNECTIONS = 32;
const ROUNDS = 5;

/** The number of different bodies, and the rows of each. */
const BODIES = 256;
const ROWS = 1000;

/** The fields of an autocannon result that are used here. */
interface Load {
  readonly requests: { readonly average: number; readonly total: number };
  readonly latency: { readonly p99: number };
  readonly '2xx': number;
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
}

/**
 * B7: measures POST /validate under load from another process, /health during a workflow, and memory during many
 * uploads.
 * @param python a Python with FastAPI and fairlearn, which are then measured beside this service
 */
export async function benchService(
  {
    data,
    folder,
    python,
  }: { readonly data: string | undefined; readonly folder: string; readonly python?: string | undefined },
  note: Note,
): Promise<void> {
  await withService([bareService], (bareUrl) =>
    withService([cli, 'serve', '--port', '0', '--workers', '2', '--json'], (url) =>
      benchValidate({ url, bareUrl, folder }, note),
    ),
  );
  await withService([cli, 'serve', '--port', '0', '--workers', '2', '--json'], async (url, pid) => {
    if (python !== undefined) await benchFairlearn({ url, folder, python }, note);
    if (data !== undefined) await benchHealth(url, data, note);
    await benchUploads(url, pid, note);
  });
}

/** Starts a service, waits until it listens, and ends it after the work. */
async function withService<T>(args: readonly string[], work: (url: string, pid: number) => Promise<T>): Promise<T> {
  const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: root });
  try {
    return await work(await urlOf(service), service.pid ?? 0);
  } finally {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
}

/** Returns the URL from the first line of `serve --json`. */
async function urlOf(service: ChildProcess): Promise<string> {
  if (service.stdout === null) throw new Error('the service has no stdout');
  for await (const line of createInterface({ input: service.stdout })) {
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('the service ended before it listened');
}

/** The requests of a case, and the share of the bare app's rate that it must reach. */
const CASES = [
  { options: { with_ci: false, threshold: 0.1 }, name: 'without', bar: 0.65 },
  { options: { with_ci: true, threshold: 0.1 }, name: 'with', bar: 0.4 },
] as const;

/**
 * Measures the service and the bare app in turns, because other work on the machine changes the rates. The ratio is the
 * median of the ratios of all rounds. Every body is sent and compared with the library before, and the results that the
 * service keeps are compared after each load.
 */
async function benchValidate(
  { url, bareUrl, folder }: { readonly url: string; readonly bareUrl: string; readonly folder: string },
  note: Note,
): Promise<void> {
  const bodies = manyRows();
  const bareFile = await writeBodies(folder, 'bare', bodies);
  const cases = await Promise.all(
    CASES.map(async (one) => {
      const own = bodies.map((body) => ({ ...body, ...one.options }));
      const expected = await expectedAnswers(own);
      return { ...one, own, expected, file: await writeBodies(folder, one.name, own), rates: [] as Rate[] };
    }),
  );
  for (const { own, expected } of cases) await assertAnswers(url, own, expected);
  await load(bareUrl, bareFile, 2);
  for (const { file } of cases) await load(`${url}/validate`, file, 2);
  for (let round = 0; round < ROUNDS; round++) {
    const bare = (await load(bareUrl, bareFile, SECONDS)).requests.average;
    for (const { file, expected, rates } of cases) {
      const { requests, latency } = await load(`${url}/validate`, file, SECONDS);
      rates.push({ rate: requests.average, ratio: requests.average / bare, p99: latency.p99 });
      await assertKept(url, expected);
    }
  }
  for (const { name, bar, rates } of cases) {
    const ratio = median(rates.map((one) => one.ratio));
    const all = rates.map((one) => one.ratio.toFixed(2)).join(', ');
    const work = `requests of POST /validate, 1,000 rows, ${name} interval, 2 workers: ${median(rates.map(({ rate }) => rate)).toFixed(0)} a second, p99 ${String(median(rates.map(({ p99 }) => p99)))} ms; ${ratio.toFixed(2)} of what a bare Koa app reaches that only parses and counts (rounds: ${all}; load ${loadavg()[0]?.toFixed(1) ?? ''})`;
    note({ id: 'B7', work, seconds: SECONDS * ROUNDS, bar: `${String(bar)} of the bare app`, holds: ratio >= bar });
  }
}

/** A measured rate in requests per second, and its ratio to the rate of the bare app in the same round. */
interface Rate {
  readonly rate: number;
  readonly ratio: number;
  readonly p99: number;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

/** The minimum ratio to the rate of FastAPI with fairlearn. */
const FAIRLEARN_BAR = 40;

/** Measures the same requests, without interval, with FastAPI and fairlearn in two processes. */
async function benchFairlearn(
  { url, folder, python }: { readonly url: string; readonly folder: string; readonly python: string },
  note: Note,
): Promise<void> {
  const [{ options }] = CASES;
  const bodies = manyRows().map((body) => ({ ...body, ...options }));
  const file = await writeBodies(folder, 'fairlearn', bodies);
  const port = await freePort();
  const peerUrl = `http://127.0.0.1:${String(port)}/validate`;
  const peer = spawn(python, [fairlearnService, String(port)], { stdio: 'ignore' });
  try {
    if (!(await isAnswered(peer, peerUrl, bodies[0]))) {
      console.log('peer  fairlearn-service.py did not run: it needs fastapi, uvicorn and fairlearn');
      return;
    }
    const [expected] = await expectedAnswers(bodies.slice(0, 1));
    const answer = (await post(peerUrl, bodies[0])) as { metrics: Record<string, number> };
    const { metrics } = JSON.parse(expected ?? '') as { metrics: Record<string, { value: number }> };
    for (const [name, value] of Object.entries(answer.metrics)) {
      assertResult(Math.abs(value - (metrics[name]?.value ?? NaN)) < 1e-12, `fairlearn gives the same ${name}`);
    }
    await load(`${url}/validate`, file, 2);
    await load(peerUrl, file, 2);
    const ratios: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < 3; round++) {
      const own = (await load(`${url}/validate`, file, SECONDS)).requests.average;
      rates.push((await load(peerUrl, file, SECONDS)).requests.average);
      ratios.push(own / (rates.at(-1) as number));
    }
    const ratio = median(ratios);
    const work = `requests of POST /validate without interval: ${ratio.toFixed(0)} times the rate of FastAPI with fairlearn in 2 processes (${median(rates).toFixed(0)} a second; rounds: ${ratios.map((one) => one.toFixed(0)).join(', ')})`;
    note({
      id: 'B7',
      work,
      seconds: 3 * SECONDS,
      bar: `${String(FAIRLEARN_BAR)} times`,
      holds: ratio >= FAIRLEARN_BAR,
    });
  } finally {
    const ended = once(peer, 'exit');
    if (peer.exitCode === null && peer.signalCode === null && peer.kill('SIGTERM')) await ended;
  }
}

/** Waits until a peer answers. Returns false if its process ends first. */
async function isAnswered(peer: ChildProcess, url: string, body: unknown): Promise<boolean> {
  peer.on('error', () => undefined);
  for (let attempt = 0; attempt < 600 && peer.exitCode === null && peer.pid !== undefined; attempt++) {
    try {
      await post(url, body);
      return true;
    } catch {
      await pause(100);
    }
  }
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Posts a body and returns the answer. Throws unless the status is 200. */
async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  assertResult(answer.status === 200, `an answer is 200, not ${String(answer.status)}`);
  return answer.json();
}

/** Returns the answers of the library, as JSON. */
async function expectedAnswers(bodies: readonly object[]): Promise<string[]> {
  return Promise.all(
    bodies.map(async (body) => {
      const input = camelFields(body) as unknown as Parameters<typeof validateRows>[0];
      return JSON.stringify(validationToJson(await validateRows(input)));
    }),
  );
}

/** Returns an answer of the service without the fields of the run, as JSON. */
function withoutRun(answer: unknown): string {
  const { run_id: _, status: __, timestamp: ___, ...result } = answer as Record<string, unknown>;
  return JSON.stringify(result);
}

/** Checks that the answer to every body is the answer of the library. */
async function assertAnswers(url: string, bodies: readonly object[], expected: readonly string[]): Promise<void> {
  for (const [index, body] of bodies.entries()) {
    assertResult(
      withoutRun(await post(`${url}/validate`, body)) === expected[index],
      `the answer to body ${String(index)}`,
    );
  }
}

/**
 * Checks that there are as many runs as the store keeps, that each can be retrieved, and that each has an answer of the
 * library.
 */
async function assertKept(url: string, expected: readonly string[]): Promise<void> {
  const { results } = (await (await fetch(`${url}/results`)).json()) as { results: { run_id: string }[] };
  assertResult(results.length === 500, `500 results are kept, not ${String(results.length)}`);
  const known = new Set(expected);
  for (const { run_id: id } of results) {
    const answer = await fetch(`${url}/results/${id}`);
    assertResult(answer.status === 200, 'every run that is listed is found');
    const { result } = (await answer.json()) as { result: unknown };
    assertResult(known.has(withoutRun(result)), 'every kept result is an answer of the library');
  }
}

async function writeBodies(folder: string, name: string, bodies: readonly object[]): Promise<string> {
  const file = path.join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(bodies.map((body) => JSON.stringify(body))));
  return file;
}

/** Returns bodies with different rows, so that no service can answer from the memory of an earlier request. */
function manyRows(): Record<string, unknown[]>[] {
  const random = createRandom(7);
  const pick = <T>(values: readonly T[]): T[] =>
    Array.from({ length: ROWS }, () => values[Math.floor(random.next() * values.length)] as T);
  return Array.from({ length: BODIES }, () => ({
    y_true: pick([0, 1]),
    y_pred: pick([0, 1]),
    sensitive: pick(['female', 'male']),
  }));
}

/** Runs a load from a separate process, and checks that every answer is 200. */
async function load(url: string, file: string, seconds: number): Promise<Load> {
  const args = [loadScript, url, file, String(seconds), String(CONNECTIONS)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  const measured = JSON.parse(stdout) as Load;
  const { non2xx, errors, timeouts } = measured;
  assertResult(non2xx === 0 && errors === 0 && timeouts === 0, 'every answer is 200');
  return measured;
}

async function benchHealth(url: string, data: string, note: Note): Promise<void> {
  const form = new FormData();
  form.set('file', await openAsBlob(path.join(data, 'adult.train.csv')), 'adult.csv');
  form.set('config', readFileSync(path.join(root, 'config/adult.yml'), 'utf8'));
  let isDone = false;
  const workflow = fetch(`${url}/workflow`, { method: 'POST', body: form }).finally(() => {
    isDone = true;
  });
  const millis: number[] = [];
  // The callback of the answer sets the flag, which the linter cannot see.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
  while (!isDone) {
    const start = performance.now();
    await (await fetch(`${url}/health`)).arrayBuffer();
    millis.push(performance.now() - start);
    await pause(5);
  }
  const { status } = await workflow;
  assertResult(status === 200, `the workflow answers 200, not ${String(status)}`);
  assertResult(millis.length >= 200, `${String(millis.length)} answers of /health are enough for a 99th percentile`);
  millis.sort((a, b) => a - b);
  const p99 = millis[Math.ceil(0.99 * millis.length) - 1] as number;
  const work = `GET /health while a workflow on Adult runs, p99 of ${String(millis.length)}`;
  note({ id: 'B7', work, seconds: p99 / 1000, bar: '< 0.02 s', holds: p99 < 20 });
}

/** The number of concurrent uploads, and the bytes of each. */
const UPLOADS = 200;
const UPLOAD_BYTES = 5 * 2 ** 20;

/** The maximum memory of all processes together during the uploads. */
const MAX_UPLOAD_MIB = 700;

async function benchUploads(url: string, pid: number, note: Note): Promise<void> {
  const row = '1,0,female,a text that fills the row up\n';
  const csv = new Blob([`y,p,sex,filler\n${row.repeat(UPLOAD_BYTES / row.length)}${row.replace('female', 'male')}`]);
  let peakMib = 0;
  const watch = setInterval(() => {
    peakMib = Math.max(peakMib, residentMib(pid));
  }, 250);
  const start = performance.now();
  const answers = await Promise.all(
    Array.from({ length: UPLOADS }, async () => {
      const answer = await fetch(`${url}/validate?y_true=y&y_pred=p&sensitive=sex`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: csv,
      });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  clearInterval(watch);
  const seconds = (performance.now() - start) / 1000;
  assertResult(
    answers.every((status) => status === 200),
    'every upload is measured',
  );
  const work = `${String(UPLOADS)} uploads of 5 MiB at once, all processes together`;
  const bar = `< ${String(MAX_UPLOAD_MIB)} MiB`;
  note({ id: 'B7', work, seconds, peakMib, bar, holds: peakMib < MAX_UPLOAD_MIB });
}

/** Returns the resident memory of a process and its children; shared pages are counted proportionally. */
function residentMib(pid: number): number {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
    .trim()
    .split(/\s+/);
  const kib = [String(pid), ...children]
    .filter((one) => one !== '')
    .map((one) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))?.[1]));
  return kib.reduce((sum, count) => sum + count, 0) / 1024;
}
