import type { Socket } from 'node:net';

import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import type { AppOptions } from '../app/app-options.ts';
import type { Allowance } from '../context/service-context.ts';
import type { MetricsJson, RenderedMetrics } from '../middleware/metrics.ts';
import { type ProblemJson, ServiceProblem } from '../problem/service-problem.ts';
import type { KeptRun, Runs } from '../runs/runs.ts';
import type { StreamLines, StreamName, StreamSummary } from '../streams/streams.ts';
import type { DueWebhook } from '../webhooks/webhook-deliveries.ts';

/**
 * The methods that one side of a channel offers, by name. Each method is a function with one argument. Arguments and
 * results are plain data.
 */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

/** The context that the handler of a call receives. */
interface ServedCall {
  /** A signal that is aborted when the caller stops waiting or the caller's process ends. */
  readonly signal: AbortSignal;
  /** Sends an event to a subscriber, before or after the answer. */
  readonly emit: (event: unknown) => void;
}

/** The functions that handle the calls of the other side. */
export type Handlers<Answered extends Methods> = {
  readonly [Name in keyof Answered]: (
    argument: Parameters<Answered[Name]>[0],
    call: ServedCall,
  ) => Promise<ReturnType<Answered[Name]>> | ReturnType<Answered[Name]>;
};

/**
 * The settings that a worker receives when it starts. They are sent as a message, because other users could read keys
 * on the command line or in the environment.
 */
export interface WorkerSettings {
  readonly workerName: string;
  /** The options of the app that can be sent to another process. */
  readonly options: Omit<AppOptions, 'store' | 'clock' | 'createId'>;
  readonly isLimited: boolean;
  readonly spoolFolder: string;
  readonly logLevel: string;
}

/** The methods of a worker that the primary process calls. */
export type WorkerMethods = {
  metrics: (_: undefined) => MetricsJson;
  /** Refuses requests that start work. Resolves when the worker does so. */
  refuseWork: (_: undefined) => undefined;
  /** Stops accepting connections. Resolves when every request is answered. */
  drain: (_: undefined) => undefined;
  /** Closes the remaining connections and ends the process. */
  end: (_: undefined) => undefined;
};

/** Announces a connection that is sent together with this message. As a reply, confirms that the worker received it. */
export interface ConnectionMessage {
  readonly evenhandConnection: number;
}

/** Returns whether a message is a `ConnectionMessage`. */
export function isConnectionMessage(message: unknown): message is ConnectionMessage {
  return typeof message === 'object' && message !== null && 'evenhandConnection' in message;
}

/**
 * A message transport between two processes. Messages arrive in order and at most once. No message arrives after the
 * transport is closed.
 */
export interface MessageLine {
  /** @throws if the message cannot be serialized, for example because it contains a function */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Registers a listener that is called once, when the other side has ended. */
  onClose(listener: () => void): void;
}

/** The messaging interface common to `process` and child processes. */
interface Messenger {
  send?(message: unknown, handle?: undefined, options?: undefined, callback?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** Returns the message transport to the parent process (`process`) or to a worker process. */
export function lineOf(messenger: Messenger): MessageLine {
  return {
    send: (message) => {
      // The 'disconnect' event reports a broken connection. Without a callback, there would also be an 'error' event.
      messenger.send?.(message, undefined, undefined, () => undefined);
    },
    onMessage: (listener) => {
      messenger.on('message', listener);
    },
    onClose: (listener) => {
      messenger.once('disconnect', listener);
    },
  };
}

/** A call. A subscription is a call that continues to send events after its answer, until it is cancelled. */
export interface CallPacket {
  readonly kind: 'call';
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
  readonly isSubscription: boolean;
}

/** A single message between the two sides of a channel. The caller assigns the ID. */
export type Packet =
  | CallPacket
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'event'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'problem'; readonly id: number; readonly problem: ProblemJson; readonly headers: Headers }
  | { readonly kind: 'failure'; readonly id: number; readonly text: string };

type Headers = Readonly<Record<string, string>>;

/** The packets of one turn of the event loop, in an object whose key identifies messages of this package. */
export interface PacketMessage {
  readonly evenhand: readonly Packet[];
}

/** Returns whether a message belongs to a channel. A process may also receive other messages. */
export function isPacketMessage(message: unknown): message is PacketMessage {
  return typeof message === 'object' && message !== null && 'evenhand' in message;
}

/** A serialized error. */
export type ErrorPacket = Extract<Packet, { kind: 'problem' | 'failure' }>;

/** Serializes an error. A problem keeps its fields. For any other error, only the text is kept for the log. */
export function packError(id: number, error: unknown): ErrorPacket {
  if (error instanceof ServiceProblem) return { kind: 'problem', id, problem: error.toJSON(), headers: error.headers };
  return { kind: 'failure', id, text: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Restores a serialized error. */
export function unpackError(packet: ErrorPacket): Error {
  if (packet.kind === 'problem') return ServiceProblem.fromJSON(packet.problem, packet.headers);
  return new Error(`The other process failed: ${packet.text}`);
}

// The following types are type aliases, because interfaces have no implicit index signature.

/**
 * The methods for runs that workers call in the primary process. `follow` returns whether the run exists, and sends
 * `RunEvent`s.
 */
export type RunMethods = {
  [Name in 'submit' | 'wait' | 'get' | 'list' | 'remove' | 'work' | 'counts']: (
    argument: Parameters<Runs[Name]>[0],
  ) => Awaited<ReturnType<Runs[Name]>>;
} & {
  /** Stores runs, and returns for each run the error of the store, or null. */
  keep: (runs: readonly KeptRun[]) => readonly (ErrorPacket | null)[];
  follow: (index: { readonly runId: string; readonly after: number }) => boolean;
  fileOf: (file: { readonly runId: string; readonly name: string }) => string;
  /** Counts one request against the rate limit of its client. */
  take: (client: string) => Allowance;
};

/** The methods for monitored streams that workers call in the primary process. */
export type StreamMethods = {
  appendToStream: (lines: StreamLines) => string;
  getStream: (name: StreamName) => string;
  viewStream: (name: StreamName) => MonitoringView;
  listStreams: (tenant: string) => readonly StreamSummary[];
  removeStream: (name: StreamName) => undefined;
};

/** The methods for webhooks that workers call in the primary process. */
export type WebhookMethods = {
  addWebhook: (webhook: Pick<DueWebhook, 'runId' | 'url'>) => undefined;
};

/** The methods of the primary process that workers call. */
export type PrimaryMethods = RunMethods &
  StreamMethods &
  WebhookMethods & {
    settings: (_: undefined) => WorkerSettings;
    /** Reports that the worker accepts connections. */
    ready: (_: undefined) => undefined;
    renderMetrics: (_: undefined) => RenderedMetrics;
  };

/** The exit code or signal with which a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker process that answers requests. */
export interface ForkedWorker {
  /** The process ID; undefined if the process could not be started. */
  readonly pid: number | undefined;
  readonly line: MessageLine;
  readonly onExit: (listener: (exit: Exit) => void) => void;
  /** Sends a connection to the worker. The connection also stays open in this process. */
  readonly give: (id: number, socket: Socket) => void;
  /** Registers a listener for the IDs of the connections that the worker has received. */
  readonly onTook: (listener: (id: number) => void) => void;
  /** Kills the process immediately. */
  readonly kill: () => void;
}
