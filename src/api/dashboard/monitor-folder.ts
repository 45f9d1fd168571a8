import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** What `evenhand monitor --output-dir` has written so far. */
export interface MonitorFolderState {
  /** Changes with the files; names this state to those who follow. */
  readonly version: string;
  /** The version of dashboard.html alone; null where there is none. */
  readonly page: string | null;
  /** When dashboard.html was written, ISO 8601. */
  readonly updatedAt: string | null;
  /** Open alarms; null where active_alerts.json is missing or cannot be read. */
  readonly alarms: number | null;
  /** Open watches; null as alarms are. */
  readonly watches: number | null;
}

const PAGE = 'dashboard.html';
const ALERTS = 'active_alerts.json';

/** Alerts are few; a larger file is not one of ours. */
const MOST_ALERT_BYTES = 16 * 2 ** 20;

/** Where the page of a folder lies. */
export function pageOfFolder(folder: string): string {
  return path.join(folder, PAGE);
}

/** Looks at the files of a folder; what is missing or broken is told, not thrown, since a monitor may still be on its way. */
export async function readMonitorFolder(folder: string): Promise<MonitorFolderState> {
  const [page, alerts] = await Promise.all([fileIn(folder, PAGE), fileIn(folder, ALERTS)]);
  const open = alerts === undefined || alerts.size > MOST_ALERT_BYTES ? undefined : await openAlerts(folder);
  return Object.freeze({
    version: `${versionOf(page)}.${versionOf(alerts)}`,
    page: page === undefined ? null : versionOf(page),
    updatedAt: page === undefined ? null : page.mtime.toISOString(),
    alarms: open?.alarms ?? null,
    watches: open?.watches ?? null,
  });
}

async function fileIn(folder: string, name: string): Promise<Stats | undefined> {
  const found = await stat(path.join(folder, name)).catch(() => undefined);
  return found?.isFile() === true ? found : undefined;
}

/** Files are replaced as a whole, so that a new one has another inode also within one tick of the clock. */
function versionOf(file: Stats | undefined): string {
  if (file === undefined) return 'none';
  return [Math.round(file.mtimeMs * 1000), file.size, file.ino].map((part) => part.toString(36)).join('-');
}

async function openAlerts(folder: string): Promise<{ readonly alarms: number; readonly watches: number } | undefined> {
  try {
    const parsed: unknown = JSON.parse(decodeUtf8(await readFile(path.join(folder, ALERTS)), ALERTS));
    const { alerts, watches } = parsed as { readonly alerts?: unknown; readonly watches?: unknown };
    if (!Array.isArray(alerts) || !Array.isArray(watches)) return undefined;
    return { alarms: alerts.length, watches: watches.length };
  } catch {
    return undefined;
  }
}
