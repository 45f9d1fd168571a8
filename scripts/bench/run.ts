/**
 * Measures this package against its targets. Every result is checked before it is timed.
 *
 *     npm run bench
 *     npm run bench -- --peers DIR [--python PYTHON] [--data DIR] [--only B4,B5]
 *
 * With --peers, runs DIR/metrics.py and reductions.py (fairlearn), sweep.py (PyTorch) and stream.py (river) on the same
 * work, in the same run on the same machine. --data names a folder with the Adult data for training; the default is
 * DIR/../data. With --python, B7 is also measured beside fairlearn-service.py, if that Python has FastAPI, uvicorn and
 * fairlearn, and B13 beside pandas. Writes bench-results.json.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { benchArrays, benchIntervals, benchManyGroups } from './arrays.ts';
import { benchCalibration } from './calibrating.ts';
import { describePeer, runPeers } from './peers.ts';
import { benchPlans } from './planning.ts';
import { benchRepair } from './preparing.ts';
import { benchBillion, benchFiles, benchHugeFile, benchStart, benchSubgroups } from './processes.ts';
import { type Case, describeCase } from './report.ts';
import { benchService } from './serving.ts';
import { benchStream } from './streaming.ts';
import { benchReductions, benchSweeps } from './training.ts';

const { values } = parseArgs({
  options: {
    peers: { type: 'string' },
    python: { type: 'string' },
    data: { type: 'string' },
    only: { type: 'string' },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-bench-'));
const cases: Case[] = [];
const note = (one: Case): void => {
  cases.push(one);
  console.log(describeCase(one));
};

const data = values.data ?? (values.peers === undefined ? undefined : path.join(values.peers, '..', 'data'));
const suites = [
  { ids: ['B1'], run: () => benchArrays(note) },
  { ids: ['B3'], run: () => benchIntervals(note) },
  { ids: ['B3'], run: () => benchManyGroups(note) },
  { ids: ['B2'], run: () => benchFiles(folder, note) },
  { ids: ['B6'], run: () => benchStream(note) },
  { ids: ['B7'], run: () => benchService({ data, folder, python: values.python }, note) },
  { ids: ['B8'], run: () => benchStart(folder, note) },
  { ids: ['B9'], run: () => benchRepair(note) },
  { ids: ['B10'], run: () => benchHugeFile(folder, note) },
  { ids: ['B12'], run: () => benchBillion(folder, note) },
  { ids: ['B13'], run: () => benchSubgroups(folder, values.python, note) },
  { ids: ['B18'], run: () => benchCalibration(note) },
  { ids: ['B19'], run: () => benchPlans(note) },
  { ids: ['B4'], run: () => benchReductions(data, note) },
  { ids: ['B5'], run: () => benchSweeps(data, note) },
];
const only = values.only?.split(',');

try {
  for (const { ids, run } of suites) {
    if (only === undefined || ids.some((id) => only.includes(id))) await run();
  }
  const peers =
    values.peers === undefined ? [] : await runPeers(path.resolve(values.peers), values.python ?? 'python3', only);
  for (const line of peers) console.log(describePeer(line, cases));
  const machine = { node: process.versions.node, cpu: cpus()[0]?.model, cores: cpus().length };
  await writeFileAtomic('bench-results.json', `${JSON.stringify({ machine, cases, peers }, undefined, 2)}\n`);
  console.log('Wrote bench-results.json');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
