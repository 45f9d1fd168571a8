import { MetricComputationError } from '../../exceptions/index.ts';
import { type MetricDefinition, metricDefinition } from '../../metrics/metric-definitions.ts';
import { findThresholdFault, metricRange } from '../../metrics/threshold-range.ts';
import type { PipelineDocument } from '../../schemas/pipeline/pipeline-document.ts';
import type { PathFault } from '../../io/config-text/path-fault.ts';

/** What is judged where no metric is named. */
const STANDARD_METRIC = 'demographic_parity_difference';

type Gate = Pick<Partial<PipelineDocument>, 'fairness_metric' | 'validation_threshold'>;

/** That there is such a metric, and that its threshold can be passed and missed. */
export function checkGate({ fairness_metric: metric, validation_threshold: threshold }: Gate): PathFault[] {
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
        suggestion: error.suggestion ?? 'Name another.',
      },
    ];
  }
}

function checkThreshold(definition: MetricDefinition, threshold: number): PathFault[] {
  const comparator = definition.comparison === 'ratio' ? '>=' : '<=';
  const gate = { metric: definition.metric, threshold, comparator } as const;
  const fault = findThresholdFault(gate, metricRange(definition, { isSize: true }));
  if (fault === undefined) return [];
  const path = ['validation_threshold'];
  return [{ path, at: 'value', message: `validation_threshold: ${fault.message}`, suggestion: fault.suggestion }];
}
