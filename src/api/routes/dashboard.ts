import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { dashboardShell, framedPage, SHELL_POLICY } from '../dashboard/dashboard-shell.ts';
import { FolderWatch, type MonitorFolderState, pageOfFolder, readMonitorFolder } from '../dashboard/folder-watch.ts';
import { ServiceProblem, unavailable } from '../problem/service-problem.ts';
import { answerEventStream, HEARTBEAT_MILLIS } from './run-events.ts';

/** The maximum number of clients that follow the dashboard. Each client occupies one connection. */
const MAX_FOLLOWERS = 100;

/** The maximum number of bytes that wait to be sent to a client. Above it, the client is disconnected. */
const MAX_WAITING_BYTES = 64 * 2 ** 10;

/**
 * The policy for the dashboard in its frame. The page's own policy allows its scripts by their hashes. This policy
 * blocks everything else and gives the page an opaque origin.
 */
const PAGE_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * Handles GET /dashboard: a page that shows the dashboard of a monitor and updates itself when the dashboard changes.
 */
export function dashboardRoute({ monitorFolder, clock }: Service): Handler {
  return async (context) => {
    const state = await readMonitorFolder(requireFolder(monitorFolder));
    // The path is relative, so that it is valid under any mount path and behind any proxy.
    const base = context.path.endsWith('/') ? './' : 'dashboard/';
    context.set('Content-Security-Policy', SHELL_POLICY);
    context.type = 'text/html; charset=utf-8';
    context.body = dashboardShell(base, stateJson(state, clock()));
  };
}

/**
 * Handles GET /dashboard/page: the dashboard as the monitor wrote it, plus the script that preserves its view in the
 * frame.
 */
export function dashboardPageRoute({ monitorFolder }: Service): Handler {
  let kept: { readonly version: string; readonly text: string } | undefined;
  return async (context) => {
    const folder = requireFolder(monitorFolder);
    const { page } = await readMonitorFolder(folder);
    if (page === null) {
      throw new ServiceProblem(404, {
        detail: 'The monitor has not written a dashboard yet.',
        suggestion: 'It writes one after the first event.',
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

/** Intervals of {@link dashboardEventsRoute}, exposed for tests. */
export interface DashboardEventsOptions {
  /** @defaultValue 15000 */
  readonly heartbeatMillis?: number | undefined;
  /** @defaultValue 1000 */
  readonly pollMillis?: number | undefined;
}

/**
 * Handles GET /dashboard/events: sends server-sent events. The event `changed` is sent immediately and after each
 * change of the monitor, until the client disconnects or the service ends. A client that reconnects sends the ID of its
 * last event, and does not get that event again.
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
    if (watch.followers >= MAX_FOLLOWERS) {
      const detail = `The limit of ${String(MAX_FOLLOWERS)} dashboard followers is reached.`;
      throw unavailable(detail, 'Poll /dashboard/page instead.', 30);
    }
    const stream = new PassThrough();
    const send = (text: string): void => {
      if (stream.writableLength + stream.readableLength > MAX_WAITING_BYTES) stream.destroy();
      else if (!stream.writableEnded) stream.write(text);
    };
    // Confirms the connection to the client.
    send('retry: 2000\n\n');
    const seen = context.get('last-event-id');
    const unfollow = watch.follow({
      onState: (state) => {
        if (state.version === seen) return;
        send(`id: ${state.version}\nevent: changed\ndata: ${stateJson(state, clock())}\n\n`);
      },
      onEnd: () => stream.end(),
    });
    answerEventStream(context, stream, { send, heartbeatMillis, onClose: unfollow });
  };
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
    detail: 'There is no dashboard, because the service was started without a monitor folder.',
    suggestion: 'Start it with --monitor FOLDER, where FOLDER is the --output-dir of evenhand monitor.',
  });
}
