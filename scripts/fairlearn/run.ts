// Compares this package with fairlearn on random frames. Exits with 1 if a value differs. See --help.
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

import { compareFrame } from './compare.ts';
import { type Convention, CONVENTIONS } from './conventions.ts';
import { drawFrame, type Frame } from './frames.ts';
import { ownValues } from './own-values.ts';
import { peerValues } from './peer.ts';
import { ensurePeer, FAIRLEARN, OLD_FAIRLEARN, type Peer } from './python.ts';
import { shrinkFrame } from './shrink.ts';
import type { Comparison, Difference } from './verdicts.ts';

const HELP = `Compares the metrics of random frames with fairlearn ${FAIRLEARN} (and ${OLD_FAIRLEARN} for rows without a group).

  npm run test:fairlearn -- [--frames N] [--first I] [--seed S] [--frame I] [--jobs N]

  --frames N  the number of frames (default 10000)
  --first I   the number of the first frame (default 0), to continue or to divide a run
  --seed S    the seed of the frames (default 20260)
  --frame I   only frame I of the seed, with its rows
  --jobs N    processes of Python at the same time (default: one for each core, at most 8)
  --help      this text

The first run installs Python packages into ~/.cache/evenhand (EVENHAND_FAIRLEARN_CACHE), about 400 MB.
Exits with 1 if a value differs for another reason than these conventions, which are counted:

${Object.entries(CONVENTIONS)
  .map(([name, text]) => `  ${name}: ${text}`)
  .join('\n')}
`;

const BATCH = 1000;
/** The number of differing frames that are shrunk and printed. */
const MAX_SHOWN = 5;

/** A frame in which values differ. */
interface Differing {
  readonly frame: Frame;
  readonly differences: readonly Difference[];
}

async function compareBatch(frames: readonly Frame[], peer: Peer): Promise<Comparison[]> {
  const theirs = await peerValues(frames, peer);
  return frames.map((frame, position) => {
    const answer = theirs[position];
    if (answer === undefined) throw new Error(`There is no answer about frame ${String(frame.index)}.`);
    return compareFrame(frame, ownValues(frame), answer);
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

function wholeNumber(option: string, given: string, min: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new Error(`--${option} must be a whole number, ${String(min)} or more. Got '${given}' instead.`);
}

function count(n: number): string {
  return n.toLocaleString('en-US');
}

/** Shrinks a differing frame as long as the same measure or metric differs, and prints it. */
async function show({ frame, differences }: Differing, seed: number, peer: Peer): Promise<void> {
  const [first] = differences;
  const subject = first?.what.split(/[: ]/)[0] ?? '';
  const small = await shrinkFrame(frame, async (candidates) => {
    const compared = await compareBatch(candidates, peer);
    return compared.map(({ differences: left }) => left.some(({ what }) => what.split(/[: ]/)[0] === subject));
  });
  const [comparison] = await compareBatch([small], peer);
  console.log(`\nFrame ${String(frame.index)} of seed ${String(seed)}:`);
  for (const { what, own, expected } of (comparison ?? { differences }).differences) {
    console.log(`  ${what}: ${String(own)}, expected ${String(expected)}`);
  }
  console.log(`  the smallest frame with this difference: ${JSON.stringify(small)}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      frames: { type: 'string', default: '10000' },
      first: { type: 'string', default: '0' },
      seed: { type: 'string', default: '20260' },
      frame: { type: 'string' },
      jobs: { type: 'string', default: String(Math.min(8, availableParallelism())) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const seed = wholeNumber('seed', values.seed, 0);
  const jobs = wholeNumber('jobs', values.jobs, 1);
  const first = wholeNumber('first', values.first, 0);
  const indexes =
    values.frame === undefined
      ? range(first, first + wholeNumber('frames', values.frames, 1))
      : [wholeNumber('frame', values.frame, 0)];
  const peer = await ensurePeer();
  const start = performance.now();
  console.log(`Seed ${String(seed)}, ${count(indexes.length)} frames, fairlearn ${FAIRLEARN}`);
  if (values.frame !== undefined) console.log(JSON.stringify(drawFrame(seed, indexes[0] ?? 0)));

  const batches = range(0, Math.ceil(indexes.length / BATCH)).map((batch) =>
    indexes.slice(batch * BATCH, (batch + 1) * BATCH),
  );
  const conventions = new Map<Convention, number>();
  const differing: Differing[] = [];
  let [done, compared] = [0, 0];
  const work = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const frames = batch.map((index) => drawFrame(seed, index));
      (await compareBatch(frames, peer)).forEach((comparison, position) => {
        compared += comparison.compared;
        for (const [name, n] of comparison.conventions) conventions.set(name, (conventions.get(name) ?? 0) + n);
        const { differences } = comparison;
        const frame = frames[position] as Frame;
        if (differences.length === 0) return;
        differing.push({ frame, differences });
        console.log(`Frame ${String(frame.index)} differs: ${differences.map(({ what }) => what).join('; ')}`);
      });
      done += batch.length;
      const seconds = ((performance.now() - start) / 1000).toFixed(0);
      console.log(
        `${count(done)} frames, ${count(compared)} values, ${count(differing.length)} frames differ, ${seconds} s`,
      );
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));

  differing.sort((a, b) => a.frame.index - b.frame.index);
  const differences = differing.flatMap((one) => one.differences);
  const bySubject = new Map<string, Differing>();
  for (const one of differing) {
    const subject = one.differences[0]?.what.split(/[: ]/)[0] ?? '';
    if (!bySubject.has(subject)) bySubject.set(subject, one);
  }
  for (const one of [...bySubject.values()].slice(0, MAX_SHOWN)) await show(one, seed, peer);
  if (differing.length > 0) {
    console.log(
      `\nAll frames that differ (--frame I shows one): ${differing.map(({ frame }) => frame.index).join(', ')}`,
    );
  }
  console.log('\nValues where the conventions differ:');
  for (const [name, n] of [...conventions].sort(([, a], [, b]) => b - a)) {
    console.log(`  ${count(n)}  ${name}: ${CONVENTIONS[name]}`);
  }
  const excused = [...conventions.values()].reduce((sum, n) => sum + n, 0);
  const list = Array.from(conventions, ([name, n]) => `${name} ${count(n)}`).join(', ');
  console.log(
    `\n${count(indexes.length)} frames, ${count(compared)} values compared, ${count(differences.length)} differ, ${count(excused)} values where the conventions differ${list === '' ? '' : ` (${list})`}`,
  );
  if (differences.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
