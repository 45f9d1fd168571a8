// Keeps a service busy and watches its memory: requests with arrays and files, events of a stream, and invalid requests,
// eight at a time. Exits with 1 if an answer has an unexpected status, or if the memory grows. Run from the root of the
// project, after `npm run build`:
//   node --import tsx scripts/soak.ts [--minutes 30]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const CONCURRENCY = 8;
const ROWS = 1000;
const SAMPLE_MILLIS = 2000;
/** The growth of the mean resident memory from the second fifth of the time to the last that is still noise. */
const MAX_GROWTH = 1.25;

/** A request with the status that it must have. */
interface Soaked {
  readonly route: string;
  readonly type: string;
  readonly body: string;
  readonly status: number;
}

/** Returns the n-th request. Requests differ, so that no cache answers them all. */
export function requestAt(n: number): Soaked {
  const rows = Array.from({ length: ROWS }, (_, row) => [(row * (n + 7)) % 3 === 0 ? 1 : 0, row % 2 === 0 ? 'a' : 'b'] as const); // prettier-ignore
  const json = 'application/json';
  switch (n % 4) {
    case 0: {
      const body = JSON.stringify({ y_pred: rows.map(([p]) => p), sensitive: rows.map(([, g]) => g), seed: n });
      return { route: '/validate', type: json, body, status: 200 };
    }
    case 1: {
      const body = `p,g\n${rows.map((row) => row.join(',')).join('\n')}\n`;
      return { route: `/validate?y_pred=p&sensitive=g&seed=${String(n)}`, type: 'text/csv', body, status: 200 };
    }
    case 2: {
      const events = rows
        .slice(0, 100)
        .map(([p, g], row) => JSON.stringify({ id: `${String(n)}-${String(row)}`, p, g }));
      const route = '/monitor/soak/events?y_pred=p&sensitive=g';
      return { route, type: 'application/x-ndjson', body: `${events.join('\n')}\n`, status: 200 };
    }
    default:
      return { route: '/validate', type: json, body: '{"y_pred": [1, 0', status: 400 };
  }
}

/** Returns how much the mean of the last fifth exceeds that of the second fifth, which is after the warm-up. */
export function growthOf(samples: readonly number[]): number {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const mean = (part: readonly number[]): number => part.reduce((sum, each) => sum + each, 0) / part.length;
  return mean(samples.slice(-fifth)) / mean(samples.slice(fifth, 2 * fifth));
}

/** Returns the resident memory of the service in bytes, from its metrics. */
async function residentBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, value] = /^evenhand_process_resident_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(text) ?? [];
  if (value === undefined)
    throw new Error('The metrics of the service have no evenhand_process_resident_memory_bytes.');
  return Number(value);
}

async function soak(url: string, minutes: number): Promise<readonly string[]> {
  const end = performance.now() + minutes * 60_000;
  const problems: string[] = [];
  const samples: number[] = [];
  let sent = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end && problems.length < 10) {
      const { route, type, body, status } = requestAt(sent++);
      const answer = await fetch(url + route, { method: 'POST', headers: { 'content-type': type }, body });
      const text = await answer.text();
      if (answer.status !== status) problems.push(`POST ${route}: ${String(answer.status)} ${text.slice(0, 300)}`);
    }
  };
  const watch = async (): Promise<void> => {
    while (performance.now() < end && problems.length < 10) {
      samples.push(await residentBytes(url));
      await pause(SAMPLE_MILLIS);
    }
  };
  await Promise.all([...Array.from({ length: CONCURRENCY }, client), watch()]);
  const growth = growthOf(samples);
  const megabytes = samples.map((bytes) => Math.round(bytes / 1e6));
  console.log(`${String(sent)} requests in ${String(minutes)} minutes; resident memory ${String(megabytes[0])} MB at the start, at most ${String(Math.max(...megabytes))} MB, ${String(megabytes.at(-1))} MB at the end; growth after the warm-up: ${growth.toFixed(2)} times`); // prettier-ignore
  return growth > MAX_GROWTH ? [...problems, `The memory grew ${growth.toFixed(2)} times.`] : problems;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0; got '${values.minutes}'.`);
  const main = path.resolve(import.meta.dirname, '../dist/cli/main.js');
  const service = spawn(process.execPath, [main, 'serve', '--port', '0', '--json'], {
    env: { ...process.env, EVENHAND_LOG_LEVEL: 'error', EVENHAND_API_KEYS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(service.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { readonly url: string };
  try {
    const problems = await soak(url, minutes);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    service.kill();
  }
}
