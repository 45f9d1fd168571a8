import { dashboardToHtml } from '../../monitoring/dashboard/dashboard-to-html.ts';
import { dashboardToMarkdown } from '../../monitoring/dashboard/monitoring-document.ts';
import type { JobOf, JobOutcome } from './job.ts';

/** Creates the report of a monitored stream. Drawing its charts would block an event loop for too long. */
export async function runMonitorReport({ form, title, view }: JobOf<'monitor-report'>): Promise<JobOutcome> {
  const text = form === 'html' ? await dashboardToHtml(view, { title }) : dashboardToMarkdown(view, title);
  return { body: JSON.stringify(text), files: [] };
}
