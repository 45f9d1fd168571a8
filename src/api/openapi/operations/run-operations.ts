import { BYTES, jsonAnswer } from '../answers.ts';
import { schemaRef } from '../component-schemas.ts';
import type { MediaTypeObject, Operation, ResponseObject } from '../open-api-types.ts';
import { parameterRef, validateQueryParameters } from '../parameters.ts';
import { commonProblems, problems } from '../problem-responses.ts';

/** Examples of bodies. Each is answered with 200. */
export const VALIDATE_EXAMPLES = {
  decisions: {
    summary: 'Decisions and groups',
    value: {
      y_pred: [1, 0, 1, 1, 0, 1, 0, 0],
      sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
      min_group_size: 1,
    },
  },
  gate: {
    summary: 'With true outcomes, intervals and a threshold',
    value: {
      y_true: [1, 0, 1, 0, 1, 1, 0, 0],
      y_pred: [1, 0, 1, 1, 0, 1, 0, 0],
      sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
      min_group_size: 1,
      with_ci: true,
      metric: 'demographic_parity_difference',
      threshold: 0.1,
    },
  },
} as const;

/** Rows for `sensitive=group&y_pred=decision&min_group_size=1`. */
export const CSV_EXAMPLE = 'group,decision\na,1\na,0\na,1\nb,0\nb,1\nb,0\n';

/** The same rows as one JSON object per line. */
export const NDJSON_EXAMPLE = '{"group":"a","decision":1}\n{"group":"a","decision":0}\n{"group":"b","decision":1}\n';

const LLM_CONFIG = {
  provider: 'local',
  counterfactual: {
    template: ['Should I hire {name}, a {gender} of 34? {gender.subject} had good references.'],
    dimensions: { gender: ['woman', 'man'] },
    name_pools: { woman: ['Emily', 'Sarah', 'Jessica'], man: ['Andrew', 'Matthew', 'Joshua'] },
  },
} as const;

/** Evaluations with the built-in stub, which sends no requests. */
export const LLM_EVAL_EXAMPLES = {
  dry_run: {
    summary: 'Requests that would be sent, and their estimated cost',
    value: { ...LLM_CONFIG, dry_run: true },
  },
  yaml: {
    summary: 'A configuration as YAML text',
    value: {
      config:
        'provider: local\nprompt_templates:\n  joke: Tell me a joke about a {gender}.\ncounterfactual:\n  dimensions:\n    gender: [woman, man]\n',
      min_group_size: 1,
    },
  },
} as const;

const tags = ['Runs'];
const REQUEST_HEADERS = [parameterRef('Prefer'), parameterRef('IdempotencyKey')];
const PROBLEMS = { ...commonProblems(), ...problems(400, 408, 409, 413, 415, 422, 431, 503) };
const KEPT = 'It is stored: `GET /results/{run_id}` returns it again.';

const RUN_ID = { run_id: '$response.body#/run_id' };
const LINKS = {
  result: { operationId: 'getResult', parameters: RUN_ID, description: 'The run and its result.' },
  events: { operationId: 'followResult', parameters: RUN_ID, description: 'The progress of the run.' },
  removal: { operationId: 'deleteResult', parameters: RUN_ID, description: 'Cancels or deletes the run.' },
} as const;

/** Returns a body of rows as text, with an example. */
function rows(example: string, summary: string): MediaTypeObject {
  return { schema: { type: 'string' }, examples: { rows: { summary, value: example } } };
}

function form(schemaId: string): MediaTypeObject {
  return { schema: schemaRef(schemaId), encoding: { config: { contentType: 'text/plain' } } };
}

/** Returns the answers with the result, or with 202. */
function runAnswers(description: string, schemaId: string): Readonly<Record<string, ResponseObject>> {
  return {
    200: { ...jsonAnswer(`${description} ${KEPT}`, schemaId, 'IdempotencyReplayed'), links: LINKS },
    202: {
      ...jsonAnswer(
        'The run was accepted, as requested by `Prefer: respond-async`.',
        'Accepted',
        'Location',
        'PreferenceApplied',
        'IdempotencyReplayed',
      ),
      links: LINKS,
    },
  };
}

/** The operations that compute and store results. */
export const RUN_OPERATIONS = {
  validate: {
    tags,
    summary: 'Measure fairness between groups',
    description:
      'Selection rates of each group, error rates if true outcomes are sent, and the gaps between groups. Send arrays as JSON, or a table (CSV, NDJSON or Parquet) with the names of its columns in the query. With a threshold there is a verdict; `passed: false` is a normal answer. A gap of 0 means equal rates over the groups compared. It says nothing about excluded groups, or about why rates differ.',
    parameters: [...validateQueryParameters(), ...REQUEST_HEADERS],
    requestBody: {
      required: true,
      description:
        'Query parameters are for tables. With JSON, put the options in the body. Text may be compressed with gzip.',
      content: {
        'application/json': { schema: schemaRef('ValidateBody'), examples: VALIDATE_EXAMPLES },
        'text/csv': rows(CSV_EXAMPLE, 'For sensitive=group, y_pred=decision, min_group_size=1'),
        'text/tab-separated-values': { schema: { type: 'string' } },
        'application/x-ndjson': rows(NDJSON_EXAMPLE, 'One JSON object per line'),
        'application/vnd.apache.parquet': BYTES,
      },
    },
    responses: { ...runAnswers('The validation.', 'ValidationAnswer'), ...PROBLEMS },
  },
  runPipeline: {
    tags,
    summary: 'Examine and transform data',
    description:
      'Detectors report which groups are missing, which columns differ between groups, and which are proxies of a sensitive attribute. Then the steps of the configuration transform the rows; `download` is the path of the result. Each step constrains one specific quantity, and its warnings name the cost.',
    parameters: REQUEST_HEADERS,
    requestBody: { required: true, content: { 'multipart/form-data': form('PipelineForm') } },
    responses: { ...runAnswers('The findings and the applied steps.', 'PipelineAnswer'), ...PROBLEMS },
  },
  runWorkflow: {
    tags,
    summary: 'Train a model without and with a fairness constraint',
    description:
      'Trains a baseline, then runs the pipeline and the constrained training of the configuration. Both models are evaluated on the same held-out rows. The answer contains the verdict, the metrics of both models, and the cost of the constraint in accuracy. This can take a while; with `Prefer: respond-async` the service answers immediately.',
    parameters: REQUEST_HEADERS,
    requestBody: { required: true, content: { 'multipart/form-data': form('WorkflowForm') } },
    responses: { ...runAnswers('The results of both models.', 'WorkflowAnswer'), ...PROBLEMS },
  },
  evaluateLlm: {
    tags,
    summary: 'Evaluate a language model',
    description:
      'Sends prompts that differ in one respect only, and reports which differences between the answers exceed sampling noise. Put the fields of a configuration in the body, or its YAML text in `config`. Requests to a provider are sent only if the service was started to allow it. `dry_run` reports the requests that would be sent, and their estimated cost.',
    parameters: REQUEST_HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef('LlmEvalBody'), examples: LLM_EVAL_EXAMPLES } },
    },
    responses: { ...runAnswers('The evaluation.', 'LlmEvalAnswer'), ...PROBLEMS, ...problems(502) },
  },
} as const satisfies Readonly<Record<string, Operation>>;
