import type { Handler, Service } from '../app/service-context.ts';
import { openApiDocument } from '../openapi/open-api-document.ts';

/** GET /openapi.json: what the service can do, for programs. */
export function openApiRoute({ basePath }: Service): Handler {
  const text = JSON.stringify(openApiDocument({ basePath }));
  return (context) => {
    context.type = 'application/json; charset=utf-8';
    context.set('Cache-Control', 'no-cache');
    context.body = text;
  };
}
