import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type ConnectionMessage, isConnectionMessage } from './connection-message.ts';
import { inheritedEnvironment } from '../jobs/service-environment.ts';
import { lineOf, type MessageLine } from './message-line.ts';

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that answers requests. */
export interface ForkedWorker {
  /** The system's number of it; undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly line: MessageLine;
  readonly onExit: (listener: (exit: Exit) => void) => void;
  /** Hands it a connection, which stays open here too. */
  readonly give: (id: number, socket: Socket) => void;
  /** Called with the number of each connection that has arrived. */
  readonly onTook: (listener: (id: number) => void) => void;
  /** Ends it at once. */
  readonly kill: () => void;
}

/** Starts a worker's process. */
export function forkWorker(): ForkedWorker {
  const main = fileURLToPath(new URL(`./worker-main${extname(import.meta.url)}`, import.meta.url));
  // Bodies are long strings; JSON would escape each of them anew.
  const child = fork(main, { serialization: 'advanced', env: inheritedEnvironment(process.env) });
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
      // One that cannot be written is told by the end of the worker.
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
