import { BYTES, jsonAnswer } from '../answers.ts';
import { schemaRef } from '../component-schemas.ts';
import type { MediaTypeObject, Operation, ResponseObject } from '../open-api-types.ts';
import { parameterRef, validateQueryParameters } from '../parameters.ts';
import { commonProblems, problems } from '../problem-responses.ts';

/** Examples of bodies; each is answered with 200 as it stands. */
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

/** The same rows, one JSON object a line. */
export const NDJSON_EXAMPLE = '{"group":"a","decision":1}\n{"group":"a","decision":0}\n{"group":"b","decision":1}\n';

const LLM_CONFIG = {
  provider: 'local',
  counterfactual: {
    template: ['Should I hire {name}, a {gender} of 34? {gender.subject} had good references.'],
    dimensions: { gender: ['woman', 'man'] },
    name_pools: { woman: ['Emily', 'Sarah', 'Jessica'], man: ['Andrew', 'Matthew', 'Joshua'] },
  },
} as const;

/** Evaluations by the built-in stub, which sends nothing. */
export const LLM_EVAL_EXAMPLES = {
  dry_run: {
    summary: 'What would be sent, and what it may cost',
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
const KEPT = 'It is kept: `GET /results/{run_id}` answers it again.';

const RUN_ID = { run_id: '$response.body#/run_id' };
const LINKS = {
  result: { operationId: 'getResult', parameters: RUN_ID, description: 'The run and its result.' },
  events: { operationId: 'followResult', parameters: RUN_ID, description: 'Its progress.' },
  removal: { operationId: 'deleteResult', parameters: RUN_ID, description: 'Cancels or forgets it.' },
} as const;

/** Rows as text, with an example. */
function rows(example: string, summary: string): MediaTypeObject {
  return { schema: { type: 'string' }, examples: { rows: { summary, value: example } } };
}

function form(schemaId: string): MediaTypeObject {
  return { schema: schemaRef(schemaId), encoding: { config: { contentType: 'text/plain' } } };
}

/** The result, or that it comes later. */
function runAnswers(description: string, schemaId: string): Readonly<Record<string, ResponseObject>> {
  return {
    200: { ...jsonAnswer(`${description} ${KEPT}`, schemaId, 'IdempotencyReplayed'), links: LINKS },
    202: {
      ...jsonAnswer(
        'The run is taken on, as `Prefer: respond-async` asked.',
        'Accepted',
        'Location',
        'PreferenceApplied',
        'IdempotencyReplayed',
      ),
      links: LINKS,
    },
  };
}

/** What is computed and kept. */
export const RUN_OPERATIONS = {
  validate: {
    tags,
    summary: 'Measure fairness between groups',
    description:
      'Selection rates and, where true outcomes are sent, error rates of each group, and the gaps between groups. Send arrays as JSON, or a table (CSV, NDJSON or Parquet) with the names of its columns in the query. With a threshold there is a verdict; `passed: false` is an ordinary answer. A gap of 0 means equal rates over the groups compared; it says nothing of groups that were excluded, or of why rates differ.',
    parameters: [...validateQueryParameters(), ...REQUEST_HEADERS],
    requestBody: {
      required: true,
      description:
        'Parameters of the query are for tables; with JSON the options stand in the body. Text may be packed with gzip.',
      content: {
        'application/json': { schema: schemaRef('ValidateBody'), examples: VALIDATE_EXAMPLES },
        'text/csv': rows(CSV_EXAMPLE, 'For sensitive=group, y_pred=decision, min_group_size=1'),
        'text/tab-separated-values': { schema: { type: 'string' } },
        'application/x-ndjson': rows(NDJSON_EXAMPLE, 'One JSON object a line'),
        'application/vnd.apache.parquet': BYTES,
      },
    },
    responses: { ...runAnswers('The validation.', 'ValidationAnswer'), ...PROBLEMS },
  },
  runPipeline: {
    tags,
    summary: 'Look at data, and transform them',
    description:
      'Detectors tell which groups are missing, which columns differ between groups and which stand in for one; then the steps of the configuration transform the rows, which `download` gives back. A step constrains what it is made for, and its warnings say what it costs.',
    parameters: REQUEST_HEADERS,
    requestBody: { required: true, content: { 'multipart/form-data': form('PipelineForm') } },
    responses: { ...runAnswers('What was found and done.', 'PipelineAnswer'), ...PROBLEMS },
  },
  runWorkflow: {
    tags,
    summary: 'Train a model without and with a fairness constraint',
    description:
      'A baseline, then the pipeline and the constrained training of the configuration, both judged on the same held-out rows. The answer has the verdict, the metrics of both models, and what the constraint takes in accuracy. It takes a while: `Prefer: respond-async` answers at once.',
    parameters: REQUEST_HEADERS,
    requestBody: { required: true, content: { 'multipart/form-data': form('WorkflowForm') } },
    responses: { ...runAnswers('Both models.', 'WorkflowAnswer'), ...PROBLEMS },
  },
  evaluateLlm: {
    tags,
    summary: 'Evaluate a language model',
    description:
      'Prompts that differ in one respect only, and what of the differences between the answers is more than sampling noise. The fields of a configuration stand in the body, or its YAML text in `config`. Requests to a provider are sent only where the service was started to allow it; `dry_run` tells what would be sent, and what it may cost.',
    parameters: REQUEST_HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef('LlmEvalBody'), examples: LLM_EVAL_EXAMPLES } },
    },
    responses: { ...runAnswers('The evaluation.', 'LlmEvalAnswer'), ...PROBLEMS, ...problems(502) },
  },
} as const satisfies Readonly<Record<string, Operation>>;
