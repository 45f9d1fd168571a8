import type { MetricResult, MetricResultJson } from '../metrics/metric-result.ts';
import { metricResultFromJson } from '../metrics/metric-result-from-json.ts';
import type { Verdict } from './assertions.ts';
import type { AttributeMetrics, FileValidation } from './validate-file.ts';

/** One attribute's part of a validation on the wire. */
interface AttributeJson {
  readonly passed: boolean | null;
  readonly verdict: Pick<Verdict, 'status' | 'message' | 'straddles'> | null;
  readonly metrics: Readonly<Record<string, MetricResultJson>>;
}

/** A validation on the wire, as `validationToJson` gives it: of one attribute, or of several by their names. */
export type ValidationJson = Pick<FileValidation, 'passed' | 'threshold'> &
  Partial<Pick<FileValidation, 'labels'>> &
  (AttributeJson | { readonly attributes: Readonly<Record<string, AttributeJson>> });

/**
 * A validation from its JSON, so that a report can be made of one that was kept.
 * What JSON does not have is not there: frames of a control feature.
 * @param attribute what the attribute is called where there is one, since its name is not in the JSON
 */
export function validationFromJson(json: ValidationJson, attribute: string): FileValidation {
  const { passed, threshold } = json;
  const parts = Object.entries('attributes' in json ? json.attributes : { [attribute]: json });
  return {
    passed,
    threshold,
    attributes: Object.fromEntries(parts.map(([name, part]) => [name, metricsOf(part)])),
    verdicts: Object.fromEntries(parts.map(([name, part]) => [name, verdictOf(part, threshold)])),
    labels: json.labels,
    frames: {},
  };
}

function metricsOf({ metrics }: AttributeJson): AttributeMetrics {
  const results = Object.entries(metrics).map(([name, json]): [string, MetricResult] => [
    name,
    metricResultFromJson(json),
  ]);
  return Object.fromEntries(results);
}

function verdictOf({ passed, verdict }: AttributeJson, threshold: number | null): Verdict {
  const { status = null, message = 'No threshold, no verdict.', straddles = false } = verdict ?? {};
  return { passed, status, threshold, comparator: null, message, straddles };
}
