export { type OperationId, OPERATIONS } from '../openapi/operation-ids.ts';
