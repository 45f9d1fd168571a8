import type { Operation } from '../open-api-types.ts';
import type { OperationId } from '../operation-ids.ts';
import { DASHBOARD_OPERATIONS } from './dashboard-operations.ts';
import { RESULT_OPERATIONS } from './result-operations.ts';
import { RUN_OPERATIONS } from './run-operations.ts';
import { SERVICE_OPERATIONS } from './service-operations.ts';

/** The documentation of each operation. */
export const OPERATION_TEXTS: Readonly<Record<OperationId, Operation>> = {
  ...RUN_OPERATIONS,
  ...RESULT_OPERATIONS,
  ...DASHBOARD_OPERATIONS,
  ...SERVICE_OPERATIONS,
};
