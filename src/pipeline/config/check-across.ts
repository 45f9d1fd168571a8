import { MetricComputationError } from '../../exceptions/index.ts';
import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import { MAX_SUGGESTED } from '../../io/config-text/read-fields.ts';
import { type KeyPath, type PathProblem, problemAt } from '../../io/config-text/path-problem.ts';
import { type MetricDefinition, metricDefinition } from '../../metrics/metric-definitions.ts';
import { findThresholdProblem, metricRange } from '../../metrics/threshold-range.ts';
import type { PipelineDocument } from '../../schemas/pipeline/pipeline-document.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';
import { checkReportPath } from './check-report-path.ts';

/** The metric that is evaluated if none is named. */
const STANDARD_METRIC = 'demographic_parity_difference';

type Gate = Pick<Partial<PipelineDocument>, 'fairness_metric' | 'validation_threshold'>;

/** Checks that the metric exists, and that its threshold can be both passed and failed. */
function checkGate({ fairness_metric: metric, validation_threshold: threshold }: Gate): PathProblem[] {
  try {
    const definition = metricDefinition(metric ?? STANDARD_METRIC);
    return threshold === undefined ? [] : checkThreshold(definition, threshold);
  } catch (error) {
    if (!(error instanceof MetricComputationError)) throw error;
    return [
      {
        path: ['fairness_metric'],
        at: 'value',
        message: `fairness_metric: there is no metric named '${String(metric)}'`,
        suggestion: error.suggestion ?? 'Choose another metric.',
      },
    ];
  }
}

function checkThreshold(definition: MetricDefinition, threshold: number): PathProblem[] {
  const comparator = definition.comparison === 'ratio' ? '>=' : '<=';
  const gate = { metric: definition.metric, threshold, comparator } as const;
  const problemAt = findThresholdProblem(gate, metricRange(definition, { isSize: true }));
  if (problemAt === undefined) return [];
  const path = ['validation_threshold'];
  return [
    { path, at: 'value', message: `validation_threshold: ${problemAt.message}`, suggestion: problemAt.suggestion },
  ];
}

/** The fields that are valid by themselves. An invalid field is missing, and checks that depend on it are skipped. */
type Fields = Partial<PipelineDocument>;

/** The tolerance for the sum of proportions, which allows for rounded decimals. */
const SUM_TOLERANCE = 1e-6;

/** Checks the requirements between fields. */
export function checkAcross(fields: Fields): PathProblem[] {
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
  ];
}

function namesOf(given: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof given === 'string' ? [given] : given;
}

function checkRepeated(names: readonly string[] | undefined, path: KeyPath): PathProblem[] {
  return repeats(names ?? []).map((index) =>
    problemAt([...path, index], `lists '${names?.[index] ?? ''}' twice`, 'List it once.'),
  );
}

/** Returns the indexes of names that occurred before. */
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
    return known?.includes(label) === true
      ? [
          problemAt(
            ['intersections', index],
            `its name '${label}' is already the name of an attribute`,
            'Rename that column.',
          ),
        ]
      : [];
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
  return features.flatMap((name, index) =>
    known.includes(name)
      ? [
          problemAt(
            ['features', index],
            `'${name}' is listed in sensitive, and sensitive columns cannot be features`,
            'List it in only one of the two.',
          ),
        ]
      : [],
  );
}

function checkTarget({ training, sensitive, features = [] }: Fields): PathProblem[] {
  if (training === undefined) return [];
  const path = ['training', 'target_column'];
  const lists = { sensitive: namesOf(sensitive) ?? [], features };
  return Object.entries(lists).flatMap(([list, names]) =>
    names.includes(training.target_column)
      ? [
          problemAt(
            path,
            `'${training.target_column}' is also listed in ${list}`,
            'Choose another column, or remove it there.',
          ),
        ]
      : [],
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
    ? 'Add it to sensitive, or take it out.'
    : nearestNames(name, known).length > 0
      ? suggestNames(name, known, 'attributes')
      : `Add it to sensitive, or use one of these: ${known.join(', ')}.`;
  return problemAt(path, `'${name}' is not listed in sensitive`, suggestion, at);
}
