export type { AppOptions, ServiceApp } from './app-options.ts';
export { createApp } from './create-app.ts';
export { DEFAULT_LIMITS, type ServiceLimits } from '../context/service-context.ts';
