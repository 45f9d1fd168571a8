export { type AppOptions, createApp, DEFAULT_LIMITS, type ServiceApp, type ServiceLimits } from './app/index.ts';
export { openApiDocument, type OpenApiDocument, type OpenApiOptions } from './openapi/index.ts';
export type { ProblemJson } from './problem/service-problem.ts';
export type { RunEndpoint, RunRecord, RunStatus } from './runs/runs.ts';
export { serve } from './serve/serve.ts';
export type { RunningService, ServeOptions } from './serve/running-service.ts';
export {
  FileResultStore,
  type FileResultStoreOptions,
  ResultStore,
  type ResultStoreLike,
  type ResultStoreOptions,
} from './store/index.ts';
