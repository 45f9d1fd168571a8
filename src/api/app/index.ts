export type { AppContext, Middleware, Next } from './app-context.ts';
export type { AppOptions, ServiceApp } from './app-options.ts';
export { createApp } from './create-app.ts';
export { DEFAULT_LIMITS, type ServiceLimits } from './service-limits.ts';
