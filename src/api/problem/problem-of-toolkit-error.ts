import { FairnessToolkitError } from '../../exceptions/index.ts';
import { toSnakeCase } from '../../internal/letter-case.ts';
import { type ConfigFault, describeFault } from '../../io/config-text/config-fault.ts';
import { toPointer } from '../../schemas/faults-of.ts';
import { type FieldFault, type ProblemStatus, ServiceProblem } from './service-problem.ts';
import type { Job } from '../jobs/job.ts';
import { noRoomProblem } from './no-room.ts';
import { lackingArgument, pointersOf } from './pointers-of.ts';
import { refusedCalls } from './refused-calls.ts';
import { inWireNames, wireNameOf } from './wire-names.ts';

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
const MOST_FAULTS = 50;

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
  const errors = faultsIn(error, work);
  const suggestion = lackingColumn(error, kind) ?? error.suggestion ?? SUGGESTIONS[error.name];
  return new ServiceProblem(
    status,
    {
      detail: inWireNames(error.message, kind),
      suggestion: inWireNames(suggestion ?? 'Check the data and the configuration that were sent.', kind),
      errors: errors.length === 0 ? undefined : errors,
    },
    error,
  );
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
function faultsIn(error: FairnessToolkitError, work: Job | Job['kind']): readonly FieldFault[] {
  const kind = typeof work === 'string' ? work : work.kind;
  const { fields, faults, issues } = error.context;
  if (Array.isArray(fields)) return fields as FieldFault[];
  if (Array.isArray(faults)) {
    return (faults as ConfigFault[])
      .slice(0, MOST_FAULTS)
      .map((fault) => ({ pointer: configPointer(fault), detail: inWireNames(describeFault(fault), kind) }));
  }
  if (Array.isArray(issues)) return (issues as SchemaIssue[]).map((issue) => schemaFault(issue, kind));
  return pointersOf(error, work).map((pointer) => ({ pointer, detail: inWireNames(error.message, kind) }));
}

/** What a schema found, as far as it is needed here. */
interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function schemaFault({ path, message }: SchemaIssue, kind: Job['kind']): FieldFault {
  return {
    pointer: toPointer(path.map((part) => (typeof part === 'string' ? toSnakeCase(part) : part))),
    detail: inWireNames(message, kind),
  };
}

/** A fault of a configuration by its key: `pipeline[0].params.max_weight` is `/config/pipeline/0/params/max_weight`. */
function configPointer({ key }: ConfigFault): string {
  return toPointer(['config', ...key.split(/[.[\]]+/).filter((part) => part !== '')]);
}

/** What is to be sent where a metric lacks its data. */
function lackingColumn(error: FairnessToolkitError, kind: Job['kind']): string | undefined {
  const argument = lackingArgument(error);
  const field = argument === undefined ? undefined : wireNameOf(argument, kind);
  if (field === undefined) return undefined;
  return kind === 'validate-table' ? `Name its column as ${field}.` : `Send ${field}.`;
}
