import { escapeControls } from '../../io/config-text/config-problem.ts';
import type { Mapping } from '../../internal/values.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import { hasClusters } from '../../table/cluster-columns.ts';
import { paramsToSnakeCase } from './params-case.ts';

/** Describes a configuration, with one line for each of its parts. */
export function describeConfig(config: PipelineConfig): string[] {
  return [
    `Sensitive: ${describeSensitive(config)}.`,
    `Detectors: alpha ${String(config.alpha)}, proxy threshold ${String(config.proxyThreshold)}${config.reportOut === undefined ? '' : `, report in ${config.reportOut}`}.`,
    ...describeSteps(config),
    `Training: ${describeTraining(config)}.`,
    `Gate: ${describeGate(config)}.`,
    ...describeClusters(config),
  ].map(escapeControls);
}

function describeSensitive({ sensitive, intersections, benchmarks }: PipelineConfig): string {
  const crossed = intersections.map((names) => names.join(' and '));
  const known = Object.keys(benchmarks);
  return [
    sensitive.join(', '),
    ...(crossed.length > 0 ? [`crossed: ${crossed.join('; ')}`] : []),
    ...(known.length > 0 ? [`benchmarks for ${known.join(', ')}`] : []),
  ].join('; ');
}

function describeSteps({ pipeline }: PipelineConfig): string[] {
  if (pipeline.length === 0) return ['Steps: none.'];
  return pipeline.map(({ name, transformer, params }, index) => {
    const own = name === transformer ? name : `${name}: ${transformer}`;
    return `Step ${String(index + 1)}: ${own}${describeParams(paramsToSnakeCase(params, TRANSFORMER_PARAMS[transformer]))}.`;
  });
}

function describeTraining({ training, features }: PipelineConfig): string {
  if (training === undefined) return 'none, only the data are prepared';
  const { method, targetColumn, positiveLabel, params } = training;
  const label = positiveLabel === undefined ? '' : ` (1 if it is '${positiveLabel}')`;
  const seen =
    features === undefined
      ? 'the numeric columns'
      : `${String(features.length)} ${features.length === 1 ? 'feature' : 'features'}`;
  return `${method}${describeParams(paramsToSnakeCase(params, TRAINING_PARAMS[method]))}, predicts ${targetColumn}${label} from ${seen}`;
}

function describeClusters({ cluster, strata }: PipelineConfig): string[] {
  if (!hasClusters({ cluster, strata })) return [];
  return [`Clusters: ${cluster ?? 'each row'}${strata === undefined ? '' : `, in strata of ${strata}`}.`];
}

/** Describes the metric and the threshold of the gate. */
export function describeGate({ fairnessMetric, validationThreshold, strictMissing }: PipelineConfig): string {
  const metric = fairnessMetric ?? 'demographic_parity_difference';
  if (validationThreshold === undefined) return `${metric} is reported without a verdict`;
  const side = metric.endsWith('_ratio') ? 'at least' : 'at most';
  const rule = strictMissing === true ? ', strict about missing values' : '';
  return `${metric} ${side} ${String(validationThreshold)}${rule}`;
}

function describeParams(params: Mapping): string {
  const shown = Object.entries(params).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}
