import { camelFields } from '../../internal/arguments.ts';
import { freezeDeep, listOf } from '../../internal/values.ts';
import type {
  PipelineConfig,
  PipelineDocument,
  PipelineStepConfig,
  TrainingConfig,
} from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import { paramsToCamelCase } from './params-case.ts';

/**
 * Builds a configuration from checked fields: fills in names and empty lists, renames keys to camelCase, and freezes
 * it.
 */
export function buildConfig(fields: Partial<PipelineDocument>): PipelineConfig {
  // All required fields are present: otherwise the check before would have reported an error.
  const document = fields as PipelineDocument;
  const { sensitive, intersections = [], benchmarks = {}, pipeline = [], training, ...others } = document;
  return freezeDeep({
    sensitive: listOf(sensitive),
    intersections,
    benchmarks,
    pipeline: buildSteps(pipeline),
    ...camelFields(others),
    ...(training === undefined ? {} : { training: buildTraining(training) }),
  });
}

/** Names each step without a name after its transformer, with a number if that name is in use. */
function buildSteps(steps: NonNullable<PipelineDocument['pipeline']>): PipelineStepConfig[] {
  const taken = new Set(steps.map(({ name }) => name));
  return steps.map(({ name, transformer, params }) => {
    const own = name ?? freeName(transformer, taken);
    taken.add(own);
    return { name: own, transformer, params: paramsToCamelCase(params ?? {}, TRANSFORMER_PARAMS[transformer]) };
  });
}

function freeName(kind: string, taken: ReadonlySet<string | undefined>): string {
  let name = kind;
  for (let number = 2; taken.has(name); number++) name = `${kind}_${String(number)}`;
  return name;
}

function buildTraining(training: NonNullable<PipelineDocument['training']>): TrainingConfig {
  const { params = {}, ...others } = training;
  return { ...camelFields(others), params: paramsToCamelCase(params, TRAINING_PARAMS[training.method]) };
}
