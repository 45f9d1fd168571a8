import { getLogger } from '../../internal/logger.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { type AnswerRecord, completionOf } from '../client/transcript.ts';
import type { TranscriptLog } from '../transcript/transcript-log.ts';

/**
 * Stores answers as they arrive, first in the transcript and then in the cache. If one of these two fails, the answer
 * is still stored in the other.
 */
export class AnswerKeeper {
  readonly #log: TranscriptLog | null;
  readonly #cache: ResponseCache | null;
  readonly #records: Map<string, AnswerRecord>;
  /** The keys of the answers that the transcript contains. */
  readonly #written: Set<string>;
  #hasReportedUnkept = false;

  constructor(log: TranscriptLog | null, cache: ResponseCache | null, known: ReadonlyMap<string, AnswerRecord>) {
    this.#log = log;
    this.#cache = cache;
    this.#records = new Map(known);
    this.#written = new Set(log?.records.map(({ key }) => key));
  }

  /** The stored answers, by key. */
  get records(): ReadonlyMap<string, AnswerRecord> {
    return this.#records;
  }

  /** Writes cached or recorded answers to the transcript too, so that the transcript is complete. */
  async keepKnown(known: Iterable<AnswerRecord>): Promise<void> {
    if (this.#log === null) return;
    for (const record of known) {
      if (this.#written.has(record.key)) continue;
      await this.#log.append(record);
      this.#written.add(record.key);
    }
  }

  /**
   * @param cache the cache for this answer; by default the cache of the run
   * @throws {DataValidationError} if the transcript cannot be written; the answer is still cached
   */
  async keep(record: AnswerRecord, cache: ResponseCache | null = this.#cache): Promise<void> {
    try {
      await this.#log?.append(record);
    } finally {
      await this.#cacheAnswer(record, cache);
    }
    this.#records.set(record.key, record);
  }

  /** Caches an answer. The promise never rejects. */
  async #cacheAnswer(record: AnswerRecord, cache: ResponseCache | null): Promise<void> {
    if (record.text === null) return;
    try {
      await cache?.set(record.key, { ...completionOf(record, record.text), cached: false });
    } catch (error) {
      // The answer is still scored, and the transcript contains it if there is a transcript. An error of the cache must
      // not end a run that has been paid for.
      if (!this.#hasReportedUnkept) getLogger().warn(`Answers cannot be cached: ${String(error)}`);
      this.#hasReportedUnkept = true;
    }
  }
}
