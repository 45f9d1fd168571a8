import type { Handler, Service } from '../app/service-context.ts';
import { dashboardEventsRoute, dashboardPageRoute, dashboardRoute } from './dashboard.ts';
import { docsRoutes } from './docs.ts';
import { formRunRoute } from './form-run.ts';
import { healthRoute, readinessRoute } from './health.ts';
import { listResultsRoute } from './list-results.ts';
import { llmEvalRoute } from './llm-eval.ts';
import { metricsRoute } from './metrics.ts';
import { openApiRoute } from './openapi.ts';
import type { OperationId } from './operation-ids.ts';
import { deleteResultRoute, getResultDataRoute, getResultRoute } from './results.ts';
import { runEventsRoute } from './run-events.ts';
import { validateRoute } from './validate.ts';

/** What answers each operation. */
export function handlersOf(service: Service): Readonly<Record<OperationId, Handler>> {
  return {
    getHealth: healthRoute(service),
    getReadiness: readinessRoute(service),
    getMetrics: metricsRoute(service),
    getOpenApi: openApiRoute(service),
    ...docsRoutes(service),
    getDashboard: dashboardRoute(service),
    getDashboardPage: dashboardPageRoute(service),
    followDashboard: dashboardEventsRoute(service),
    validate: validateRoute(service),
    runPipeline: formRunRoute(service, 'pipeline'),
    runWorkflow: formRunRoute(service, 'workflow'),
    evaluateLlm: llmEvalRoute(service),
    listResults: listResultsRoute(service),
    getResult: getResultRoute(service),
    deleteResult: deleteResultRoute(service),
    getResultData: getResultDataRoute(service),
    followResult: runEventsRoute(service),
  };
}
