import type { Service } from '../app/service-context.ts';
import { answerProblems } from './answer-problems.ts';
import { authenticate } from './authenticate.ts';
import { crossOrigin } from './cross-origin.ts';
import { limitRate } from './limit-rate.ts';
import { logRequests } from './log-requests.ts';
import { requestId } from './request-id.ts';
import { sameOrigin } from './same-origin.ts';
import { securityHeaders } from './security-headers.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/**
 * All that stands around the routes, the outermost first. Names come before what logs them, logs and metrics around what
 * answers problems, so that they see its status; who may not ask is refused before anything is counted or read.
 * @param observe the middleware of the service's metrics
 */
export function serviceLayers(service: Service, observe: ServiceMiddleware): readonly ServiceMiddleware[] {
  return [
    requestId(service),
    logRequests(service),
    observe,
    securityHeaders(),
    answerProblems(service),
    sameOrigin(service),
    crossOrigin(service),
    authenticate(service),
    limitRate(service),
  ].filter((layer) => layer !== null);
}
