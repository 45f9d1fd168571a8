import type { OperationObject } from './open-api-types.ts';

/** An operation before its name is put to it. */
export type Operation = Omit<OperationObject, 'operationId'>;
