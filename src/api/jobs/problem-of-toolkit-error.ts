import { FairnessToolkitError } from '../../exceptions/index.ts';
import { splitNames, toSnakeCase } from '../../internal/arguments.ts';
import { type ConfigProblem, describeConfigProblem } from '../../io/config-text/config-fault.ts';
import { toPointer } from '../../schemas/faults-of.ts';
import { describeProblem, type FieldProblem } from '../../schemas/parse.ts';
import {
  type InvalidField,
  noRoomProblem,
  type ProblemDetails,
  type ProblemStatus,
  ServiceProblem,
} from '../problem/service-problem.ts';
import type { Job } from './job.ts';
import { inWireNames, isValidation, wireNameOf } from './wire-names.ts';

/**
 * Where in a request an error of the library is, as far as that is known.
 * @param work the work, which knows what named a column, or its kind alone
 */
function pointersOf(error: FairnessToolkitError, work: Job | Job['kind']): readonly string[] {
  const kind = typeof work === 'string' ? work : work.kind;
  const field = fieldOf(error, kind);
  if (field !== undefined) {
    if (kind === 'validate-table') return [field];
    const { index } = error.context;
    return [toPointer(kind === 'validate-rows' && typeof index === 'number' ? [field, index] : [field])];
  }
  const column = typeof error.context['column'] === 'string' ? error.context['column'] : undefined;
  if (kind === 'validate-table') {
    return column === undefined || typeof work === 'string' ? [] : namersOf(column, work);
  }
  const isUnknownColumn = column !== undefined && Array.isArray(error.context['columns']);
  return kind === 'pipeline' || kind === 'workflow' ? [partOf(error, isUnknownColumn)] : [];
}

/** The argument of the library that a request's field stands for. */
function fieldOf(error: FairnessToolkitError, kind: Job['kind']): string | undefined {
  const { parameter, argument } = error.context;
  const [name] = [lackingArgument(error), parameter, argument].filter((known) => typeof known === 'string');
  const field = name === undefined ? undefined : wireNameOf(name, kind);
  if (field !== undefined || !isValidation(kind)) return field;
  const isOfMetric = error.name === 'ValueError' || error.name === 'MetricComputationError';
  return isOfMetric && typeof error.context['metric'] === 'string' ? 'metric' : undefined;
}

/** Returns the argument that a metric needs and that was not given. */
function lackingArgument({ code, context: { missing } }: FairnessToolkitError): string | undefined {
  return code === 'missing-argument' && typeof missing === 'string' ? missing : undefined;
}

/** The parameters of the query that name a column. */
function namersOf(column: string, work: Job): string[] {
  if (work.kind !== 'validate-table') return [];
  const isNamed = (given: unknown): boolean =>
    [given].flat().some((text) => typeof text === 'string' && (text === column || splitNames(text).includes(column)));
  return Object.entries(work.options)
    .filter(([name, given]) => COLUMN_PARAMETERS.has(name) && isNamed(given))
    .map(([name]) => name);
}

const COLUMN_PARAMETERS = new Set(['y_pred', 'score', 'y_score', 'y_true', 'sensitive', 'sample_weight', 'control']);

/** The part of a form: a column that is not there was named by the configuration. */
function partOf({ name, context }: FairnessToolkitError, isUnknownColumn: boolean): string {
  if (isUnknownColumn) return '/config';
  if (name === 'DataValidationError') return '/file';
  const { key, index } = context;
  if (typeof key === 'string') return toPointer(['config', ...key.split('.')]);
  return name === 'PipelineExecutionError' && typeof index === 'number'
    ? `/config/pipeline/${String(index)}`
    : '/config';
}

/** How the operator allows what was refused. */
const ALLOW_LIVE =
  "The operator of the service allows live calls with EVENHAND_LLM_ALLOW_LIVE=1 and the provider's key in its environment. A dry run (dry_run: true) and the provider local need neither.";

/**
 * That answers are not known and nobody may be asked for them. What the service's environment has, and what it lacks, is
 * no business of who sent the request.
 */
function refusedCalls({ code, context }: FairnessToolkitError): ProblemDetails {
  const { missing, prompt } = context;
  const count =
    typeof missing === 'number' && missing > 1 ? `${missing.toLocaleString('en-US')} answers are` : 'An answer is';
  const first = typeof prompt === 'string' ? ` The first is to "${prompt}".` : '';
  if (code === 'replay-only') {
    return {
      detail: `${count} not known, and replay_only allows no calls.${first}`,
      suggestion: 'Leave replay_only out where the service may make live calls, or send what was asked before.',
    };
  }
  return {
    detail: `Live calls are not allowed here, and ${lowerFirst(count)} not known.${first}`,
    suggestion: ALLOW_LIVE,
  };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * What is wrong with a request answers 422: data, configuration, and steps that these made fail. By names, which hold
 * also where two copies of the package are loaded.
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

/** Faults of one request that are told; who sent it mends the first ones first. */
const MAX_PROBLEMS = 50;

/** What to do about an error that does not say so itself. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  DataValidationError: 'Check the data that were sent.',
  ConfigValidationError: 'Check the configuration that was sent.',
  ValueError: 'Check the fields of the request.',
  MetricComputationError: 'Check the metric and the data that it needs.',
  DependencyError: 'Ask who runs the service to install it.',
};

/**
 * An error of the library as a problem for who sent the request; a problem as it is, and undefined for what is a fault
 * of ours.
 * @param work the work, or its kind, which knows what fields are called
 */
export function problemOfToolkitError(error: unknown, work: Job | Job['kind']): ServiceProblem | undefined {
  if (isProblem(error)) return error;
  const noRoom = noRoomProblem(error, 'results');
  if (noRoom !== undefined) return noRoom;
  if (!FairnessToolkitError.isInstance(error) || isOfSystem(error)) return undefined;
  const status = STATUSES[error.name];
  if (status === undefined) return undefined;
  if (error.name === 'CacheMissError') return new ServiceProblem(status, refusedCalls(error), error);
  const kind = typeof work === 'string' ? work : work.kind;
  const errors = problemsIn(error, work);
  const suggestion = lackingColumn(error, kind) ?? (isOfConfig(error) ? KEYS_LISTED[kind] : error.suggestion);
  return new ServiceProblem(
    status,
    {
      code: error.code,
      detail: detailOf(error, kind),
      suggestion: inWireNames(
        suggestion ?? SUGGESTIONS[error.name] ?? 'Check the data and the configuration that were sent.',
        kind,
        error.context,
      ),
      errors: errors.length === 0 ? undefined : errors,
    },
    error,
  );
}

/** Where a client finds all keys of a configuration. */
const KEYS_LISTED: Readonly<Partial<Record<Job['kind'], string>>> = {
  'llm-eval': 'GET /openapi.json lists every key (LlmEvalBody).',
  pipeline: 'The documentation of pipelines lists every key.',
  workflow: 'The documentation of pipelines lists every key.',
};

/** Returns whether an error lists problems of keys of a configuration; its suggestion says where all keys are listed. */
function isOfConfig({ context: { faults: problems }, suggestion }: FairnessToolkitError): boolean {
  return Array.isArray(problems) && suggestion !== undefined;
}

/** Returns the message of an error with the names of fields that the client knows. */
function detailOf(error: FairnessToolkitError, kind: Job['kind']): string {
  const { problems } = error.context;
  if (!Array.isArray(problems)) return inWireNames(error.message, kind, error.context);
  const nameOf = (field: string): string => wireNameOf(field, kind) ?? toSnakeCase(field);
  return (problems as FieldProblem[]).map((problem) => describeProblem(problem, nameOf)).join(' ');
}

/** By its name, which holds also where two copies of the package are loaded. */
function isProblem(error: unknown): error is ServiceProblem {
  return error instanceof Error && error.name === 'ServiceProblem';
}

/** Whether a place of the service, not of the client, is at fault: the disk is full, a folder cannot be written. */
function isOfSystem({ context }: FairnessToolkitError): boolean {
  return typeof context['code'] === 'string' && /^E[A-Z]+$/.test(context['code']);
}

/** The fields at fault, as far as they are known. */
function problemsIn(error: FairnessToolkitError, work: Job | Job['kind']): readonly InvalidField[] {
  const kind = typeof work === 'string' ? work : work.kind;
  const { fields, faults: allProblems, problems } = error.context;
  if (Array.isArray(fields)) return fields as InvalidField[];
  if (Array.isArray(allProblems)) {
    return (allProblems as ConfigProblem[])
      .slice(0, MAX_PROBLEMS)
      .map((found) => ({ pointer: configPointer(found), detail: inWireNames(describeConfigProblem(found), kind) }));
  }
  if (Array.isArray(problems)) return (problems as FieldProblem[]).map((problem) => schemaProblem(problem, kind));
  return pointersOf(error, work).map((pointer) => ({ pointer, detail: detailOf(error, kind) }));
}

function schemaProblem(problem: FieldProblem, kind: Job['kind']): InvalidField {
  return {
    pointer: toPointer(problem.path.map((part) => (typeof part === 'string' ? toSnakeCase(part) : part))),
    detail: describeProblem(problem, (field) => wireNameOf(field, kind) ?? toSnakeCase(field)),
  };
}

/** A fault of a configuration by its key: `pipeline[0].params.max_weight` is `/config/pipeline/0/params/max_weight`. */
function configPointer({ key }: ConfigProblem): string {
  return toPointer(['config', ...key.split(/[.[\]]+/).filter((part) => part !== '')]);
}

/** What is to be sent where a metric lacks its data. */
function lackingColumn(error: FairnessToolkitError, kind: Job['kind']): string | undefined {
  const argument = lackingArgument(error);
  const field = argument === undefined ? undefined : wireNameOf(argument, kind);
  if (field === undefined) return undefined;
  return kind === 'validate-table' ? `Name its column as ${field}.` : `Send ${field}.`;
}
