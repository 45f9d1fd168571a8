export type { Problem, Run, RunEvent } from './client-types.ts';
export { type ClientOptions, createClient, type ServiceClient } from './create-client.ts';
export type { FollowOptions } from './follow-run.ts';
export { dataOf, type RequestResult } from './problem-of-answer.ts';
export type { components, operations, paths } from './schema.ts';
export { ServiceError } from './service-error.ts';
export type { WaitOptions } from './wait-for-run.ts';
