import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { dashboardShell, framedPage, SHELL_POLICY } from '../dashboard/dashboard-shell.ts';
import { FolderWatch, type MonitorFolderState, pageOfFolder, readMonitorFolder } from '../dashboard/folder-watch.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { answerEventStream, HEARTBEAT_MILLIS } from './event-stream.ts';

/** Each follower holds a connection. */
const MAX_FOLLOWERS = 100;

/** A client that takes nothing for long is let go. */
const MAX_WAITING_BYTES = 64 * 2 ** 10;

/** The page's own policy lets its scripts run by their hashes; here it is kept from everything else, its origin included. */
const PAGE_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** GET /dashboard: the page that shows a monitor's dashboard and follows it. */
export function dashboardRoute({ monitorFolder, clock }: Service): Handler {
  return async (context) => {
    const state = await readMonitorFolder(requireFolder(monitorFolder));
    // Relative, so that it holds wherever the service is mounted, also by a proxy that does not tell.
    const base = context.path.endsWith('/') ? './' : 'dashboard/';
    context.set('Content-Security-Policy', SHELL_POLICY);
    context.type = 'text/html; charset=utf-8';
    context.body = dashboardShell(base, stateJson(state, clock()));
  };
}

/** GET /dashboard/page: the dashboard as the monitor wrote it, with what keeps its view in the frame. */
export function dashboardPageRoute({ monitorFolder }: Service): Handler {
  let kept: { readonly version: string; readonly text: string } | undefined;
  return async (context) => {
    const folder = requireFolder(monitorFolder);
    const { page } = await readMonitorFolder(folder);
    if (page === null) {
      throw new ServiceProblem(404, {
        detail: 'The monitor has written no dashboard yet.',
        suggestion: 'It writes one as soon as it has counted an event.',
      });
    }
    if (kept?.version !== page)
      kept = { version: page, text: framedPage(decodeUtf8(await readFile(pageOfFolder(folder)), 'The dashboard')) };
    context.set('Content-Security-Policy', PAGE_POLICY);
    context.set('X-Frame-Options', 'SAMEORIGIN');
    context.type = 'text/html; charset=utf-8';
    context.body = kept.text;
  };
}

/** Times of {@link dashboardEventsRoute}, apart for tests. */
export interface DashboardEventsOptions {
  /** @defaultValue 15000 */
  readonly heartbeatMillis?: number | undefined;
  /** @defaultValue 1000 */
  readonly pollMillis?: number | undefined;
}

/**
 * GET /dashboard/events: an event `changed` at once and whenever the monitor has written, as server-sent events, until the
 * client goes or the service ends. One that comes back with the last event's id is not told the same again.
 */
export function dashboardEventsRoute(service: Service, options: DashboardEventsOptions = {}): Handler {
  const { monitorFolder, clock, notReady } = service;
  const { heartbeatMillis = HEARTBEAT_MILLIS, pollMillis } = options;
  const watch =
    monitorFolder === null
      ? undefined
      : new FolderWatch(monitorFolder, { isEnding: () => notReady() !== null, pollMillis });
  return (context) => {
    if (watch === undefined) throw noFolder();
    if (watch.followers >= MAX_FOLLOWERS) throw tooManyFollow();
    const stream = new PassThrough();
    const send = (text: string): void => {
      if (stream.writableLength + stream.readableLength > MAX_WAITING_BYTES) stream.destroy();
      else if (!stream.writableEnded) stream.write(text);
    };
    // So that the client knows at once that it is heard.
    send('retry: 2000\n\n');
    const seen = context.get('last-event-id');
    const unfollow = watch.follow({
      onState: (state) => {
        if (state.version !== seen) send(eventText(state, clock()));
      },
      onEnd: () => stream.end(),
    });
    answerEventStream(context, stream, { send, heartbeatMillis, onClose: unfollow });
  };
}

function eventText(state: MonitorFolderState, now: number): string {
  return `id: ${state.version}\nevent: changed\ndata: ${stateJson(state, now)}\n\n`;
}

function stateJson({ page, updatedAt, alarms, watches }: MonitorFolderState, now: number): string {
  return JSON.stringify({ page, updated_at: updatedAt, alarms, watches, now: new Date(now).toISOString() });
}

function requireFolder(folder: string | null): string {
  if (folder === null) throw noFolder();
  return folder;
}

function noFolder(): ServiceProblem {
  return new ServiceProblem(404, {
    detail: 'The service shows no dashboard: it was started without a folder of a monitor.',
    suggestion: 'Start it with --monitor FOLDER, the folder that evenhand monitor writes with --output-dir FOLDER.',
  });
}

function tooManyFollow(): ServiceProblem {
  return new ServiceProblem(503, {
    detail: `The dashboard is followed by ${String(MAX_FOLLOWERS)} clients already.`,
    suggestion: 'Load /dashboard/page from time to time instead.',
    headers: { 'Retry-After': '30' },
  });
}
