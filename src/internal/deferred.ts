/** A promise that is settled from outside. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/** What `Promise.withResolvers` gives, which Node 20 does not have. A rejection that nobody waits for is no fault. */
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
