import { FairnessToolkitError } from '../../exceptions/index.ts';
import { parametersIn, renameParameters, splitNames, toCamelCase, toSnakeCase } from '../../internal/arguments.ts';
import { type ConfigProblem, describeConfigProblem } from '../../io/config-text/config-problem.ts';
import { describeProblem, type FieldProblem } from '../../schemas/parse.ts';
import { toPointer } from '../../schemas/problems-of.ts';
import { monitorWireSchema } from '../../schemas/monitor-wire.ts';
import { TABLE_JOB_FIELDS, type TableJobKind } from '../../schemas/table-jobs.ts';
import { validateRowsSchema } from '../../schemas/validate-rows.ts';
import { validateTableSchema } from '../../schemas/validate-table.ts';
import { workflowFieldsSchema } from '../../schemas/workflow-fields.ts';
import {
  type InvalidField,
  noRoomProblem,
  type ProblemDetails,
  type ProblemStatus,
  ServiceProblem,
} from '../problem/service-problem.ts';
import type { Job, JobOf } from './job.ts';

/** Maps the names of the library's arguments and options to the names of request fields. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ...[validateRowsSchema.shape, validateTableSchema.shape, workflowFieldsSchema.shape, { target_column: null }]
    .flatMap(Object.keys)
    .map((field) => [toCamelCase(field), field] as const),
  ['applyPipeline', 'POST /pipeline'],
]);

/** For each kind of job, the library arguments whose request fields are not part of the configuration. */
const FIELDS_BESIDE: Readonly<Partial<Record<Job['kind'], readonly string[]>>> = {
  workflow: ['minGroupSize', 'trainSize', 'randomState', 'threshold', 'classWeight'],
  'llm-eval': ['minGroupSize', 'withCi', 'ciLevel', 'ciSamples', 'threshold', 'metric', 'comparator', 'randomState'],
};

/** The library arguments whose request fields have another name. */
const RENAMED: Readonly<Record<string, string>> = {
  target: 'y_true',
  group: 'sensitive',
  protected: 'sensitive',
  attributes: 'sensitive',
  intersections: 'sensitive',
  fairness: 'metric',
};

function isTableJob(kind: Job['kind']): kind is TableJobKind {
  return Object.hasOwn(TABLE_JOB_FIELDS, kind);
}

/** Returns the request field of a job with tables. */
function tableFieldOf(argument: string, kind: TableJobKind): string | undefined {
  const known: object = TABLE_JOB_FIELDS[kind];
  if (argument === 'model' && kind === 'predict') return argument;
  // The option of the Lagrangian trainer has the name that the analyzer uses for metrics.
  const own = toSnakeCase(argument);
  if (Object.hasOwn(known, own)) return own;
  const renamed = Object.hasOwn(RENAMED, argument) ? RENAMED[argument] : undefined;
  return renamed !== undefined && Object.hasOwn(known, renamed) ? renamed : undefined;
}

/** Returns whether a job is a validation. In a validation, every request field is an argument of the library. */
function isValidation(kind: Job['kind']): boolean {
  return kind === 'validate-rows' || kind === 'validate-table';
}

/** The arguments of the tracker and the alarm engine whose parameters have another name. */
const MONITOR_NAMES: Readonly<Record<string, string>> = {
  protected: 'sensitive',
  attributes: 'sensitive',
  intersections: 'sensitive',
  metrics: 'metric',
  weight: 'sample_weight',
  limits: 'limit',
  detectors: 'detector',
  decisionThreshold: 'score_threshold',
  cooldownMillis: 'cooldown_minutes',
};

function monitorNameOf(argument: string): string | undefined {
  const own = argument.split('.').at(-1) ?? argument;
  const name = (Object.hasOwn(MONITOR_NAMES, own) ? MONITOR_NAMES[own] : undefined) ?? toSnakeCase(own);
  return Object.hasOwn(monitorWireSchema.shape, name) ? name : undefined;
}

/** Returns the request field for an argument of the library; undefined if there is no such field. */
function wireNameOf(argument: string, kind: Job['kind']): string | undefined {
  if (isTableJob(kind)) return tableFieldOf(argument, kind);
  if (kind === 'monitor-report') return monitorNameOf(argument);
  if (!isValidation(kind)) return FIELDS_BESIDE[kind]?.includes(argument) === true ? toSnakeCase(argument) : undefined;
  // With arrays, scores have the same name whether or not decisions are sent too.
  if (kind === 'validate-rows' && argument === 'score') return 'y_score';
  if (kind === 'validate-table' && argument === 'yScore') return 'score';
  return WIRE_NAMES.get(argument);
}

/**
 * Returns a message of the library, with the library's names replaced by request fields.
 * @param context the context of the error; it lists the parameter names in the message
 */
export function inWireNames(text: string, kind: Job['kind'], context: FairnessToolkitError['context'] = {}): string {
  return renameParameters(text, (name) => wireNameOf(name, kind) ?? WIRE_NAMES.get(name), parametersIn(context));
}

/** A job, or only its kind. A job also contains the names of columns. */
type KnownJob = Job | { readonly kind: Job['kind'] };

/** Returns JSON pointers to the request fields that caused an error of the library, if they are known. */
function pointersOf(error: FairnessToolkitError, job: KnownJob): readonly string[] {
  const { kind } = job;
  const { path } = error.context;
  if (isValidation(kind) && Array.isArray(path)) return [toPointer(path as (string | number)[])];
  const field = fieldOf(error, kind);
  if (field !== undefined) {
    if (kind === 'validate-table') return [pointerPrefix(job) + field];
    // The options of a stream are in the query.
    if (kind === 'monitor-report') return [field];
    const { index } = error.context;
    return [toPointer(kind === 'validate-rows' && typeof index === 'number' ? [field, index] : [field])];
  }
  const column = typeof error.context['column'] === 'string' ? error.context['column'] : undefined;
  if (kind === 'validate-table') return column !== undefined && 'options' in job ? namersOf(column, job) : [];
  // A file of the model.
  if (kind === 'predict' && typeof error.context['file'] === 'string') return ['/model'];
  if (isTableJob(kind)) return error.name === 'DataValidationError' ? [tablePointer(column, job)] : [];
  const isUnknownColumn = column !== undefined && Array.isArray(error.context['columns']);
  return kind === 'pipeline' || kind === 'workflow' ? [partOf(error, isUnknownColumn)] : [];
}

/** Returns the request field that corresponds to the argument in an error. */
function fieldOf(error: FairnessToolkitError, kind: Job['kind']): string | undefined {
  const { parameter, argument } = error.context;
  const [name] = [lackingArgument(error), parameter, argument].filter((known) => typeof known === 'string');
  const field = name === undefined ? undefined : wireNameOf(name, kind);
  if (field !== undefined || !isValidation(kind)) return field;
  const isOfMetric = error.name === 'ValueError' || error.name === 'MetricComputationError';
  return isOfMetric && typeof error.context['metric'] === 'string' ? 'metric' : undefined;
}

/** Returns the name of the argument that a metric requires and the request lacks; undefined for other errors. */
function lackingArgument({ code, context: { missing } }: FairnessToolkitError): string | undefined {
  return code === 'missing-argument' && typeof missing === 'string' ? missing : undefined;
}

/** Returns the pointer to the field of a form that names a column, or to the rows. */
function tablePointer(column: string | undefined, job: KnownJob): string {
  if (!('files' in job) || job.fields === null) return '/rows';
  const isNamed = (given: string | readonly string[]): boolean =>
    [given].flat().some((text) => text === column || splitNames(text).includes(column ?? ''));
  const [name] = Object.entries(job.fields).find(([, given]) => column !== undefined && isNamed(given)) ?? ['file'];
  return toPointer([name]);
}

/** Returns the query parameters whose value contains the name of a column. */
function namersOf(column: string, { options, source }: JobOf<'validate-table'>): string[] {
  const isNamed = (given: unknown): boolean =>
    [given].flat().some((text) => typeof text === 'string' && (text === column || splitNames(text).includes(column)));
  return Object.entries(options)
    .filter(([name, given]) => COLUMN_PARAMETERS.has(name) && isNamed(given))
    .map(([name]) => (source === undefined || source === 'query' ? name : `/${name}`));
}

/** Returns the start of a pointer to an option: options in the query are named, fields of a form are pointed to. */
function pointerPrefix(job: KnownJob): '' | '/' {
  return 'source' in job && job.source !== 'query' ? '/' : '';
}

const COLUMN_PARAMETERS = new Set([
  'y_pred',
  'score',
  'y_score',
  'y_true',
  'sensitive',
  'sample_weight',
  'cluster',
  'strata',
  'control',
]);

/**
 * Returns the form part that caused an error. For an unknown column, this is the configuration, which contains the
 * name.
 */
function partOf({ name, context }: FairnessToolkitError, isUnknownColumn: boolean): string {
  if (isUnknownColumn) return '/config';
  if (name === 'DataValidationError') return '/file';
  const { key, index } = context;
  if (typeof key === 'string') return toPointer(['config', ...key.split('.')]);
  return name === 'PipelineExecutionError' && typeof index === 'number'
    ? `/config/pipeline/${String(index)}`
    : '/config';
}

/** Instructions for allowing live calls. */
const ALLOW_LIVE =
  "The operator of the service allows live calls with EVENHAND_LLM_ALLOW_LIVE=1 and the provider's key in its environment. A dry run (dry_run: true) and the provider local need neither.";

/**
 * Returns the problem for missing answers if live calls are not allowed. The problem does not reveal the environment of
 * the service to the client.
 */
function refusedCalls({ code, context }: FairnessToolkitError): ProblemDetails {
  const { missing, prompt } = context;
  const count =
    typeof missing === 'number' && missing > 1 ? `${missing.toLocaleString('en-US')} answers are` : 'One answer is';
  const first = typeof prompt === 'string' ? ` The first missing answer is to the prompt "${prompt}".` : '';
  if (code === 'replay-only') {
    return {
      detail: `${count} missing, and replay_only does not allow live calls.${first}`,
      suggestion:
        'Omit replay_only if the service may make live calls, or send only prompts whose answers are recorded.',
    };
  }
  return {
    detail: `Live calls are not allowed here, and ${count.replace('One', 'one')} missing.${first}`,
    suggestion: ALLOW_LIVE,
  };
}

/**
 * The HTTP status for each error that an invalid request can cause, by error name. Names are compared, because two
 * copies of the package may be loaded.
 */
const STATUSES: Readonly<Record<string, ProblemStatus>> = {
  DataValidationError: 422,
  ConfigValidationError: 422,
  ValueError: 422,
  MetricComputationError: 422,
  DependencyError: 422,
  PipelineExecutionError: 422,
  TrainingError: 422,
  FairnessAssertionError: 422,
  CacheMissError: 403,
  LLMClientError: 502,
};

/** The maximum number of reported problems of one request. */
const MAX_PROBLEMS = 50;

/** Suggestions for errors that do not contain a suggestion. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  DataValidationError: 'Check the data in the request.',
  ConfigValidationError: 'Check the configuration in the request.',
  ValueError: 'Check the fields of the request.',
  MetricComputationError: 'Check the metric and the data that it needs.',
  DependencyError: 'Ask the operator of the service to install it.',
};

/**
 * Converts an error of the library to the problem that the client receives. A problem is returned unchanged. Returns
 * undefined for an internal error.
 * @param work the job or its kind, from which the names of request fields follow
 */
export function problemOfToolkitError(error: unknown, work: Job | Job['kind']): ServiceProblem | undefined {
  if (isProblem(error)) return error;
  const noRoom = noRoomProblem(error, 'results');
  if (noRoom !== undefined) return noRoom;
  if (!FairnessToolkitError.isInstance(error) || isOfSystem(error)) return undefined;
  const status = STATUSES[error.name];
  if (status === undefined) return undefined;
  if (error.name === 'CacheMissError') return new ServiceProblem(status, refusedCalls(error), error);
  const job = typeof work === 'string' ? { kind: work } : work;
  const { kind } = job;
  const errors = problemsIn(error, job);
  const suggestion =
    lackingColumn(error, kind) ??
    lackingRows(error, kind) ??
    (isOfConfig(error) ? KEYS_LISTED[kind] : error.suggestion);
  return new ServiceProblem(
    status,
    {
      code: error.code,
      detail: detailOf(error, kind),
      suggestion: inWireNames(
        suggestion ?? SUGGESTIONS[error.name] ?? 'Check the data and the configuration in the request.',
        kind,
        error.context,
      ),
      errors: errors.length === 0 ? undefined : errors,
    },
    error,
  );
}

/** Hints that tell the client where to find a list of all configuration keys. */
const KEYS_LISTED: Readonly<Partial<Record<Job['kind'], string>>> = {
  'llm-eval': 'GET /openapi.json lists every key (LlmEvalBody).',
  pipeline: 'The documentation of pipelines lists every key.',
  workflow: 'The documentation of pipelines lists every key.',
};

/**
 * Returns whether an error lists problems with configuration keys. The suggestion of such an error names the list of
 * all keys.
 */
function isOfConfig({ context: { faults: problems }, suggestion }: FairnessToolkitError): boolean {
  return Array.isArray(problems) && suggestion !== undefined;
}

/** Returns the message of an error, with field names as the client knows them. */
function detailOf(error: FairnessToolkitError, kind: Job['kind']): string {
  const { problems } = error.context;
  if (!Array.isArray(problems)) return inWireNames(error.message, kind, error.context);
  const nameOf = (field: string): string => wireNameOf(field, kind) ?? toSnakeCase(field);
  return (problems as FieldProblem[]).map((problem) => describeProblem(problem, nameOf)).join(' ');
}

/** Returns whether an error is a problem. The name is compared, because two copies of the package may be loaded. */
function isProblem(error: unknown): error is ServiceProblem {
  return error instanceof Error && error.name === 'ServiceProblem';
}

/**
 * Returns whether the operating system of the service caused an error, for example because a folder is not writable.
 */
function isOfSystem({ context }: FairnessToolkitError): boolean {
  return typeof context['code'] === 'string' && /^E[A-Z]+$/.test(context['code']);
}

/** Returns the invalid fields, if they are known. */
function problemsIn(error: FairnessToolkitError, job: KnownJob): readonly InvalidField[] {
  const { kind } = job;
  const { fields, faults: allProblems, problems } = error.context;
  if (Array.isArray(fields)) return fields as InvalidField[];
  if (Array.isArray(allProblems)) {
    return (allProblems as ConfigProblem[])
      .slice(0, MAX_PROBLEMS)
      .map((found) => ({ pointer: configPointer(found), detail: inWireNames(describeConfigProblem(found), kind) }));
  }
  if (Array.isArray(problems)) return (problems as FieldProblem[]).map((problem) => schemaProblem(problem, kind));
  return pointersOf(error, job).map((pointer) => ({ pointer, detail: detailOf(error, kind) }));
}

function schemaProblem(problem: FieldProblem, kind: Job['kind']): InvalidField {
  return {
    pointer: toPointer(problem.path.map((part) => (typeof part === 'string' ? toSnakeCase(part) : part))),
    detail: describeProblem(problem, (field) => wireNameOf(field, kind) ?? toSnakeCase(field)),
  };
}

/** Returns the pointer to a key of a configuration: `/config/pipeline/0/params` for `pipeline[0].params`. */
function configPointer({ key }: ConfigProblem): string {
  return toPointer(['config', ...key.split(/[.[\]]+/).filter((part) => part !== '')]);
}

/** Returns a suggestion if there are no rows. A small table has the kind of rows in JSON. */
function lackingRows({ code, context: { rows } }: FairnessToolkitError, kind: Job['kind']): string | undefined {
  if (!isValidation(kind) || code !== 'empty-data' || rows !== 0) return undefined;
  return 'Check that the request has rows. Send a table with --data-binary if you use curl: -d removes the ends of lines.';
}

/** Returns a suggestion if a metric lacks required data. */
function lackingColumn(error: FairnessToolkitError, kind: Job['kind']): string | undefined {
  const argument = lackingArgument(error);
  const field = argument === undefined ? undefined : wireNameOf(argument, kind);
  if (field === undefined) return undefined;
  return kind === 'validate-table' ? `Name its column as ${field}.` : `Send ${field}.`;
}
