import { documentToMarkdown } from '../document/document-to-markdown.ts';
import { assertKnownOptions, camelFields, type OptionNames, snakeFields } from '../internal/arguments.ts';
import { own } from '../internal/values.ts';
import type { GateVerdict } from './gates.ts';
import type { FileValidation } from './measure-attributes.ts';
import type { MetricChange, ValidationChanges } from './validation-changes.ts';
import type { ReportManifest } from '../document/provenance.ts';
import { type ReportedValidation, validationDocument, type ValidationDocumentOptions } from './validation-document.ts';

/** Options for the Markdown report of a validation: content in addition to the results. */
type MarkdownParts = Pick<ValidationDocumentOptions, 'changes' | 'provenance'>;

const MARKDOWN_PARTS: OptionNames<MarkdownParts> = { changes: true, provenance: true };

const JSON_PARTS: OptionNames<ValidationJsonParts> = { manifest: true, changes: true };

/** Options for the JSON of a validation: content in addition to the results. */
export interface ValidationJsonParts {
  /** @defaultValue none */
  readonly manifest?: ReportManifest | undefined;
  /**
   * What changed since an earlier validation.
   * @defaultValue none
   */
  readonly changes?: ValidationChanges | undefined;
}

/**
 * Converts a validation to plain JSON: `attributes` contains the results of each attribute by name, and `gates`
 * contains every verdict. If there is only one attribute, the top level of the JSON contains its results too.
 */
export function validationToJson(
  validation: FileValidation,
  options: ValidationJsonParts = {},
): Record<string, unknown> {
  assertKnownOptions('validationToJson', options, JSON_PARTS);
  const { passed, threshold, gates, attributes, verdicts, labels, notes = [] } = validation;
  const { manifest, changes } = options;
  const parts = Object.entries(attributes).map(
    ([name, metrics]) =>
      [name, { passed: own(verdicts, name)?.passed ?? null, ...attributeToJson(validation, name, metrics) }] as const,
  );
  return {
    passed,
    threshold,
    gates: gates.map(gateToJson),
    ...(Object.keys(labels ?? {}).length === 0 ? {} : { labels }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(parts.length === 1 ? { ...parts[0]?.[1], passed } : {}),
    attributes: Object.fromEntries(parts),
    ...(changes === undefined ? {} : { changes: changesToJson(changes) }),
    ...(manifest === undefined ? {} : { manifest }),
  };
}

function attributeToJson(
  { verdicts, frames, measures }: FileValidation,
  name: string,
  metrics: FileValidation['attributes'][string],
): Record<string, unknown> {
  const control = own(frames, name);
  const frame = own(measures, name);
  return {
    verdict: verdictToJson(own(verdicts, name)),
    metrics: Object.fromEntries(Object.entries(metrics).map(([metric, result]) => [metric, result.toJSON()])),
    ...(frame === undefined ? {} : { measures: frame.toJSON() }),
    ...(control === undefined ? {} : { control: control.toJSON() }),
  };
}

/**
 * Returns `JSON.stringify(validationToJson(validation))`. The results of a single attribute, which the JSON contains
 * twice, are converted to text once.
 */
export function validationToJsonText(validation: FileValidation): string {
  const { passed, threshold, gates, attributes, verdicts, labels } = validation;
  const [only, ...others] = Object.entries(attributes);
  if (only === undefined || others.length > 0 || validation.notes !== undefined)
    return JSON.stringify(validationToJson(validation));
  const [name, metrics] = only;
  const results = JSON.stringify(attributeToJson(validation, name, metrics)).slice(1, -1);
  const hasLabels = Object.keys(labels ?? {}).length > 0;
  const head = JSON.stringify({ passed, threshold, gates: gates.map(gateToJson), ...(hasLabels ? { labels } : {}) });
  const ownPassed = String(own(verdicts, name)?.passed ?? null);
  return `${head.slice(0, -1)},${results},"attributes":{${JSON.stringify(name)}:{"passed":${ownPassed},${results}}}}`;
}

function changesToJson({ warnings, gates, metrics, groups }: ValidationChanges): Record<string, unknown> {
  return { warnings, gates, metrics: metrics.map(snakeFields), groups };
}

/** Changes as JSON. */
export type ChangesJson = Omit<ValidationChanges, 'metrics'> & { readonly metrics: readonly object[] };

/** Restores changes from their JSON. */
export function changesFromJson({ metrics, ...others }: ChangesJson): ValidationChanges {
  return { ...others, metrics: metrics.map((metric) => camelFields(metric) as unknown as MetricChange) };
}

function verdictToJson(verdict: FileValidation['verdicts'][string] | undefined): Record<string, unknown> | null {
  const { status = null, message, straddles, unevenlyMissing } = verdict ?? {};
  return status === null ? null : { status, message, straddles, unevenly_missing: unevenlyMissing };
}

function gateToJson(verdict: GateVerdict): Record<string, unknown> {
  const { attribute, metric, threshold, comparator, straddles, passed, status, message, unevenlyMissing } = verdict;
  return {
    attribute,
    metric,
    threshold,
    comparator,
    straddles,
    passed,
    status,
    message,
    unevenly_missing: unevenlyMissing,
  };
}

/**
 * Renders a validation as a Markdown report: the verdict first, if there is one, then the metrics of each attribute
 * with groups, intervals and exclusions.
 * @param source the name of the data, for the first line
 */
export function validationToMarkdown(
  validation: ReportedValidation,
  source: string,
  parts: MarkdownParts = {},
): string {
  assertKnownOptions('validationToMarkdown', parts, MARKDOWN_PARTS);
  return documentToMarkdown(validationDocument(validation, { ...parts, source }));
}
