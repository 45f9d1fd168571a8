import type { IncomingMessage, ServerResponse } from 'node:http';

/** Koa's context of a request, as far as middleware of yours needs it; Koa's own type has more, and fits too. */
export interface AppContext {
  /** The request as node:http gives it. */
  readonly req: IncomingMessage;
  /** The answer as node:http sends it. */
  readonly res: ServerResponse;
  method: string;
  /** With its query. */
  url: string;
  /** Without its query. */
  path: string;
  /** What middleware tells other middleware. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in Koa: each app keeps its own things there
  readonly state: Record<PropertyKey, any>;
  status: number;
  /** A text, bytes, a stream, or an object that is sent as JSON. */
  body: unknown;
  /** Of the request: '' where it was not sent. */
  get(header: string): string;
  /** Of the answer. */
  set(header: string, value: string | string[]): void;
}

/** Asks what comes after. */
export type Next = () => Promise<unknown>;

/**
 * Middleware of Koa, named without Koa's types.
 * @param context where Koa's types are at hand, `ParameterizedContext` or `Context` of theirs fits too
 */
export type Middleware = {
  // A method, whose parameters may be of a type that has more.
  call(context: AppContext, next: Next): unknown;
}['call'];
