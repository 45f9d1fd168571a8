import { type MetricResult, metricResultFromJson, type MetricResultJson } from '../metrics/metric-result.ts';
import type { Verdict } from './assertions.ts';
import type { GateVerdict } from './measure-attributes.ts';
import type { AttributeMetrics, FileValidation } from './validate-file.ts';

/** A verdict as JSON. */
type VerdictJson = Pick<Verdict, 'status' | 'message' | 'straddles'> & { readonly unevenly_missing?: boolean };

/** The verdict of one gate as JSON. */
type GateJson = Omit<GateVerdict, 'unevenlyMissing'> & { readonly unevenly_missing: boolean };

/** The part of one attribute in a validation as JSON. */
interface AttributeJson {
  readonly passed: boolean | null;
  readonly verdict: VerdictJson | null;
  readonly metrics: Readonly<Record<string, MetricResultJson>>;
}

/**
 * A validation as JSON, as returned by `validationToJson`. Earlier versions wrote no `attributes` for a single attribute.
 */
export type ValidationJson = Pick<FileValidation, 'passed' | 'threshold'> &
  Partial<Pick<FileValidation, 'labels'>> & { readonly gates?: readonly GateJson[] } & (
    AttributeJson | { readonly attributes: Readonly<Record<string, AttributeJson>> }
  );

/**
 * Restores a validation from its JSON, so that a report can be made from a stored result. Frames (of a control feature,
 * or of requested measures) are not restored.
 * @param attribute the name of the attribute, for JSON of earlier versions that does not contain it
 */
export function validationFromJson(json: ValidationJson, attribute: string): FileValidation {
  const { passed, threshold, gates } = json;
  const parts = Object.entries<AttributeJson>('attributes' in json ? json.attributes : { [attribute]: json });
  return {
    passed,
    threshold,
    gates: gates === undefined ? earlierGates(parts, threshold) : gates.map(gateFromJson),
    attributes: Object.fromEntries(parts.map(([name, part]) => [name, metricsOf(part)])),
    verdicts: Object.fromEntries(parts.map(([name, part]) => [name, verdictOf(part, threshold)])),
    labels: json.labels,
    frames: {},
  };
}

function gateFromJson({ unevenly_missing: unevenlyMissing, ...verdict }: GateJson): GateVerdict {
  return { ...verdict, unevenlyMissing };
}

/** Returns the gates of a validation in the older format without `gates`: one verdict on each attribute. */
function earlierGates(
  parts: readonly (readonly [name: string, part: AttributeJson])[],
  threshold: number | null,
): GateVerdict[] {
  return parts.flatMap(([attribute, part]) =>
    part.verdict === null ? [] : [{ attribute, metric: '', ...verdictOf(part, threshold) }],
  );
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
  const unevenlyMissing = verdict?.unevenly_missing === true;
  return { passed, status, threshold, comparator: null, message, straddles, unevenlyMissing };
}
