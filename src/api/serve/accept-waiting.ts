import type { Server } from 'node:net';

/** Clients may connect faster than they are accepted; then the port closes at some time all the same. */
const MAX_TURNS = 2_000;

/**
 * Accepts the connections that the system has made and this process has not taken yet: the system resets them when the
 * port is closed. Close the port in the turn in which this resolves.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let hasAccepted = true;
  const note = (): void => {
    hasAccepted = true;
  };
  server.on('connection', note);
  // The event loop accepts about one connection in each turn.
  for (let turn = 0; hasAccepted && turn < MAX_TURNS; turn++) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/** Resolves after the event loop has looked for connections once more. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}
