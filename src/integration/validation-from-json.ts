import { type MetricResult, metricResultFromJson, type MetricResultJson } from '../metrics/metric-result.ts';
import { DataValidationError } from '../exceptions/index.ts';
import { isMapping, type Mapping, parseObject, valueAt } from '../internal/values.ts';
import type { Verdict } from './assertions.ts';
import type { GateVerdict } from './gates.ts';
import type { AttributeMetrics, FileValidation } from './validate-file.ts';
import type { ReportManifest } from '../document/provenance.ts';

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
  Partial<Pick<FileValidation, 'labels' | 'notes'>> & {
    readonly gates?: readonly GateJson[];
    readonly manifest?: ReportManifest;
  } & (AttributeJson | { readonly attributes: Readonly<Record<string, AttributeJson>> });

/**
 * Parses the JSON of a validation from a file.
 * @param path the path of the file, for the message
 * @throws {DataValidationError} if the text is not the JSON of a validation
 */
export function parseValidationJson(text: string, path: string): ValidationJson {
  const json = parseObject(text);
  const parts = json === undefined ? [] : 'attributes' in json ? valuesOf(json['attributes']) : [json];
  const isResult = parts.length > 0 && parts.every((part) => isMapping(part) && isMapping(part['metrics']));
  const metrics = parts.flatMap((part) => valuesOf(valueAt(part, ['metrics'])));
  if (
    isResult &&
    metrics.every(isMetricJson) &&
    isManifestJson(json?.['manifest']) &&
    isListOfObjects(json?.['gates'])
  ) {
    return json as unknown as ValidationJson;
  }
  throw notAResult(path);
}

/**
 * Parses a stored result of any command.
 * @throws {DataValidationError} if the text is not a JSON object
 */
export function parseResult(text: string, path: string): Mapping {
  const result = parseObject(text);
  if (result !== undefined) return result;
  throw notAResult(path);
}

function notAResult(path: string): DataValidationError {
  return new DataValidationError(`'${path}' is not a result of validate in JSON.`, {
    code: 'unreadable-file',
    context: { path },
    suggestion: "Write one with 'evenhand validate … --out result.json'.",
  });
}

function valuesOf(value: unknown): unknown[] {
  return isMapping(value) ? Object.values(value) : [];
}

function isListOfObjects(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isMapping));
}

function isManifestJson(value: unknown): boolean {
  if (value === undefined) return true;
  return (
    isMapping(value) &&
    isMapping(value['options']) &&
    Array.isArray(value['inputs']) &&
    value['inputs'].every(isMapping)
  );
}

function isMetricJson(value: unknown): boolean {
  if (!isMapping(value)) return false;
  const { value: number, ci, n_per_group: rows, excluded } = value;
  const isInterval = ci === null || (Array.isArray(ci) && ci.length === 2);
  return (number === null || typeof number === 'number') && isInterval && isMapping(rows) && isMapping(excluded);
}

/**
 * Restores a validation from its JSON, so that a report can be made from a stored result. Frames (of a control feature,
 * or of requested measures) are not restored.
 * @param attribute the name of the attribute, for JSON of earlier versions that does not contain it
 */
export function validationFromJson(json: ValidationJson, attribute: string): FileValidation {
  const { passed, threshold, gates, notes } = json;
  const parts = Object.entries<AttributeJson>('attributes' in json ? json.attributes : { [attribute]: json });
  return {
    passed,
    threshold,
    gates: gates === undefined ? earlierGates(parts, threshold) : gates.map(gateFromJson),
    attributes: Object.fromEntries(parts.map(([name, part]) => [name, metricsOf(part)])),
    verdicts: Object.fromEntries(parts.map(([name, part]) => [name, verdictOf(part, threshold)])),
    labels: json.labels,
    frames: {},
    ...(notes === undefined ? {} : { notes }),
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
