import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { ANSWER_MODELS, BODY_MODELS } from '../models/index.ts';
import { HEADERS } from './answers.ts';
import { componentSchemas } from './component-schemas.ts';
import type { OpenApiDocument, OperationObject } from './open-api-types.ts';
import { type OperationId, OPERATIONS } from './operation-ids.ts';
import { OPERATION_TEXTS } from './operations/index.ts';
import { PARAMETERS } from './parameters.ts';
import { problemResponses } from './problem-responses.ts';

/** Options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /**
   * Where the service is mounted: `/fairness`.
   * @defaultValue '', the root
   */
  readonly basePath?: string | undefined;
  /**
   * The version that the document names.
   * @defaultValue this package's
   */
  readonly version?: string | undefined;
}

const OPEN_API_OPTION_NAMES: OptionNames<OpenApiOptions> = { basePath: true, version: true };

const DESCRIPTION = `Group fairness of model decisions: measured with intervals, constrained in training, and judged by one gate.

Send decisions and groups to \`POST /validate\`. Every answer of a run has a \`run_id\`, under which it can be had again.
Work that takes long is answered at once with \`Prefer: respond-async\`; its progress is followed as events.
What goes wrong is answered as \`application/problem+json\` with what to do next.`;

const TAGS = [
  { name: 'Runs', description: 'What is computed and kept.' },
  { name: 'Results', description: 'What is kept of runs.' },
  { name: 'Dashboard', description: 'A monitored model. Only where the service was started with a folder to show.' },
  { name: 'Service', description: 'What tells of the service itself.' },
] as const;

/**
 * The description of the service by OpenAPI 3.1, generated from the schemas by which bodies are checked.
 * A key is only asked for where the service has keys, so that the document names both: with a bearer key, and without.
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
          description: 'One of the keys that the service was started with. Without keys none is asked for.',
        },
      },
    },
  };
}

/** The operations by path and method. */
function documentPaths(): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operationId of Object.keys(OPERATIONS) as OperationId[]) {
    const [method, path] = OPERATIONS[operationId];
    (paths[path] ??= {})[method] = { operationId, ...OPERATION_TEXTS[operationId] };
  }
  return paths;
}
