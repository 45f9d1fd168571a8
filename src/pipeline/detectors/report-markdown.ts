import { escapeMarkdown, markdownTable } from '../../metrics/markdown-table.ts';
import type { DetectorReportFields } from './detector-report-fields.ts';
import { factsOf, NO_FINDINGS, sectionsOf } from './report-parts.ts';
import type { ReportSection, ReportTable } from './report-section.ts';

/** A report as Markdown: the findings in words, then a table for every detector. */
export function reportToMarkdown(report: DetectorReportFields): string {
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
