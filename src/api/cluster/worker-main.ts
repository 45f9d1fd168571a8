import type { Socket } from 'node:net';

import { isConnectionMessage } from './connection-message.ts';
import { lineOf } from './message-line.ts';
import { runWorker } from './run-worker.ts';

// A terminal sends Ctrl-C to every process of its group, and some supervisors do so with SIGTERM. The primary decides when
// a worker ends; without a primary it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));

const app = await runWorker(lineOf(process), () => process.exit(0));

process.on('message', (message, socket: Socket | undefined) => {
  if (!isConnectionMessage(message)) return;
  // At once, before anything of it is read: from now on the connection lives and dies with this process.
  process.send?.(message);
  // A client that went meanwhile leaves no socket.
  if (socket !== undefined) app.server.take(socket);
});
