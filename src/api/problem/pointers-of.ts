import type { FairnessToolkitError } from '../../exceptions/index.ts';
import { splitNames } from '../../internal/name-list.ts';
import { toPointer } from '../../schemas/faults-of.ts';
import type { Job } from '../jobs/job.ts';
import { isValidation, wireNameOf } from './wire-names.ts';

/**
 * Where in a request an error of the library is, as far as that is known.
 * @param work the work, which knows what named a column, or its kind alone
 */
export function pointersOf(error: FairnessToolkitError, work: Job | Job['kind']): readonly string[] {
  const kind = typeof work === 'string' ? work : work.kind;
  const field = fieldOf(error, kind);
  if (field !== undefined) {
    if (kind === 'validate-table') return [field];
    const place = kind === 'validate-rows' ? placeOf(error) : undefined;
    return [toPointer(place === undefined ? [field] : [field, place])];
  }
  const column = columnOf(error);
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

/** What a metric needs and was not given, which the suggestion names: `Name their column (yTrue, --y-true).` */
export function lackingArgument({ context, suggestion }: FairnessToolkitError): string | undefined {
  if (typeof context['metric'] !== 'string') return undefined;
  return /^(?:Name their column|Give the [a-z ]+ too) \((\w+), --[a-z-]+\)\.$/.exec(suggestion ?? '')?.[1];
}

/** The column of a table that an error speaks of. */
function columnOf({ context: { column, argument } }: FairnessToolkitError): string | undefined {
  if (typeof column === 'string') return column;
  return typeof argument === 'string' ? /^Column '(.*)'$/s.exec(argument)?.[1] : undefined;
}

/** The row at fault, from the context or else from the words. */
function placeOf({ context, message }: FairnessToolkitError): number | string | undefined {
  const { index } = context;
  return typeof index === 'number' ? index : /\bat index (\d+)\b/.exec(message)?.[1];
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
