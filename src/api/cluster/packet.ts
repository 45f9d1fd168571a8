import { type ProblemJson, ServiceProblem } from '../problem/service-problem.ts';

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
