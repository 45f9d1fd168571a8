import { posix, win32 } from 'node:path';

import { MetricComputationError } from '../../exceptions/index.ts';
import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import { escapeControls, hasControls } from '../../io/config-text/config-problem.ts';
import { MAX_SUGGESTED } from '../../io/config-text/read-fields.ts';
import { type KeyPath, type PathProblem, problemAt } from '../../io/config-text/path-problem.ts';
import { type MetricDefinition, metricDefinition } from '../../metrics/metric-definitions.ts';
import { findThresholdProblem, metricRange } from '../../metrics/threshold-range.ts';
import type { PipelineDocument } from '../../schemas/pipeline/pipeline-document.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';

/** The metric that is evaluated if the configuration names no metric. */
const STANDARD_METRIC = 'demographic_parity_difference';

/** Checks that the metric exists, and that the metric can both pass and fail its threshold. */
function checkGate({ fairness_metric: metric, validation_threshold: threshold }: Fields): PathProblem[] {
  try {
    const definition = metricDefinition(metric ?? STANDARD_METRIC);
    return threshold === undefined ? [] : checkThreshold(definition, threshold);
  } catch (error) {
    if (!(error instanceof MetricComputationError)) throw error;
    const suggestion = error.suggestion ?? 'Choose another metric.';
    return [problemAt(['fairness_metric'], `there is no metric named '${String(metric)}'`, suggestion)];
  }
}

function checkThreshold(definition: MetricDefinition, threshold: number): PathProblem[] {
  const comparator = definition.comparison === 'ratio' ? '>=' : '<=';
  const gate = { metric: definition.metric, threshold, comparator } as const;
  const found = findThresholdProblem(gate, metricRange(definition, { isSize: true }));
  return found === undefined ? [] : [problemAt(['validation_threshold'], found.message, found.suggestion)];
}

/**
 * The fields that passed their own checks. Invalid fields are absent. A check that depends on an absent field is
 * skipped.
 */
type Fields = Partial<PipelineDocument>;

/** The tolerance for the sum of proportions, because proportions may be rounded decimals. */
const SUM_TOLERANCE = 1e-6;

/**
 * Checks the requirements between fields.
 * @param columns the columns of the data, if they are known
 */
export function checkAcross(fields: Fields, columns?: readonly string[]): PathProblem[] {
  return [
    ...checkRepeated(namesOf(fields.sensitive), ['sensitive']),
    ...checkIntersections(fields),
    ...checkBenchmarks(fields.benchmarks, fields.sensitive, ['benchmarks']),
    ...checkSteps(fields),
    ...checkRepeated(fields.features, ['features']),
    ...checkFeatures(fields),
    ...checkTarget(fields),
    ...checkReportPath(fields.report_out),
    ...checkGate(fields),
    ...checkColumns(fields, columns),
  ];
}

/** Checks that data have the columns, if the data are known. */
function checkColumns(fields: Fields, columns: readonly string[] | undefined): PathProblem[] {
  if (columns === undefined) return [];
  const { sensitive, features = [], training, cluster, strata } = fields;
  const named: readonly (readonly [KeyPath, string | undefined])[] = [
    ...(typeof sensitive === 'string'
      ? [[['sensitive'], sensitive] as const]
      : (sensitive ?? []).map((name, index) => [['sensitive', index], name] as const)),
    ...features.map((name, index) => [['features', index], name] as const),
    [['training', 'target_column'], training?.target_column],
    [['cluster'], cluster],
    [['strata'], strata],
  ];
  return named.flatMap(([path, name]) =>
    name === undefined || columns.includes(name)
      ? []
      : [problemAt(path, `the data have no column '${name}'`, suggestNames(name, columns, 'columns'))],
  );
}

function namesOf(given: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof given === 'string' ? [given] : given;
}

function checkRepeated(names: readonly string[] | undefined, path: KeyPath): PathProblem[] {
  return repeats(names ?? []).map((index) =>
    problemAt([...path, index], `lists '${names?.[index] ?? ''}' twice`, 'List it once.'),
  );
}

/** Returns the indexes of names that repeat an earlier name. */
function repeats(names: readonly (string | undefined)[]): number[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const isRepeated = name !== undefined && seen.has(name);
    if (name !== undefined) seen.add(name);
    return isRepeated ? [index] : [];
  });
}

function checkIntersections({ intersections = [], sensitive }: Fields): PathProblem[] {
  const known = namesOf(sensitive);
  const taken = intersections.flatMap((names, index) => {
    const label = names.join(INTERSECTION_SEPARATOR);
    if (known?.includes(label) !== true) return [];
    const message = `its name '${label}' is already the name of an attribute`;
    return [problemAt(['intersections', index], message, 'Rename that column.')];
  });
  let suggested = 0;
  const isSuggested = (): boolean => suggested++ < MAX_SUGGESTED;
  const again = repeats(intersections.map((names) => JSON.stringify([...names].sort())));
  return [
    ...taken,
    ...intersections.flatMap((names, index) => checkCrossing(names, known, ['intersections', index], isSuggested)),
    ...again.map((index) => {
      const crossed = intersections[index]?.join(' and ') ?? '';
      return problemAt(['intersections', index], `repeats the intersection of ${crossed}`, 'List it once.');
    }),
  ];
}

function checkCrossing(
  names: readonly string[],
  known: readonly string[] | undefined,
  path: KeyPath,
  isSuggested: () => boolean,
): PathProblem[] {
  const unknown = names.flatMap((name, at) =>
    known === undefined || known.includes(name)
      ? []
      : [notSensitive([...path, at], 'value', name, known, isSuggested())],
  );
  return [...checkRepeated(names, path), ...unknown];
}

function checkBenchmarks(
  benchmarks: PipelineDocument['benchmarks'],
  sensitive: PipelineDocument['sensitive'] | undefined,
  path: KeyPath,
): PathProblem[] {
  const known = namesOf(sensitive);
  return Object.entries(benchmarks ?? {}).flatMap(([attribute, proportions], index) => {
    const here = [...path, attribute];
    if (known !== undefined && !known.includes(attribute)) {
      return [notSensitive(here, 'key', attribute, known, index < MAX_SUGGESTED)];
    }
    const sum = Object.values(proportions).reduce((total, proportion) => total + proportion, 0);
    if (Math.abs(sum - 1) <= SUM_TOLERANCE) return [];
    const required = `its proportions must sum to 1; they sum to ${String(Number(sum.toPrecision(6)))}`;
    return [problemAt(here, required, 'List every group with its share of the population.', 'key')];
  });
}

function checkSteps({ pipeline = [], sensitive }: Fields): PathProblem[] {
  const names = pipeline.map(({ name }) => name);
  return pipeline.flatMap(({ name, params }, index) => {
    const first = names.indexOf(name);
    const message = `the name '${String(name)}' is already used by pipeline[${String(first)}]`;
    const again =
      name === undefined || first === index
        ? []
        : [problemAt(['pipeline', index, 'name'], message, 'Give it another name.')];
    const own = params as { benchmarks?: PipelineDocument['benchmarks']; sensitive?: string | string[] } | undefined;
    const path = ['pipeline', index, 'params', 'benchmarks'];
    return [...again, ...checkBenchmarks(own?.benchmarks, own?.sensitive ?? sensitive, path)];
  });
}

function checkFeatures({ features = [], sensitive }: Fields): PathProblem[] {
  const known = namesOf(sensitive) ?? [];
  return features.flatMap((name, index) => {
    if (!known.includes(name)) return [];
    const message = `'${name}' is listed in sensitive, and sensitive columns cannot be features`;
    return [problemAt(['features', index], message, 'List it in only one of the two.')];
  });
}

function checkTarget({ training, sensitive, features = [] }: Fields): PathProblem[] {
  if (training === undefined) return [];
  const path = ['training', 'target_column'];
  const target = training.target_column;
  return Object.entries({ sensitive: namesOf(sensitive) ?? [], features })
    .filter(([, names]) => names.includes(target))
    .map(([list]) =>
      problemAt(path, `'${target}' is also listed in ${list}`, 'Choose another column, or remove it there.'),
    );
}

function notSensitive(
  path: KeyPath,
  at: 'key' | 'value',
  name: string,
  known: readonly string[],
  isSuggested: boolean,
): PathProblem {
  const suggestion = !isSuggested
    ? 'Add it to sensitive, or remove it.'
    : nearestNames(name, known).length > 0
      ? suggestNames(name, known, 'attributes')
      : `Add it to sensitive, or use one of these: ${known.join(', ')}.`;
  return problemAt(path, `'${name}' is not listed in sensitive`, suggestion, at);
}

/**
 * Checks that the report's path stays below the current folder, because a configuration may come from a third party. On
 * every system, both slashes and backslashes are separators.
 */
function checkReportPath(location: string | undefined): PathProblem[] {
  if (location === undefined) return [];
  if (hasControls(location)) {
    return [badReportPath('of one line, without control characters', location, 'Take that character out.')];
  }
  const isElsewhere =
    posix.isAbsolute(location) ||
    win32.isAbsolute(location) ||
    /^[a-z]:/i.test(location) ||
    location.split(/[\\/]/).includes('..');
  return isElsewhere
    ? [badReportPath("below the current folder, relative and without '..'", location, 'For example: data-report.md.')]
    : [];
}

function badReportPath(required: string, location: string, suggestion: string): PathProblem {
  return problemAt(['report_out'], `must be a path ${required}; got '${escapeControls(location)}'`, suggestion);
}
