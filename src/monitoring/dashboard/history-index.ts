import type { MonitoringRecord, MonitoringWindow } from '../records/monitoring-record.ts';

/** What a series of records belongs to. */
export interface SeriesPlace {
  readonly attribute: string;
  readonly metric: string;
  readonly group: string | null;
  readonly window: MonitoringWindow;
}

/** Records by what they belong to. */
export class HistoryIndex {
  readonly #series = new Map<string, Map<string, MonitoringRecord>>();

  /** @param history records by time */
  constructor(history: readonly MonitoringRecord[]) {
    for (const record of history) {
      const key = keyOf(record);
      const series = this.#series.get(key) ?? new Map<string, MonitoringRecord>();
      series.set(record.timestamp, record);
      this.#series.set(key, series);
    }
  }

  /** The times at which any of these series has a record, ascending; of more than `most` so many at even distances. */
  times(places: readonly SeriesPlace[], most: number): string[] {
    const all = new Set(places.flatMap((place) => [...(this.#series.get(keyOf(place))?.keys() ?? [])]));
    return thinned(
      [...all].sort((a, b) => Date.parse(a) - Date.parse(b)),
      most,
    );
  }

  /** The records of a series at these times. */
  at(place: SeriesPlace, times: readonly string[]): (MonitoringRecord | undefined)[] {
    const series = this.#series.get(keyOf(place));
    return times.map((time) => series?.get(time));
  }
}

function keyOf({ attribute, metric, group, window }: SeriesPlace): string {
  return JSON.stringify([attribute, metric, group, window]);
}

/** At most so many, at even distances, the first and the last among them. */
export function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, place) => items[Math.round(place * step)] as T);
}
