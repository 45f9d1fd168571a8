import { documentToMarkdown } from '../document/document-to-markdown.ts';
import { own } from '../internal/values.ts';
import type { FileValidation, GateVerdict } from './measure-attributes.ts';
import { type ReportedValidation, validationDocument } from './validation-document.ts';

/**
 * Converts a validation to plain JSON: the results of each attribute are under its name in `attributes`, and `gates` has
 * every verdict. If there is only one attribute, its results are also at the top level.
 */
export function validationToJson({
  passed,
  threshold,
  gates,
  attributes,
  verdicts,
  labels,
  frames,
  measures,
}: FileValidation): Record<string, unknown> {
  const attributeToJson = (name: string, metrics: FileValidation['attributes'][string]): Record<string, unknown> => {
    const control = own(frames, name);
    const frame = own(measures, name);
    return {
      verdict: verdictToJson(own(verdicts, name)),
      metrics: Object.fromEntries(Object.entries(metrics).map(([metric, result]) => [metric, result.toJSON()])),
      ...(frame === undefined ? {} : { measures: frame.toJSON() }),
      ...(control === undefined ? {} : { control: control.toJSON() }),
    };
  };
  const parts = Object.entries(attributes).map(
    ([name, metrics]) =>
      [name, { passed: own(verdicts, name)?.passed ?? null, ...attributeToJson(name, metrics) }] as const,
  );
  return {
    passed,
    threshold,
    gates: gates.map(gateToJson),
    ...(Object.keys(labels ?? {}).length === 0 ? {} : { labels }),
    ...(parts.length === 1 ? { ...parts[0]?.[1], passed } : {}),
    attributes: Object.fromEntries(parts),
  };
}

function verdictToJson(verdict: FileValidation['verdicts'][string] | undefined): Record<string, unknown> | null {
  const { status = null, message, straddles, unevenlyMissing } = verdict ?? {};
  return status === null ? null : { status, message, straddles, unevenly_missing: unevenlyMissing };
}

function gateToJson({ unevenlyMissing, ...verdict }: GateVerdict): Record<string, unknown> {
  return { ...verdict, unevenly_missing: unevenlyMissing };
}

/**
 * Renders a validation as a Markdown report: the verdict first, if there is one, then the metrics of each attribute
 * with groups, intervals and exclusions.
 * @param source the name of the data, for the first line
 */
export function validationToMarkdown(validation: ReportedValidation, source: string): string {
  return documentToMarkdown(validationDocument(validation, { source }));
}
