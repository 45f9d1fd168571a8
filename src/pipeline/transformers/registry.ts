import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { oneOf, toCamelCase, snakeFields } from '../../internal/arguments.ts';
import { withoutUndefined } from '../../internal/values.ts';
import {
  TRANSFORMER_KINDS,
  TRANSFORMER_PARAMS,
  type TransformerKind,
} from '../../schemas/pipeline/transformer-params.ts';
import { CORRELATION_REMOVER_OPTION_NAMES, CorrelationRemover } from './correlation/correlation-remover.ts';
import { PROXY_DROPPER_OPTION_NAMES, ProxyDropper } from './proxy-dropper.ts';
import { sensitiveNames } from './read-columns.ts';
import { DISPARATE_IMPACT_REMOVER_OPTION_NAMES, DisparateImpactRemover } from './repair/disparate-impact-remover.ts';
import { LearnedFairRepresentations } from './representations/learned-fair-representations.ts';
import { LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES } from './representations/representation-options.ts';
import type { StepDefaults, Transformer } from './transformer.ts';
import { INSTANCE_REWEIGHTING_OPTION_NAMES, InstanceReweighting } from './weighting/instance-reweighting.ts';
import { REWEIGHING_TRANSFORMER_OPTION_NAMES, ReweighingTransformer } from './weighting/reweighing-transformer.ts';

/** The interface of a class of transformers. */
interface TransformerClass {
  new (options: never): Transformer;
  fromJSON(json: unknown): Transformer;
}

/** A class of transformers, and the options of its constructor. */
interface Registered {
  readonly type: TransformerClass;
  readonly options: Readonly<Record<string, true>>;
}

const REGISTRY: Readonly<Record<TransformerKind, Registered>> = {
  InstanceReweighting: { type: InstanceReweighting, options: INSTANCE_REWEIGHTING_OPTION_NAMES },
  ReweighingTransformer: { type: ReweighingTransformer, options: REWEIGHING_TRANSFORMER_OPTION_NAMES },
  DisparateImpactRemover: { type: DisparateImpactRemover, options: DISPARATE_IMPACT_REMOVER_OPTION_NAMES },
  ProxyDropper: { type: ProxyDropper, options: PROXY_DROPPER_OPTION_NAMES },
  CorrelationRemover: { type: CorrelationRemover, options: CORRELATION_REMOVER_OPTION_NAMES },
  LearnedFairRepresentations: { type: LearnedFairRepresentations, options: LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES },
};

/**
 * Creates a transformer by its name, as described by a configuration's step.
 * @param params the options of the transformer, in camelCase
 * @param defaults the values from the rest of the configuration, for options that the step does not set
 * @throws {ValueError} if a name or option is unknown (with the most similar names), or an option is out of range
 */
export function createTransformer(
  kind: string,
  params: Readonly<Record<string, unknown>>,
  defaults: StepDefaults,
): Transformer {
  const known = oneOf('transformer', kind, TRANSFORMER_KINDS);
  const given = checkParams(known, params);
  const sensitive = (given['sensitive'] ?? defaults.sensitive) as string | readonly string[];
  const names = new Set(sensitiveNames(sensitive));
  const benchmarks = Object.entries(defaults.benchmarks).filter(([name]) => names.has(name));
  const around = {
    sensitive,
    ...(benchmarks.length > 0 ? { benchmarks: Object.fromEntries(benchmarks) } : {}),
    label: defaults.label,
    // The positive label applies only to the default label column, because another column has other values.
    positiveLabel: (given['label'] ?? defaults.label) === defaults.label ? defaults.positiveLabel : undefined,
    // The features are passed as `candidates`, because they may be text or may have been dropped by an earlier step.
    candidates: defaults.features,
  };
  const { type, options } = REGISTRY[known];
  const taken = Object.entries(around).filter(([name]) => Object.hasOwn(options, name));
  return new type({ ...Object.fromEntries(taken), ...given } as never);
}

/**
 * Restores a transformer of any kind from the output of its `toJSON`.
 * @throws {ValueError} if the kind is unknown, with the most similar names
 * @throws {DataValidationError} if the data are invalid for another reason
 */
export function transformerFromJson(json: unknown): Transformer {
  if (typeof json !== 'object' || json === null || !('kind' in json)) {
    throw new DataValidationError('This is not a stored transformer: it has no kind.', {
      code: 'invalid-state',
      suggestion: "Pass the unchanged output of a transformer's toJSON.",
    });
  }
  return REGISTRY[oneOf('kind', json.kind as string, TRANSFORMER_KINDS)].type.fromJSON(json);
}

/** Returns the options that are not undefined, after checking their names and types. */
function checkParams(kind: TransformerKind, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const schema = TRANSFORMER_PARAMS[kind];
  const given = withoutUndefined(params);
  const names = Object.keys(schema.shape).map(toCamelCase);
  for (const name of Object.keys(given)) oneOf(`params of ${kind}`, name, names);
  const parsed = schema.safeParse(snakeFields(given));
  if (parsed.success) return given;
  const [issue] = parsed.error.issues;
  const field = toCamelCase(String(issue?.path[0] ?? 'params'));
  throw new ValueError(`The ${field} parameter of ${kind} cannot be used: ${issue?.message ?? 'it is invalid'}.`, {
    context: { parameter: field, value: given[field] },
    cause: parsed.error,
  });
}
