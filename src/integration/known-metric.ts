import { MetricComputationError, ValueError } from '../exceptions/index.ts';
import { type MetricDefinition, metricDefinition } from '../metrics/metric-definitions.ts';

/**
 * The metric by its name.
 * @throws {ValueError} where there is none, since it was asked for by mistake
 */
export function knownMetric(name: string): MetricDefinition {
  try {
    return metricDefinition(name);
  } catch (cause) {
    if (!MetricComputationError.isInstance(cause)) throw cause;
    throw new ValueError(cause.message, {
      context: { metric: name },
      ...(cause.suggestion === undefined ? {} : { suggestion: cause.suggestion }),
      cause,
    });
  }
}
