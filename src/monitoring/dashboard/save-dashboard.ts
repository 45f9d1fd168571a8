import path from 'node:path';

import { assertKnownOptions, toSnakeCaseJson } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import type { AlertHistory } from '../alarms/alert-event.ts';
import { alertToJson } from '../sinks/transition-json.ts';
import { withoutSmallCells } from './dashboard-words.ts';
import type { MonitoringView } from './monitoring-view.ts';
import { headlineOf, raisedAt } from './state-words.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { DASHBOARD_OPTION_NAMES, type DashboardOptions, dashboardToHtml } from './dashboard-to-html.ts';
import { dashboardToMarkdown } from './monitoring-document.ts';

/**
 * Returns the content of a dashboard as a plain object in snake_case, ready for JSON. Undefined values and rates of
 * fewer than twenty events are null.
 * @example
 * ```ts
 * import { dashboardToJson, type MonitoringView } from 'evenhand/monitoring';
 *
 * const view: MonitoringView = {
 *   timestamp: null, firstTimestamp: null, nEvents: 0, windowSize: 1000, minGroupSize: 30, level: 0.95, alpha: 0.05,
 *   watched: [], history: [], alerts: [], coverage: [], crossings: [], faults: { late_label: 2 }, notes: [],
 * };
 * const { headline, faults } = dashboardToJson(view);
 * console.log(JSON.stringify({ headline, faults }));
 * // {"headline":"No metric is watched","faults":{"late_label":2}}
 * ```
 */
export function dashboardToJson(view: MonitoringView): Record<string, unknown> {
  const { history, ...shown } = withoutSmallCells(view);
  const fields = toSnakeCaseJson({ ...shown, alerts: shown.alerts.map(alertJson), history });
  return { version: VERSION, headline: headlineOf(view).title, ...(fields as Record<string, unknown>) };
}

/**
 * Returns the open alerts, in snake_case. `alerts` are based on a bound that holds at all times; `watches` are based on
 * an ordinary interval and should not page anyone. `raised_at` is the time at which an alert was raised, and
 * `timestamp` is the time at which it was last sent.
 */
export function activeAlertsJson(view: MonitoringView): Record<string, unknown> {
  const open = view.alerts.filter(({ isOpen }) => isOpen);
  const ofTier = (tier: 'alarm' | 'watch'): unknown[] => open.filter(({ alert }) => alert.tier === tier).map(alertJson);
  return { timestamp: view.timestamp, alpha: view.alpha, alerts: ofTier('alarm'), watches: ofTier('watch') };
}

function alertJson(history: AlertHistory): unknown {
  const { alert, isOpen, isAcknowledged, changes } = history;
  return {
    ...alertToJson(alert),
    raised_at: raisedAt(history),
    is_open: isOpen,
    is_acknowledged: isAcknowledged,
    changes: changes.map(({ change, timestamp }) => ({ change, timestamp })),
  };
}

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
