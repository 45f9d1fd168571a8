import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openAsBlob, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { createRandom } from '../../src/internal/random.ts';
import { assertResult, type Note } from './report.ts';

const root = path.resolve(import.meta.dirname, '../..');
const cli = path.join(root, 'dist/cli/main.js');
const bareService = path.join(import.meta.dirname, 'bare-service.mjs');

/** The duration of each load, and the number of connections. */
const SECONDS = 8;
const CONNECTIONS = 32;

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
 */
export async function benchService(data: string | undefined, folder: string, note: Note): Promise<void> {
  const bare = await withService([bareService], (url) => bareRate(url, folder));
  await withService([cli, 'serve', '--port', '0', '--workers', '2', '--json'], async (url, pid) => {
    for (const [withCi, bar] of [
      [false, 5000],
      [true, 2000],
    ] as const) {
      await benchValidate(url, folder, { withCi, bar, bare }, note);
    }
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

async function benchValidate(
  url: string,
  folder: string,
  { withCi, bar, bare }: { readonly withCi: boolean; readonly bar: number; readonly bare: number },
  note: Note,
): Promise<void> {
  const body = await writeBody(folder, { with_ci: withCi, threshold: 0.1 });
  const { requests, latency } = await warmLoad(`${url}/validate`, body);
  await assertKept(url);
  const rate = Math.round(requests.average);
  const work = `a request of POST /validate, 1,000 rows, ${withCi ? 'with' : 'without'} interval, 2 workers: ${String(rate)} a second, p99 ${String(latency.p99)} ms; ${(rate / bare).toFixed(2)} of what a bare Koa app reaches that only parses and counts`;
  note({ id: 'B7', work, seconds: SECONDS, bar: `${String(bar)} a second`, holds: rate >= bar });
}

/** Returns the number of requests per second that the bare service answers. */
async function bareRate(url: string, folder: string): Promise<number> {
  const { requests } = await warmLoad(url, await writeBody(folder, {}));
  return requests.average;
}

async function writeBody(folder: string, options: object): Promise<string> {
  const body = path.join(folder, 'validate.json');
  await writeFile(body, JSON.stringify({ ...rows(1000), ...options }));
  return body;
}

/** Runs a load after a short warm-up, so that code is compiled before the measurement. */
async function warmLoad(url: string, body: string): Promise<Load> {
  await load(url, body, 2);
  const measured = await load(url, body, SECONDS);
  const { non2xx, errors, timeouts } = measured;
  assertResult(non2xx === 0 && errors === 0 && timeouts === 0, 'every answer is 200');
  return measured;
}

/** Checks that every listed run can be retrieved, and that there are as many as the store keeps. */
async function assertKept(url: string): Promise<void> {
  const { results } = (await (await fetch(`${url}/results`)).json()) as { results: { run_id: string }[] };
  assertResult(results.length === 500, `500 results are kept, not ${String(results.length)}`);
  const answers = await Promise.all(results.map(({ run_id: id }) => fetch(`${url}/results/${id}`)));
  assertResult(
    answers.every(({ status }) => status === 200),
    'every run that is listed is found',
  );
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
}

function rows(n: number): Record<string, unknown[]> {
  const random = createRandom(7);
  const pick = <T>(values: readonly T[]): T[] =>
    Array.from({ length: n }, () => values[Math.floor(random.next() * values.length)] as T);
  return { y_true: pick([0, 1]), y_pred: pick([0, 1]), sensitive: pick(['female', 'male']) };
}

/** Runs a load from a separate process. */
async function load(url: string, body: string, seconds: number): Promise<Load> {
  const autocannon = createRequire(import.meta.url).resolve('autocannon/autocannon.js');
  const options = ['-j', '-n', '-c', String(CONNECTIONS), '-d', String(seconds), '-m', 'POST', '-i', body];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [autocannon, ...options, '-H', 'content-type=application/json', url],
    { maxBuffer: 2 ** 24 },
  );
  return JSON.parse(stdout) as Load;
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
