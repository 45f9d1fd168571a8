import { VERSION } from '../../internal/version.ts';
import type { Handler, Service } from '../app/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** GET /health: the process answers. */
export function healthRoute({ clock }: Service): Handler {
  return (context) => {
    context.body = { status: 'ok', version: VERSION, timestamp: new Date(clock()).toISOString() };
  };
}

/** GET /ready: new work is taken, and how much there is; 503 with the reason where it is not. */
export function readinessRoute({ runs, notReady }: Service): Handler {
  return async (context) => {
    const reason = notReady();
    if (reason !== null) {
      throw new ServiceProblem(503, {
        detail: reason,
        suggestion: 'Ask again in a few seconds.',
        headers: { 'Retry-After': '5' },
      });
    }
    const { queued, running, kept } = await runs.counts();
    context.body = { status: 'ready', queued, running, kept };
  };
}
