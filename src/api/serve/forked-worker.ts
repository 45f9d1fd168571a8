import { fork } from 'node:child_process';

import { builtFile } from '../../internal/packages.ts';
import { type ConnectionMessage, type ForkedWorker, isConnectionMessage, lineOf } from '../cluster/protocol.ts';
import { inheritedEnvironment } from '../jobs/service-environment.ts';

/** A worker collects garbage in one thread, because the other workers use the other cores. */
const GARBAGE_COLLECTION = '--single-threaded-gc';

/** Starts a worker process. */
export function forkWorker(): ForkedWorker {
  const main = builtFile('cli/service-process.js');
  // Bodies are long strings, and JSON would escape each of them again.
  const child = fork(main, {
    serialization: 'advanced',
    env: inheritedEnvironment(process.env),
    execArgv: [...process.execArgv, GARBAGE_COLLECTION],
  });
  return {
    pid: child.pid,
    line: lineOf(child),
    onExit: (listener) => {
      child.once('exit', (code, signal) => {
        listener({ code, signal });
      });
    },
    give: (id, socket) => {
      const message: ConnectionMessage = { evenhandConnection: id };
      // If the message cannot be sent, the worker has ended. The end of the worker is reported separately.
      child.send(message, socket, { keepOpen: true }, () => undefined);
    },
    onTook: (listener) => {
      child.on('message', (message) => {
        if (isConnectionMessage(message)) listener(message.evenhandConnection);
      });
    },
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}
