import { z } from 'zod';

import type { EventStream } from '../tracker/event-stream.ts';
import { LONG_LABEL } from '../tracker/group-codes.ts';
import { badSnapshot, readSnapshot } from '../tracker/snapshot-schema.ts';
import { decode, encode } from '../tracker/stream-snapshot.ts';
import { decodeState, encodeState } from './state-bytes.ts';

const SCHEMA = z.object({
  // A schema of its elements would take long, because there can be many.
  ids: z.custom<string[]>((given) => Array.isArray(given) && given.every((id) => typeof id === 'string')),
  events: z.string(),
  cells: z.string(),
  weights: z.string(),
  predictions: z.string(),
  codes: z.array(z.string()),
});

/** Encodes the events that wait for their labels; null if events have no ids. There can be many, so they are columns. */
export function encodeWaiting({ labels }: EventStream): Buffer | null {
  if (labels === null) return null;
  const { ids, events, cells, weights, predictions, codes } = labels.columns();
  return encodeState({
    ids,
    events: encode(events),
    cells: encode(cells),
    weights: encode(weights),
    predictions: encode(predictions),
    codes: codes.map(encode),
  });
}

/**
 * Restores the events that wait for their labels.
 * @throws {DataValidationError} if the bytes do not fit the stream
 */
export function restoreWaiting({ labels, reader }: EventStream, bytes: Uint8Array): void {
  const { ids, events, cells, weights, predictions, codes } = readSnapshot(SCHEMA, decodeState(bytes));
  if (labels === null) throw badSnapshot("'waiting' does not fit its options");
  const columns = {
    ids,
    events: decode(events, Float64Array),
    cells: decode(cells, Uint8Array),
    weights: decode(weights, Float64Array),
    predictions: decode(predictions, Float64Array),
    codes: codes.map((text) => decode(text, Int32Array)),
  };
  const { codes: known, ids: _, ...others } = columns;
  const isRight =
    ids.length <= labels.horizon &&
    [...Object.values(others), ...known].every(({ length }) => length === ids.length) &&
    (ids.length === 0 || known.length === reader.groups.length) &&
    known.every((column, attribute) =>
      column.every((code) => code >= LONG_LABEL && code < (reader.groups[attribute]?.labels.length ?? 0)),
    );
  if (!isRight) throw badSnapshot('the events that wait for labels do not fit its groups');
  labels.restoreColumns(columns);
}
