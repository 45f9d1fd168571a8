import { escapeMarkdown, markdownTable } from '../../metrics/metric-markdown.ts';
import type { DetectorReportBody, DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import type { ReportSection, ReportTable } from './report-numbers.ts';
import { factsOf, NO_FINDINGS, sectionsOf } from './report-parts.ts';

/** What the detectors found in data. Frozen. */
export class DetectorReport implements DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;

  constructor(meta: DetectorReportMeta, body: DetectorReportBody) {
    this.meta = freezeDeep(meta);
    this.body = freezeDeep(body);
    Object.freeze(this);
  }

  /** The report as the wire has it: snake_case; a number that is undefined or infinite is null, with its reason beside it. */
  toJSON(): WireReport {
    return { meta: toWire(this.meta), body: toWire(this.body) };
  }

  /** The report as Markdown: the findings in words, then a table for every detector. */
  toMarkdown(): string {
    return reportToMarkdown(this);
  }
}

function freezeDeep<T extends object>(value: T): T {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freezeDeep(part);
  }
  return Object.freeze(value);
}

/** A report as plain data in snake_case. */
interface WireReport {
  readonly meta: unknown;
  readonly body: unknown;
}

/**
 * A value with the keys of its objects in snake_case; a number that JSON does
 * not have is null. Keys are names of ours; those of data stand in values alone.
 */
function toWire(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), toWire(part as unknown)]));
}

/** adjustedPValue is adjusted_p_value. */
function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A report as Markdown: the findings in words, then a table for every detector. */
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
  const body = tables.length === 0 ? ['None.'] : tables.flatMap((table, place) => (place === 0 ? [] : ['']).concat(tableLines(table))); // prettier-ignore
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
