import type { components } from './schema.ts';

type Schemas = components['schemas'];

/** Why there is no result. */
export type Problem = Schemas['Problem'];

/** A run, with its result when it has one. */
export type Run = Schemas['Run'];

/** Something that happened to a run. */
export type RunEvent = Schemas['RunEvent'];
