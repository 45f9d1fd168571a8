/**
 * Where results are kept, at most so many of them; what was least recently used goes first. `get` and `set` use an entry,
 * `has`, `delete` and `entries` do not. A method may answer at once or with a promise.
 */
export interface ResultStoreLike<Value> {
  get(id: string): Value | undefined | Promise<Value | undefined>;
  set(id: string, value: Value): unknown;
  has(id: string): boolean | Promise<boolean>;
  delete(id: string): boolean | Promise<boolean>;
  /** The least recently used first. */
  entries(): Iterable<readonly [id: string, value: Value]>;
}
