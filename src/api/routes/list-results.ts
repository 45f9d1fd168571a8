import type { Handler, Service, ServiceContext } from '../app/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { RUN_ENDPOINTS, RUN_STATUSES, type RunSummary } from '../runs/run-record.ts';
import { readQuery } from './read-query.ts';

/** GET /results: the runs that are kept, the newest first; all of them, or those that the query asks for. */
export function listResultsRoute({ runs }: Service): Handler {
  return async (context) => {
    const { isWanted, limit } = readFilter(context);
    const list = await runs.list();
    context.body = {
      results: list
        .filter(isWanted)
        .slice(0, limit)
        .map(({ runId, endpoint, status, createdAt, finishedAt }) => ({
          run_id: runId,
          endpoint,
          status,
          created_at: createdAt,
          finished_at: finishedAt,
        })),
    };
  };
}

interface Filter {
  readonly isWanted: (run: RunSummary) => boolean;
  readonly limit: number;
}

function readFilter(context: ServiceContext): Filter {
  const { status, endpoint, limit } = readQuery(context, ['status', 'endpoint', 'limit']);
  assertOneOf('status', status, RUN_STATUSES);
  assertOneOf('endpoint', endpoint, RUN_ENDPOINTS);
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) throw wrongValue('limit', 'a whole number from 1');
  return {
    isWanted: (run) =>
      (status === undefined || run.status === status) && (endpoint === undefined || run.endpoint === endpoint),
    limit: limit === undefined ? Infinity : Number(limit),
  };
}

function assertOneOf(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw wrongValue(name, `one of ${known.join(', ')}`);
}

function wrongValue(name: string, wanted: string): ServiceProblem {
  const detail = `The parameter ${name} must be ${wanted}.`;
  return new ServiceProblem(422, {
    detail,
    errors: [{ pointer: name, detail }],
    suggestion: 'Leave it out for all results.',
  });
}
