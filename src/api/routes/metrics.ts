import type { Handler, Service } from '../app/service-context.ts';

/** GET /metrics: numbers of the whole service, as Prometheus reads them. */
export function metricsRoute({ renderMetrics }: Service): Handler {
  return async (context) => {
    const { text, contentType } = await renderMetrics();
    // As it is: Koa would guess another type for text.
    context.set('Content-Type', contentType);
    context.body = text;
  };
}
