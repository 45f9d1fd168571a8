import type { MetricEntry, RunContent, TextEntry } from './run-entries.ts';

/** One call of `runs/log-batch`. */
export interface EntryBatch {
  readonly metrics: readonly MetricEntry[];
  readonly params: readonly TextEntry[];
  readonly tags: readonly TextEntry[];
}

/** What MLflow takes with one call. */
const MOST_OF_KIND = { metrics: 1000, params: 100, tags: 100 } as const;
const MOST_ENTRIES = 1000;
/** The limit is 1,000,000; the rest is for what surrounds the entries. */
const MOST_BYTES = 900_000;
/** For a metric's time and step and for the punctuation of an entry. */
const EXTRA_BYTES = 80;

interface OpenBatch {
  readonly metrics: MetricEntry[];
  readonly params: TextEntry[];
  readonly tags: TextEntry[];
  bytes: number;
}

/** Splits what a run is to hold into calls within MLflow's limits: parameters first, then tags, then metrics. */
export function toBatches(content: RunContent): EntryBatch[] {
  const batches: OpenBatch[] = [];
  for (const kind of ['params', 'tags', 'metrics'] as const) {
    for (const entry of content[kind]) {
      const bytes = Buffer.byteLength(JSON.stringify(entry)) + EXTRA_BYTES;
      let last = batches.at(-1);
      if (last === undefined || !hasRoom(last, kind, bytes)) {
        last = { metrics: [], params: [], tags: [], bytes: 0 };
        batches.push(last);
      }
      (last[kind] as (MetricEntry | TextEntry)[]).push(entry);
      last.bytes += bytes;
    }
  }
  return batches.map(({ metrics, params, tags }) => ({ metrics, params, tags }));
}

function hasRoom(batch: OpenBatch, kind: keyof typeof MOST_OF_KIND, bytes: number): boolean {
  const entries = batch.metrics.length + batch.params.length + batch.tags.length;
  return batch[kind].length < MOST_OF_KIND[kind] && entries < MOST_ENTRIES && batch.bytes + bytes <= MOST_BYTES;
}
