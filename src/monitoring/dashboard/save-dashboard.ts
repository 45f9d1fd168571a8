import path from 'node:path';

import { assertKnownOptions } from '../../internal/arguments.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { activeAlertsJson } from './dashboard-json.ts';
import { DASHBOARD_OPTION_NAMES, type DashboardOptions, dashboardToHtml } from './dashboard-to-html.ts';
import { dashboardToMarkdown } from './monitoring-document.ts';
import type { MonitoringView } from './monitoring-view.ts';

/** The paths of a dashboard's files. */
export interface SavedDashboard {
  readonly dashboard: string;
  readonly report: string;
  readonly activeAlerts: string;
}

/**
 * Writes dashboard.html, report.md and active_alerts.json into a folder, which is created if it is missing. Each file
 * is replaced completely or not at all.
 * @returns the paths
 * @throws {DataValidationError} if the folder cannot be written to
 */
export async function saveDashboard(
  view: MonitoringView,
  folder: string,
  options: DashboardOptions = {},
): Promise<SavedDashboard> {
  assertKnownOptions('saveDashboard', options, DASHBOARD_OPTION_NAMES);
  const saved = Object.freeze({
    dashboard: path.join(folder, 'dashboard.html'),
    report: path.join(folder, 'report.md'),
    activeAlerts: path.join(folder, 'active_alerts.json'),
  });
  await writeFileAtomic(saved.dashboard, await dashboardToHtml(view, options));
  await writeFileAtomic(saved.report, dashboardToMarkdown(view, options.title));
  await writeFileAtomic(saved.activeAlerts, `${JSON.stringify(activeAlertsJson(view), null, 2)}\n`);
  return saved;
}
