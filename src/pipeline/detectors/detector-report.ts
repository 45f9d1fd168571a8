import { toSnakeCaseJson } from '../../internal/arguments.ts';
import { freezeDeep } from '../../internal/values.ts';
import { escapeMarkdown, markdownTable } from '../../metrics/metric-markdown.ts';
import type { DetectorReportBody, DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import type { ReportSection, ReportTable } from './report-numbers.ts';
import { factsOf, NO_FINDINGS, sectionsOf } from './report-parts.ts';

/** The detectors' report on data. The object is frozen. */
export class DetectorReport implements DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;

  constructor(meta: DetectorReportMeta, body: DetectorReportBody) {
    this.meta = freezeDeep(meta);
    this.body = freezeDeep(body);
    Object.freeze(this);
  }

  /** Converts the report to JSON: keys are in snake_case, and an undefined or infinite number is null with a reason. */
  toJSON(): { readonly meta: unknown; readonly body: unknown } {
    return { meta: toSnakeCaseJson(this.meta), body: toSnakeCaseJson(this.body) };
  }

  /** Formats the report as Markdown: the findings as sentences, then a table for every detector. */
  toMarkdown(): string {
    const { findings } = this.body.summary;
    return [
      '# Groups in the data',
      '',
      ...factsOf(this.meta).map((fact) => `- ${escapeMarkdown(fact)}`),
      ...this.meta.warnings.flatMap((warning) => ['', `**Note:** ${escapeMarkdown(warning)}`]),
      '',
      '## Findings',
      '',
      ...(findings.length === 0 ? [NO_FINDINGS] : findings.map((finding) => `- ${escapeMarkdown(finding)}`)),
      ...sectionsOf(this).flatMap(sectionLines),
      '',
    ].join('\n');
  }
}

function sectionLines({ title, intro, tables }: ReportSection): string[] {
  return ['', `## ${title}`, '', intro, '', tables.length === 0 ? 'None.' : tables.map(tableText).join('\n\n')];
}

function tableText({ caption, header, rows, notes }: ReportTable): string {
  const cells = rows.map((row) => row.map(escapeMarkdown));
  const table = [`### ${escapeMarkdown(caption)}`, '', markdownTable(header, cells)];
  return [...table, ...notes.flatMap((note) => ['', escapeMarkdown(note)])].join('\n');
}
