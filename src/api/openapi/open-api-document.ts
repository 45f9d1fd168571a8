import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { ANSWER_MODELS, BODY_MODELS } from '../models/index.ts';
import { componentSchemas, HEADERS, PARAMETERS, problemResponses } from './components.ts';
import type { OpenApiDocument, OperationObject } from './open-api-types.ts';
import { type OperationId, OPERATIONS } from './operation-ids.ts';
import { OPERATION_TEXTS } from './operations.ts';

/** Options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /**
   * The path at which the service is mounted, such as `/fairness`.
   * @defaultValue '', the root
   */
  readonly basePath?: string | undefined;
  /**
   * The version in the document.
   * @defaultValue the version of this package
   */
  readonly version?: string | undefined;
}

const OPEN_API_OPTION_NAMES: OptionNames<OpenApiOptions> = { basePath: true, version: true };

const DESCRIPTION = `Group fairness of model decisions: metrics with intervals, constrained training, and a pass/fail gate.

Send decisions and groups to \`POST /validate\`. Every answer of a run has a \`run_id\`, with which you can retrieve it again.
Long-running work returns immediately with \`Prefer: respond-async\`; its progress is available as events.
Errors are returned as \`application/problem+json\` with a suggestion on how to fix them.`;

const TAGS = [
  { name: 'Runs', description: 'Compute results and store them.' },
  { name: 'Results', description: 'Stored runs and their results.' },
  { name: 'Monitoring', description: 'Events of models in operation, and their alarms.' },
  {
    name: 'Dashboard',
    description: 'A monitored model. Available only if the service was started with a monitor folder.',
  },
  { name: 'Service', description: 'Health, metrics and documentation of the service.' },
] as const;

/**
 * Returns the OpenAPI 3.1 document of the service, generated from the schemas that check bodies. The document allows
 * requests with and without a bearer key, because only services with keys require one.
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  assertKnownOptions('openApiDocument', options, OPEN_API_OPTION_NAMES);
  const { basePath = '', version = VERSION } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: 'evenhand',
      version,
      summary: 'Group fairness as a service.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath, description: 'This service.' }],
    tags: TAGS,
    security: [{ bearer: [] }, {}],
    paths: documentPaths(),
    components: {
      schemas: { ...componentSchemas(BODY_MODELS, 'input'), ...componentSchemas(ANSWER_MODELS, 'output') },
      responses: problemResponses(),
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'One of the keys that the service was started with. If the service was started without keys, no key is required.',
        },
      },
    },
  };
}

/** Returns the operations by path and method. */
function documentPaths(): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operationId of Object.keys(OPERATIONS) as OperationId[]) {
    const [method, path] = OPERATIONS[operationId];
    (paths[path] ??= {})[method] = { operationId, ...OPERATION_TEXTS[operationId] };
  }
  return paths;
}
