/**
 * Measures this package against its bars; asserts every result before it times it.
 *
 *     npm run bench
 *     npm run bench -- --peers DIR [--python PYTHON]
 *
 * With --peers, runs DIR/metrics.py (fairlearn on the same work) beside it, in
 * the same run on the same machine. Writes bench-results.json.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { benchArrays, benchIntervals, benchManyGroups } from './arrays.ts';
import { describePeer, runPeers } from './peers.ts';
import { benchFiles, benchHugeFile, benchStart } from './processes.ts';
import { type Case, describeCase } from './report.ts';

const { values } = parseArgs({
  options: { peers: { type: 'string' }, python: { type: 'string', default: 'python3' } },
});
const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-bench-'));
const cases: Case[] = [];
const note = (one: Case): void => {
  cases.push(one);
  console.log(describeCase(one));
};

try {
  await benchArrays(note);
  await benchIntervals(note);
  await benchManyGroups(note);
  await benchFiles(folder, note);
  await benchStart(folder, note);
  await benchHugeFile(folder, note);
  const peers = values.peers === undefined ? [] : await runPeers(path.resolve(values.peers), values.python);
  for (const line of peers) console.log(describePeer(line, cases));
  const machine = { node: process.versions.node, cpu: cpus()[0]?.model, cores: cpus().length };
  await writeFileAtomic('bench-results.json', `${JSON.stringify({ machine, cases, peers }, undefined, 2)}\n`);
  console.log('Wrote bench-results.json');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
