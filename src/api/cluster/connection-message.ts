/** A connection on its way to a worker, which travels beside this message; or the worker's word that it has it. */
export interface ConnectionMessage {
  readonly evenhandConnection: number;
}

/** Whether a message is about a connection. */
export function isConnectionMessage(message: unknown): message is ConnectionMessage {
  return typeof message === 'object' && message !== null && 'evenhandConnection' in message;
}
