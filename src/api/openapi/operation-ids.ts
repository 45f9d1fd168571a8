/** The operations of the service: method and path, as in OpenAPI. */
export const OPERATIONS = {
  getHealth: ['get', '/health'],
  getReadiness: ['get', '/ready'],
  getMetrics: ['get', '/metrics'],
  getOpenApi: ['get', '/openapi.json'],
  getDocs: ['get', '/docs'],
  getRedoc: ['get', '/redoc'],
  getDashboard: ['get', '/dashboard'],
  getDashboardPage: ['get', '/dashboard/page'],
  followDashboard: ['get', '/dashboard/events'],
  validate: ['post', '/validate'],
  runPipeline: ['post', '/pipeline'],
  runWorkflow: ['post', '/workflow'],
  evaluateLlm: ['post', '/llm-eval'],
  predict: ['post', '/predict'],
  calibrate: ['post', '/calibrate'],
  compareArms: ['post', '/ab-test'],
  train: ['post', '/train'],
  listResults: ['get', '/results'],
  getResult: ['get', '/results/{run_id}'],
  deleteResult: ['delete', '/results/{run_id}'],
  getResultData: ['get', '/results/{run_id}/data'],
  getResultModel: ['get', '/results/{run_id}/model'],
  followResult: ['get', '/results/{run_id}/events'],
} as const satisfies Readonly<Record<string, readonly [method: 'get' | 'post' | 'delete', path: string]>>;

/** The ID of an operation in the OpenAPI document. */
export type OperationId = keyof typeof OPERATIONS;
