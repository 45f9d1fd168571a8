import { createServer, type Socket } from 'node:net';

import { acceptWaiting } from './accept-waiting.ts';
import type { Place } from './http-server.ts';

/** A port whose connections others answer. */
export interface Door {
  /** Gives the port; rejects with Node's error. */
  readonly listen: (place: Place) => Promise<number>;
  /** Says who gets the connections: those that have come, and those to come. */
  readonly open: (give: (socket: Socket) => void) => void;
  /** Takes no more, once those are taken that have come. */
  readonly close: () => Promise<void>;
}

/** Makes a door. Nothing is read from its connections. */
export function createDoor(): Door {
  let early: Socket[] = [];
  let give = (socket: Socket): void => {
    early.push(socket);
  };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // A client that goes before anyone has read from it is no fault.
    socket.on('error', () => undefined);
    give(socket);
  });
  return {
    listen: (place) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host: place.host, port: place.port }, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : place.port);
        });
      }),
    open: (giveTo) => {
      give = giveTo;
      const sockets = early;
      early = [];
      sockets.forEach(giveTo);
    },
    close: async () => {
      await acceptWaiting(server);
      server.close();
      for (const socket of early) socket.destroy();
    },
  };
}
