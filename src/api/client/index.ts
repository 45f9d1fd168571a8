export { dataOf, type Problem, type RequestResult, type Run, type RunEvent, ServiceError } from './service-error.ts';
export { type ClientOptions, createClient, type ServiceClient } from './create-client.ts';
export type { FollowOptions } from './create-client.ts';
export type { components, operations, paths } from './schema.ts';
export type { WaitOptions } from './create-client.ts';
