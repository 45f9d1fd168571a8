import { ConfigValidationError } from '../exceptions/index.ts';

/** A metric, and the gate that was written with it. */
export interface MetricGate {
  readonly metric: string;
  readonly comparator?: '<=' | '<' | '>=' | '>' | undefined;
  readonly threshold?: number | undefined;
}

/**
 * Reads a metric with or without its gate: `NAME`, or `NAME<=VALUE` with `<=`, `<`, `>=` or `>`.
 * @throws {ConfigValidationError} for a gate without a name or a number
 */
export function parseMetricGate(text: string): MetricGate {
  const [, name = '', comparator, value = ''] = /^([^<>=]*)(?:([<>=]+)(.*))?$/s.exec(text) ?? [];
  const metric = name.trim();
  if (comparator === undefined) return { metric: text };
  const threshold = value.trim() === '' ? NaN : Number(value);
  if (metric !== '' && isComparator(comparator) && Number.isFinite(threshold)) return { metric, comparator, threshold };
  throw new ConfigValidationError(`metric: '${text}' is not a gate.`, {
    context: { parameter: 'metric', value: text },
    suggestion: "Write NAME<=VALUE with <=, <, >= or >, as in 'demographic_parity_difference<=0.1'.",
  });
}

function isComparator(text: string): text is '<=' | '<' | '>=' | '>' {
  return ['<=', '<', '>=', '>'].includes(text);
}
