import type { Socket } from 'node:net';

import type { AppOptions } from '../app/app-options.ts';
import type { Allowance } from '../context/service-context.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import type { MetricsJson, RenderedMetrics } from '../middleware/metrics.ts';
import { type ProblemJson, ServiceProblem } from '../problem/service-problem.ts';
import type { RunRecord, RunSummary } from '../runs/run-record.ts';
import type { KeptRun, Removal, RunCounts, RunRequest, Submitted } from '../runs/runs.ts';

/** What a side of a channel can be asked: functions of one argument, by name. Arguments and answers are plain data. */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

/** A call as the one who answers it sees it. */
interface ServedCall {
  /** Aborts when the caller no longer waits, or is gone. */
  readonly signal: AbortSignal;
  /** Tells a subscriber something, before or after the answer. */
  readonly emit: (event: unknown) => void;
}

/** How a side answers what it can be asked. */
export type Handlers<Answered extends Methods> = {
  readonly [Name in keyof Answered]: (
    argument: Parameters<Answered[Name]>[0],
    call: ServedCall,
  ) => Promise<ReturnType<Answered[Name]>> | ReturnType<Answered[Name]>;
};

/** Options of the app that can be told to another process. */
type PlainAppOptions = Omit<AppOptions, 'store' | 'clock' | 'createId'>;

/** What a worker is told when it starts: not by its command line or environment, where others could read keys. */
export interface WorkerSettings {
  readonly workerName: string;
  readonly options: PlainAppOptions;
  readonly isLimited: boolean;
  readonly spoolFolder: string;
  /** The folder with a folder of files for each run. */
  readonly filesFolder: string;
  readonly logLevel: string;
}

/** What the primary asks a worker. */
export type WorkerMethods = {
  metrics: (_: undefined) => MetricsJson;
  /** Takes no more connections; answers when no request waits for its answer. */
  drain: (_: undefined) => undefined;
  /** Ends the connections that are left, and the process. */
  end: (_: undefined) => undefined;
};

/** A connection on its way to a worker, which travels beside this message; or the worker's word that it has it. */
export interface ConnectionMessage {
  readonly evenhandConnection: number;
}

/** Whether a message is about a connection. */
export function isConnectionMessage(message: unknown): message is ConnectionMessage {
  return typeof message === 'object' && message !== null && 'evenhandConnection' in message;
}

/** What carries messages between two processes: in order, each at most once, none after it closed. */
export interface MessageLine {
  /** @throws where the message cannot be written, such as a function */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, when the other side is gone. */
  onClose(listener: () => void): void;
}

/** What a process and a child of it have in common. */
interface Messenger {
  send?(message: unknown, handle?: undefined, options?: undefined, callback?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** The line to the parent process (`process`), or to a worker, its child. */
export function lineOf(messenger: Messenger): MessageLine {
  return {
    send: (message) => {
      // A line that broke is told by 'disconnect'; without a callback it would be an 'error' event as well.
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

/** A call. One that subscribes stays known after its answer, until it is cancelled. */
export interface CallPacket {
  readonly kind: 'call';
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
  readonly isSubscription: boolean;
}

/** One thing that a side of a channel tells the other. The id is the caller's. */
export type Packet =
  | CallPacket
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'event'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'problem'; readonly id: number; readonly problem: ProblemJson; readonly headers: Headers }
  | { readonly kind: 'fault'; readonly id: number; readonly text: string };

type Headers = Readonly<Record<string, string>>;

/** What travels: the packets of one turn of the event loop, under a name that tells them from other messages. */
export interface PacketMessage {
  readonly evenhand: readonly Packet[];
}

/** Whether a message is one of a channel; a process may get others. */
export function isPacketMessage(message: unknown): message is PacketMessage {
  return typeof message === 'object' && message !== null && 'evenhand' in message;
}

/** An error as it travels. A problem stays one; of anything else only the text is needed, for the log. */
export function packError(id: number, error: unknown): Packet {
  if (error instanceof ServiceProblem) return { kind: 'problem', id, problem: error.toJSON(), headers: error.headers };
  return { kind: 'fault', id, text: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** The error that travelled. */
export function unpackError(packet: Extract<Packet, { kind: 'problem' | 'fault' }>): Error {
  if (packet.kind === 'problem') return ServiceProblem.fromJSON(packet.problem, packet.headers);
  return new Error(`The other process failed: ${packet.text}`);
}

// Types, not interfaces: only these have an index signature.

/** What workers ask the primary for what concerns runs. `follow` answers whether there is such a run; its events are `RunEvent`s. */
export type RunMethods = {
  keep: (run: KeptRun) => undefined;
  submit: (request: RunRequest) => Submitted;
  wait: (runId: string) => RunRecord;
  get: (runId: string) => RunRecord | undefined;
  list: (_: undefined) => readonly RunSummary[];
  remove: (runId: string) => Removal;
  work: (job: Job) => JobOutcome;
  follow: (place: { readonly runId: string; readonly after: number }) => boolean;
  counts: (_: undefined) => RunCounts;
  /** One request of a client that is limited. */
  take: (client: string) => Allowance;
};

/** What workers ask the primary. */
export type PrimaryMethods = RunMethods & {
  settings: (_: undefined) => WorkerSettings;
  /** The worker takes connections. */
  ready: (_: undefined) => undefined;
  renderMetrics: (_: undefined) => RenderedMetrics;
};

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that answers requests. */
export interface ForkedWorker {
  /** The system's number of it; undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly line: MessageLine;
  readonly onExit: (listener: (exit: Exit) => void) => void;
  /** Hands it a connection, which stays open here too. */
  readonly give: (id: number, socket: Socket) => void;
  /** Called with the number of each connection that has arrived. */
  readonly onTook: (listener: (id: number) => void) => void;
  /** Ends it at once. */
  readonly kill: () => void;
}
