import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { createHttpServer } from '../../../src/api/serve/http-server.ts';

const HOST = '127.0.0.1';
const STOPS = 25;
const CLIENTS = 16;

/** Sends requests on one connection until the service stops; returns the error codes of failures. */
async function askUntilStopped(port: number): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const request = httpRequest({ host: HOST, port, agent }, (response) => {
        response.resume().once('end', () => {
          resolve('answered');
        });
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
      request.end();
    });
  const failures: string[] = [];
  try {
    for (;;) {
      const outcome = await ask();
      if (outcome === 'ECONNREFUSED') return failures;
      if (outcome !== 'answered') failures.push(outcome);
    }
  } finally {
    agent.destroy();
  }
}

/** Blocks each turn of the event loop, as a busy machine does. Returns a function that stops it. */
function stallTurns(millis: number): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let next: NodeJS.Immediate;
  const stall = (): void => {
    Atomics.wait(cell, 0, 0, millis);
    next = setImmediate(stall);
  };
  next = setImmediate(stall);
  return () => {
    clearImmediate(next);
  };
}

describe('graceful stops under load @slow', function () {
  this.timeout(120_000);

  it(`reset no connection in ${String(STOPS)} stops with ${String(CLIENTS)} clients`, async () => {
    const failures: string[] = [];
    let answered = 0;
    for (let stop = 0; stop < STOPS; stop++) {
      const server = createHttpServer((_, response) => {
        // An answer that waits for a disk, as with --store.
        setTimeout(() => {
          answered++;
          response.end('done');
        }, stop % 4);
      });
      const port = await server.listen({ host: HOST, port: 0 });
      const clients = Array.from({ length: CLIENTS }, () => askUntilStopped(port));
      await pause(40 + stop);
      const endStalls = stallTurns(stop % 4);
      await server.drain();
      endStalls();
      server.end();
      failures.push(...(await Promise.all(clients)).flat());
    }
    expect(answered).to.be.above(STOPS * CLIENTS);
    expect(failures).to.deep.equal([]);
  });
});
