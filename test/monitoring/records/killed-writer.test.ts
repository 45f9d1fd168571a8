import { spawn } from 'node:child_process';
import path from 'node:path';

import { expect } from 'chai';

import { readRecords } from '../../../src/monitoring/records/read-records.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const CHILD = path.join(import.meta.dirname, 'append-until-killed.ts');

const ROUNDS = 4;

/** Lets a child process append a number of times, kills it, and returns the last number that it reported. */
function appendAndKill(file: string, first: number, perAppend: number, atLeast: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = ['--import', 'tsx', CHILD, file, String(first), String(perAppend)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let reported = '';
    child.stdout.on('data', (chunk: Buffer) => {
      reported += chunk.toString();
      if (reported.length > atLeast) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      const complete = reported.slice(0, reported.lastIndexOf('\n')).split('\n');
      if (signal === 'SIGKILL') resolve(Number(complete.at(-1)));
      else reject(new Error('the child ended by itself'));
    });
  });
}

describe('a record store whose process is killed', function () {
  this.timeout(120_000);
  const folder = useTemporaryFolder();

  for (const ending of ['csv', 'ndjson']) {
    for (const perAppend of [1, 500]) {
      it(`has every record of .${ending} whose append returned, ${perAppend} per append, over ${ROUNDS} kills @slow`, async () => {
        const file = path.join(folder(), `killed-${perAppend}.${ending}`);
        let next = 0;
        for (let round = 0; round < ROUNDS; round++) {
          const shown = await appendAndKill(file, next, perAppend, (300 + 1371 * round) / Math.sqrt(perAppend));
          expect(shown).to.be.above(next);
          const values = (await readRecords(file)).toRecords().map(({ value }) => value);
          // All records are in order and occur once, over all kills. Records after the last reported one had no answer
          // yet.
          expect(values.findIndex((value, index) => value !== index)).to.equal(-1);
          expect(values.length).to.be.at.least(shown);
          next = values.length;
        }
      });
    }
  }
});
