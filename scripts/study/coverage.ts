/**
 * Measures how often the default interval of a gap contains the truth, over simulated data:
 *
 *     npm run study:coverage             # writes docs/coverage.md and docs/coverage.csv
 *     npm run study:coverage -- --quick  # 100 repetitions a cell, printed only
 *
 * Options: --seed (2026), --workers (threads, one for each core). With --redis URL, other processes simulate, on any
 * host: start them with --redis URL --serve. Exits with 1 if a target is missed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { format, resolveConfig } from 'prettier';

import { type Cell, studyCells } from './design.ts';
import { type Pool, POOL_OPTIONS, serveStudy, simulateAll } from './pool.ts';
import { csv, markdown } from './report.ts';
import { addTally, type Chunk, emptyTally, type Tally } from './simulate.ts';
import { type CellResult, coverageOf, RUN_AGAIN_BELOW, verdicts } from './verdicts.ts';

const FULL = { repetitions: 2000, repetitionsAgain: 20_000 };
const QUICK = { repetitions: 100, repetitionsAgain: 1000 };
/** Repetitions per message to a worker. The random numbers depend on it, so it must be constant. */
const CHUNK = 500;
const WORKER = new URL('./worker.mjs', import.meta.url);
const REPORT = new URL('../../docs/coverage.md', import.meta.url);
const FIGURES = new URL('../../docs/coverage.csv', import.meta.url);

const { values: args } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '2026' },
    ...POOL_OPTIONS,
  },
});
const pool: Pool = { ...args, worker: WORKER, kind: 'coverage' };
if (args.serve) {
  await serveStudy(pool);
  process.exit(0);
}
const seed = Number(args.seed);
const effort = args.quick ? QUICK : FULL;

const cells = studyCells();
const first = await run(cells, cells, effort.repetitions, { seed, withRivals: true });
const low = cells.filter(({ table }, index) => coverageOf(first[index] as Tally) < RUN_AGAIN_BELOW[table]);
const again = await run(low, cells, effort.repetitionsAgain, { seed: seed + 1, withRivals: false });
const results = cells.map((cell, index): CellResult => {
  const position = low.indexOf(cell);
  return { cell, first: first[index] as Tally, again: position < 0 ? null : (again[position] as Tally) };
});

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const report = await format(markdown(results, { command: 'npm run study:coverage', version, seed, ...effort }), {
  ...(await resolveConfig(REPORT)),
  parser: 'markdown',
});
if (args.quick) process.stdout.write(report);
else await Promise.all([writeFile(REPORT, report), writeFile(FIGURES, csv(results))]);
for (const { text, isMet } of verdicts(results)) process.stderr.write(`${isMet ? 'met' : 'MISSED'}: ${text}\n`);
process.exitCode = verdicts(results).every(({ isMet }) => isMet) ? 0 : 1;

async function run(
  chosen: readonly Cell[],
  all: readonly Cell[],
  repetitions: number,
  { seed, withRivals }: Pick<Chunk, 'seed' | 'withRivals'>,
): Promise<Tally[]> {
  const chunks = chosen.flatMap((cell) =>
    Array.from({ length: Math.ceil(repetitions / CHUNK) }, (_, chunkIndex): Chunk => {
      const left = repetitions - chunkIndex * CHUNK;
      return {
        cell,
        cellIndex: all.indexOf(cell),
        chunkIndex,
        repetitions: Math.min(CHUNK, left),
        seed,
        withRivals,
      };
    }),
  );
  const started = performance.now();
  const tallies = await simulateAll<Tally>(pool, chunks, (done) => {
    if (done % 20 !== 0 && done !== chunks.length) return;
    const seconds = (performance.now() - started) / 1000;
    process.stderr.write(`${done} of ${chunks.length} parts, ${seconds.toFixed(0)} s\n`);
  });
  return chosen.map((cell) => {
    const total = emptyTally();
    chunks.forEach((chunk, index) => {
      if (chunk.cell === cell) addTally(total, tallies[index] as Tally);
    });
    return total;
  });
}
