import { shellCommand } from '../../../src/document/provenance.ts';
import { isHigherBetter } from '../../../src/integration/assertions.ts';
import type { Gate } from '../../../src/schemas/gates.ts';
import type { ValidateInput } from '../../../src/schemas/validate-values.ts';
import type { AuditSettings } from './protocol.ts';

/** Returns the gates of an audit, each with its comparison. */
function gatesOf({ gates }: AuditSettings): Gate[] {
  return gates.map(({ metric, threshold }) => ({
    metric,
    threshold,
    comparator: isHigherBetter(metric) ? '>=' : '<=',
  }));
}

/** Returns the attributes of an audit: each by itself, and perhaps all of them crossed. */
export function attributesOf({ sensitive, isCrossed = false }: AuditSettings): string[][] {
  return [...sensitive.map((name) => [name]), ...(isCrossed && sensitive.length > 1 ? [[...sensitive]] : [])];
}

/** Returns the input of a validation for the settings of the page. */
export function validateInput(settings: AuditSettings): Omit<ValidateInput, 'backend' | 'counts'> {
  const { yPred, score, scoreThreshold, yTrue, control, sampleWeight, cluster } = settings;
  const { positiveLabel, yTruePositiveLabel } = settings;
  const metric = metricsOf(settings);
  return {
    attributes: attributesOf(settings),
    ...(score === undefined ? { yPred } : { score, scoreThreshold }),
    yTrue,
    sampleWeight,
    cluster,
    control: control === undefined ? undefined : [control],
    positiveLabel,
    yTruePositiveLabel,
    minGroupSize: settings.minGroupSize,
    ciLevel: settings.ciLevel,
    metric: metric.length === 0 ? undefined : metric,
    decimal: settings.decimal,
  };
}

/** Returns the metrics to add, each perhaps with its gate, as the command line takes them. */
function metricsOf(settings: AuditSettings): string[] {
  const gates = gatesOf(settings);
  const gated = new Set(gates.map(({ metric }) => metric));
  return [
    ...extraMetrics(settings).filter((metric) => !gated.has(metric)),
    ...gates.map(({ metric, comparator = '<=', threshold }) => `${metric}${comparator}${String(threshold)}`),
  ];
}

/** Returns the metrics that are always shown, besides those with gates. */
function extraMetrics({ yTrue, score }: AuditSettings): string[] {
  return [
    'demographic_parity_ratio',
    ...(yTrue === undefined ? [] : ['equal_opportunity_difference', 'predictive_parity_difference']),
    ...(yTrue !== undefined && score !== undefined ? ['roc_auc_difference'] : []),
  ];
}

/** Returns the arguments of the command that gives the same result. */
function commandArguments(settings: AuditSettings, file: string): string[] {
  const option = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}`, String(value)];
  const quoted = (names: readonly string[]): string =>
    names.map((name) => name.replaceAll(',', String.raw`\,`)).join(',');
  return [
    'validate',
    ...option('csv', file),
    ...(settings.score === undefined
      ? option('y-pred', settings.yPred)
      : [...option('score', settings.score), ...option('score-threshold', settings.scoreThreshold)]),
    ...option('y-true', settings.yTrue),
    ...attributesOf(settings).flatMap((names) => option('sensitive', quoted(names))),
    ...option('control', settings.control === undefined ? undefined : quoted([settings.control])),
    ...option('sample-weight', settings.sampleWeight),
    ...option('cluster', settings.cluster),
    ...option('positive-label', settings.positiveLabel),
    ...option('y-true-positive-label', settings.yTruePositiveLabel),
    ...option('decimal', settings.decimal),
    ...option('min-group-size', settings.minGroupSize),
    ...option('ci-level', settings.ciLevel),
    ...metricsOf(settings).flatMap((metric) => option('metric', metric)),
  ];
}

/** Returns the command that gives the same result. */
export function commandOf(settings: AuditSettings, file: string): string {
  return shellCommand(commandArguments(settings, file));
}

/** Returns the options of that command by name, for the manifest of a result. */
export function optionsOf(settings: AuditSettings, file: string): Record<string, unknown> {
  const [, ...args] = commandArguments(settings, file);
  const options: Record<string, unknown> = {};
  for (let index = 0; index < args.length; index += 2) {
    const name = (args[index] ?? '').slice(2).replaceAll('-', '_');
    const value = args[index + 1] ?? '';
    if (name === 'csv') continue;
    if (name === 'metric') options[name] = [...((options[name] as string[] | undefined) ?? []), value];
    else if (name === 'sensitive') options[name] = attributesOf(settings);
    else if (name === 'control') options[name] = [settings.control];
    else options[name] = NUMBERS.has(name) ? Number(value) : value;
  }
  return options;
}

const NUMBERS = new Set(['score_threshold', 'min_group_size', 'ci_level']);

/** Returns a file of gates in YAML, for `evenhand validate --gate`. */
export function gateFileOf(settings: AuditSettings): string {
  const gates = gatesOf(settings);
  if (gates.length === 0) return '';
  return gates
    .map(
      ({ metric, comparator, threshold }) =>
        `- metric: ${metric}\n  comparator: '${comparator ?? '<='}'\n  threshold: ${String(threshold)}\n`,
    )
    .join('');
}
