/** A promise together with its resolve and reject functions. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Replaces `Promise.withResolvers`, which Node 20 does not have. A rejection without a handler is ignored and does not
 * end the process.
 */
export function createDeferred<Value>(): Deferred<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<Value>((onResolved, onRejected) => {
    resolve = onResolved;
    reject = onRejected;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
