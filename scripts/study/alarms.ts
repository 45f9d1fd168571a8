/**
 * Measures the false alarms and the detection delays of a monitored stream:
 *
 *     npm run study:alarms             # writes docs/alarms.md and docs/alarms.csv
 *     npm run study:alarms -- --quick  # a tenth of the runs, printed only
 *
 * Options: --seed (2026), --workers (threads, one for each core), --only (ids of cells, separated by commas; printed
 * only). With --redis URL, other processes simulate, on any host: start them with --redis URL --serve.
 * Exits 1 if an acceptance criterion is missed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { format, resolveConfig } from 'prettier';

import { ALARM_CELLS, type AlarmChunk, type RunOutcome } from './alarms/design.ts';
import { alarmCsv, alarmMarkdown } from './alarms/report.ts';
import { alarmVerdicts } from './alarms/verdicts.ts';
import { type Pool, POOL_OPTIONS, serveStudy, simulateAll } from './pool.ts';

/** The number of runs per message to a worker. Every run has its own seed, so it does not affect the results. */
const CHUNK = 10;
const WORKER = new URL('./alarms/worker.mjs', import.meta.url);
const REPORT = new URL('../../docs/alarms.md', import.meta.url);
const FIGURES = new URL('../../docs/alarms.csv', import.meta.url);

const { values: args } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '2026' },
    ...POOL_OPTIONS,
    only: { type: 'string' },
  },
});
const pool: Pool = { ...args, worker: WORKER, kind: 'alarms' };
if (args.serve) {
  await serveStudy(pool);
  process.exit(0);
}
const seed = Number(args.seed);
const only = args.only?.split(',');
const cells = ALARM_CELLS.filter(({ id }) => only === undefined || only.includes(id));

const chunks = cells.flatMap((cell) => {
  const runs = args.quick ? cell.runs / 10 : cell.runs;
  return Array.from({ length: Math.ceil(runs / CHUNK) }, (_, index): AlarmChunk => {
    const firstRun = index * CHUNK;
    const cellIndex = ALARM_CELLS.indexOf(cell);
    return { cell, cellIndex, firstRun, runs: Math.min(CHUNK, runs - firstRun), seed };
  });
});
const started = performance.now();
const answers = await simulateAll<RunOutcome[]>(pool, chunks, (done) => {
  if (done % 20 !== 0 && done !== chunks.length) return;
  const seconds = (performance.now() - started) / 1000;
  process.stderr.write(`${done} of ${chunks.length} parts, ${seconds.toFixed(0)} s\n`);
});
const results = cells.map((cell) => ({
  cell,
  runs: answers.filter((_, index) => chunks[index]?.cell === cell).flat(),
}));

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const report = await format(alarmMarkdown(results, { command: 'npm run study:alarms', version, seed }), {
  ...(await resolveConfig(REPORT)),
  parser: 'markdown',
});
if (args.quick || only !== undefined) process.stdout.write(report);
else await Promise.all([writeFile(REPORT, report), writeFile(FIGURES, alarmCsv(results))]);
for (const { text, isMet } of alarmVerdicts(results)) process.stderr.write(`${isMet ? 'met' : 'MISSED'}: ${text}\n`);
process.exitCode = alarmVerdicts(results).every(({ isMet }) => isMet) ? 0 : 1;
