import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { type LlmServer, startLlmServer } from '../../helpers/llm-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { serverRequests } from '../scheduler/server-run.ts';

const CHILD = path.join(import.meta.dirname, 'run-until-killed.ts');
const COUNT = 2000;
const CONCURRENCY = 8;

/** Runs the child and kills it after a number of requests. Returns the signal that ended it. */
async function runChild(file: string, server: LlmServer, killAt: number): Promise<NodeJS.Signals | null> {
  const args = ['--import', 'tsx', CHILD, file, server.baseUrl, String(COUNT), String(CONCURRENCY)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const watch = setInterval(() => {
    if (server.requests.length >= killAt) child.kill('SIGKILL');
  }, 1);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(watch);
      if (code === 0 || signal === 'SIGKILL') resolve(signal);
      else reject(new Error(`the child ended with ${String(code)}`));
    });
  });
}

describe('a run whose process is killed @slow', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  it(`resumes with the missing requests: ${COUNT} over three kills, each answered once, none paid twice except those in flight`, async () => {
    const server = await startLlmServer();
    try {
      const file = path.join(folder(), 'transcript.ndjson');
      for (const killAt of [300, 900, 1400]) expect(await runChild(file, server, killAt)).to.equal('SIGKILL');
      expect(await runChild(file, server, Infinity)).to.equal(null);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const records = lines.map((line) => JSON.parse(line) as { key: string; prompt: string; text: string });
      expect(records.map(({ key }) => key).sort()).to.deep.equal(
        serverRequests(COUNT)
          .map(({ key }) => key)
          .sort(),
      );
      expect(records.every(({ prompt, text }) => text === `An answer to: ${prompt}`)).to.be.true;
      // Each kill loses at most the requests in flight.
      expect(server.requests.length).to.be.at.most(COUNT + 3 * CONCURRENCY);
      expect(server.maxConcurrent).to.be.at.most(2 * CONCURRENCY);
    } finally {
      await server.close();
    }
  });
});
