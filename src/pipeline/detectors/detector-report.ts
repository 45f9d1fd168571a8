import { toSnakeCase } from '../../internal/arguments.ts';
import { freezeDeep } from '../../internal/values.ts';
import { escapeMarkdown, markdownTable } from '../../metrics/metric-markdown.ts';
import type { DetectorReportBody, DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import type { ReportSection, ReportTable } from './report-numbers.ts';
import { factsOf, NO_FINDINGS, sectionsOf } from './report-parts.ts';

/** The detectors' report on data. Frozen. */
export class DetectorReport implements DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;

  constructor(meta: DetectorReportMeta, body: DetectorReportBody) {
    this.meta = freezeDeep(meta);
    this.body = freezeDeep(body);
    Object.freeze(this);
  }

  /** Converts the report to JSON: snake_case, with null and a reason for a number that is undefined or infinite. */
  toJSON(): WireReport {
    return { meta: toWire(this.meta), body: toWire(this.body) };
  }

  /** Formats the report as Markdown: the findings as sentences, then a table for every detector. */
  toMarkdown(): string {
    return reportToMarkdown(this);
  }
}

/** A report as plain data in snake_case. */
interface WireReport {
  readonly meta: unknown;
  readonly body: unknown;
}

/**
 * Converts a value to JSON: keys in snake_case, and null for a number that JSON does not have. All keys are names of
 * this package; names from the data occur only as values.
 */
function toWire(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [toSnakeCase(key), toWire(part as unknown)]));
}

/** Formats a report as Markdown: the findings as sentences, then a table for every detector. */
function reportToMarkdown(report: DetectorReportFields): string {
  const { findings } = report.body.summary;
  return [
    '# Groups in the data',
    '',
    ...factsOf(report.meta).map((fact) => `- ${escapeMarkdown(fact)}`),
    ...report.meta.warnings.flatMap((warning) => ['', `**Note:** ${escapeMarkdown(warning)}`]),
    '',
    '## Findings',
    '',
    ...(findings.length === 0 ? [NO_FINDINGS] : findings.map((finding) => `- ${escapeMarkdown(finding)}`)),
    ...sectionsOf(report).flatMap(sectionLines),
    '',
  ].join('\n');
}

function sectionLines({ title, intro, tables }: ReportSection): string[] {
  const body = tables.length === 0 ? ['None.'] : tables.flatMap((table, index) => (index === 0 ? [] : ['']).concat(tableLines(table))); // prettier-ignore
  return ['', `## ${title}`, '', intro, '', ...body];
}

function tableLines({ caption, header, rows, notes }: ReportTable): string[] {
  return [
    `### ${escapeMarkdown(caption)}`,
    '',
    markdownTable(
      header,
      rows.map((cells) => cells.map(escapeMarkdown)),
    ),
    ...notes.flatMap((note) => ['', escapeMarkdown(note)]),
  ];
}
