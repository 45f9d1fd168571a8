import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { DEFAULT_TITLE, monitoringDocument } from './monitoring-document.ts';
import type { MonitoringView } from './monitoring-view.ts';
import { withoutSmallCells } from './without-small-cells.ts';

/**
 * A view as Markdown: the same words and tables as the page, without charts.
 * @param title what stands at the top
 */
export function dashboardToMarkdown(view: MonitoringView, title: string = DEFAULT_TITLE): string {
  return documentToMarkdown(monitoringDocument(withoutSmallCells(view), title));
}
