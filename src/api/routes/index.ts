export { type OperationId, OPERATIONS } from './operation-ids.ts';
