import type { ServiceContext } from '../app/service-context.ts';

/** Stands around the routes: does its part, and lets `next` do the rest. */
export type ServiceMiddleware = (context: ServiceContext, next: () => Promise<unknown>) => Promise<void>;
