import type { Socket } from 'node:net';

/** Who takes connections. */
export interface Taker {
  readonly name: string;
  /** Sends a connection; `took` is called when it is there. */
  readonly give: (id: number, socket: Socket) => void;
}

/** Hands connections to workers in turn. */
export interface ConnectionGiver {
  /** To whoever is next; where there is nobody, to the first who comes. */
  readonly give: (socket: Socket) => void;
  readonly add: (taker: Taker) => void;
  /** A taker has ended: what it was given and has not taken goes to others. */
  readonly remove: (name: string) => void;
  readonly took: (id: number) => void;
  /** Ends connections that nobody has taken. */
  readonly close: () => void;
}

/** Connections that wait for a worker; more are closed as they come. */
const MOST_WAITING = 1_000;

/**
 * Makes a giver. It holds each connection until the worker has said that it has it: one that is on its way to a worker
 * that is killed would else be lost, and its client wait in vain. (node:cluster loses them.)
 */
export function createConnectionGiver(): ConnectionGiver {
  let takers: readonly Taker[] = [];
  let waiting: Socket[] = [];
  const given = new Map<number, { readonly socket: Socket; readonly name: string }>();
  let count = 0;

  const give = (socket: Socket): void => {
    const [taker, ...others] = takers;
    if (taker === undefined) {
      if (waiting.length < MOST_WAITING) waiting.push(socket);
      else socket.destroy();
      return;
    }
    takers = [...others, taker];
    const id = ++count;
    given.set(id, { socket, name: taker.name });
    taker.give(id, socket);
  };

  return {
    give,
    add: (taker) => {
      takers = [taker, ...takers];
      const sockets = waiting;
      waiting = [];
      sockets.forEach(give);
    },
    remove: (name) => {
      takers = takers.filter((taker) => taker.name !== name);
      for (const [id, { socket, name: owner }] of [...given]) {
        if (owner !== name) continue;
        given.delete(id);
        give(socket);
      }
    },
    took: (id) => {
      // The worker has a descriptor of its own, so that this ends nothing but our hold on it.
      given.get(id)?.socket.destroy();
      given.delete(id);
    },
    close: () => {
      for (const socket of [...waiting, ...[...given.values()].map(({ socket: held }) => held)]) socket.destroy();
      waiting = [];
      given.clear();
    },
  };
}
