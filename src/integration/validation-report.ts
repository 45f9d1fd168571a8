import type { MetricFrame } from '../metrics/index.ts';
import { escapeMarkdown, markdownTable } from '../metrics/metric-markdown.ts';
import { own } from './html/report-numbers.ts';
import type { FileValidation, GateVerdict } from './measure-attributes.ts';

/** The header of {@link labelRows}. */
export const LABEL_HEADER: readonly string[] = ['Column', 'Label', 'Counts as', 'Rows'];

/** Returns what labels were read as, one line for each label of each column, for the tables of reports. */
export function labelRows(labels: FileValidation['labels'] = {}): string[][] {
  const columns = [
    ['predictions', labels.y_pred],
    ['true labels', labels.y_true],
  ] as const;
  return columns.flatMap(([column, read]) =>
    read === undefined
      ? []
      : (['positive', 'negative', 'missing'] as const).flatMap((value) =>
          Object.entries(read[value]).map(([label, rows]) => [column, label, value, rows.toLocaleString('en-US')]),
        ),
  );
}

/** A validation as JSON has it; one attribute stands at the top, several under their names. `gates` has every verdict. */
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
 * A validation as a Markdown report: the verdict first where there is one,
 * then each attribute's metrics with groups, intervals and exclusions.
 * @param source what was validated, for the first line
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
    'A difference of 0 means equal rates over the groups compared. It says nothing of groups that were excluded, or of why rates differ.',
    '',
  ].join('\n');
}

/** What the labels were read as: the rows of each label, by the column's role. */
function labelSection(labels: FileValidation['labels']): string[] {
  const rows = labelRows(labels).map((row) => row.map(escapeMarkdown));
  return rows.length === 0 ? [] : ['## Labels', '', markdownTable(LABEL_HEADER, rows), ''];
}

/** The rates inside the levels of a control feature, with what changes there. */
function controlSection(frame: MetricFrame | undefined): string[] {
  return frame === undefined ? [] : ['### Inside the levels of the control feature', '', frame.toMarkdown(), ''];
}
