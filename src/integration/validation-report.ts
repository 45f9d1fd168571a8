import { formatCount } from '../internal/format.ts';
import type { MetricFrame } from '../metrics/index.ts';
import { escapeMarkdown, markdownTable } from '../metrics/metric-markdown.ts';
import { own } from '../internal/values.ts';
import type { GateVerdict } from './gates.ts';
import type { FileValidation } from './measure-attributes.ts';

/** The header of {@link labelRows}. */
export const LABEL_HEADER: readonly string[] = ['Column', 'Label', 'Counts as', 'Rows'];

/** Returns the rows of the table of labels. Each row shows how a label of a column was read, and its number of rows. */
export function labelRows(labels: FileValidation['labels'] = {}): string[][] {
  const columns = [
    ['predictions', labels.y_pred],
    ['true labels', labels.y_true],
  ] as const;
  return columns.flatMap(([column, read]) =>
    read === undefined
      ? []
      : (['positive', 'negative', 'missing'] as const).flatMap((value) =>
          Object.entries(read[value]).map(([label, rows]) => [column, label, value, formatCount(rows)]),
        ),
  );
}

/**
 * Converts a validation to plain JSON. The results of a single attribute are at the top level. The results of several
 * attributes are under their names. `gates` has every verdict.
 */
export function validationToJson({
  passed,
  threshold,
  gates: verdictsOfGates,
  attributes,
  verdicts,
  labels,
  frames,
}: FileValidation): Record<string, unknown> {
  const toJson = (metrics: FileValidation['attributes'][string]): Record<string, unknown> =>
    Object.fromEntries(Object.entries(metrics).map(([name, result]) => [name, result.toJSON()]));
  const verdictOf = (name: string): Record<string, unknown> | null => {
    const { status = null, message, straddles, unevenlyMissing } = own(verdicts, name) ?? {};
    return status === null ? null : { status, message, straddles, unevenly_missing: unevenlyMissing };
  };
  const controlOf = (name: string): Record<string, unknown> => {
    const frame = own(frames, name);
    return frame === undefined ? {} : { control: frame.toJSON() };
  };
  const gates = verdictsOfGates.map(gateToJson);
  const entries = Object.entries(attributes);
  const [only] = entries;
  const readLabels = Object.keys(labels ?? {}).length === 0 ? {} : { labels };
  return entries.length === 1 && only !== undefined
    ? {
        passed,
        verdict: verdictOf(only[0]),
        threshold,
        gates,
        ...readLabels,
        metrics: toJson(only[1]),
        ...controlOf(only[0]),
      }
    : {
        passed,
        threshold,
        gates,
        ...readLabels,
        attributes: Object.fromEntries(
          entries.map(([name, metrics]) => [
            name,
            {
              passed: own(verdicts, name)?.passed ?? null,
              verdict: verdictOf(name),
              metrics: toJson(metrics),
              ...controlOf(name),
            },
          ]),
        ),
      };
}

function gateToJson({ unevenlyMissing, ...verdict }: GateVerdict): Record<string, unknown> {
  return { ...verdict, unevenly_missing: unevenlyMissing };
}

/**
 * Renders a validation as a Markdown report: the verdict first, if there is one, then the metrics of each attribute
 * with groups, intervals and exclusions.
 * @param source the name of the data, for the first line
 */
export function validationToMarkdown(validation: FileValidation, source: string): string {
  const { passed, gates, attributes, labels, frames } = validation;
  const verdict =
    passed === null
      ? []
      : [
          '## Threshold verdict',
          '',
          `**${passed ? 'PASS' : 'FAIL'}**`,
          '',
          ...gates.map(({ attribute, message }) => `- ${escapeMarkdown(attribute)}: ${escapeMarkdown(message)}`),
          '',
        ];
  const sections = Object.entries(attributes).flatMap(([name, metrics]) => [
    `## By ${escapeMarkdown(name)}`,
    '',
    ...Object.values(metrics).flatMap((result) => [result.toMarkdown(), '']),
    ...controlSection(own(frames, name)),
  ]);
  return [
    '# Fairness validation',
    '',
    `Source: ${escapeMarkdown(source)}`,
    '',
    ...verdict,
    ...labelSection(labels),
    ...sections,
    'A difference of 0 means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ.',
    '',
  ].join('\n');
}

/** Returns the section with the table of labels. */
function labelSection(labels: FileValidation['labels']): string[] {
  const rows = labelRows(labels).map((row) => row.map(escapeMarkdown));
  return rows.length === 0 ? [] : ['## Labels', '', markdownTable(LABEL_HEADER, rows), ''];
}

/** Returns the rates within the levels of a control feature, with warnings about changes. */
function controlSection(frame: MetricFrame | undefined): string[] {
  return frame === undefined ? [] : ['### Within each level of the control feature', '', frame.toMarkdown(), ''];
}
