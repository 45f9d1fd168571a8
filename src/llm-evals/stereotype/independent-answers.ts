import type { Transcript } from '../client/transcript.ts';

/** Transcripts with the independent unit that each belongs to. */
export interface IndependentAnswers {
  /** What came of each request, once. */
  readonly transcripts: readonly Transcript[];
  /** Of each transcript. */
  readonly units: readonly string[];
}

/**
 * What came of each request, once, and what is independent of what.
 *
 * A prompt is planned for every dimension that is varied in it, and one answer serves them all: the first transcript of each
 * key is kept, and all of those without a key. Units that share an answer are one unit, as
 * the name that two dimensions call by its place in the pool and by itself.
 */
export function independentAnswers(transcripts: readonly Transcript[]): IndependentAnswers {
  const kept: Transcript[] = [];
  const firstUnits = new Map<string, string>();
  const united = new UnitedUnits();
  for (const transcript of transcripts) {
    const { key } = transcript;
    const unit = unitOf(transcript);
    const first = key === '' ? undefined : firstUnits.get(key);
    if (first !== undefined) {
      united.unite(first, unit);
      continue;
    }
    kept.push(transcript);
    firstUnits.set(key, unit);
  }
  return { transcripts: kept, units: kept.map((transcript) => united.nameOf(unitOf(transcript))) };
}

function unitOf({ unit, item }: Transcript): string {
  return unit ?? item;
}

/** Which units are one (a forest of units, each tree named by its root). */
class UnitedUnits {
  readonly #parents = new Map<string, string>();

  nameOf(unit: string): string {
    let root = unit;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    // Shortens the way for the next time.
    if (root !== unit) this.#parents.set(unit, root);
    return root;
  }

  unite(first: string, second: string): void {
    const [root, other] = [this.nameOf(first), this.nameOf(second)];
    if (root !== other) this.#parents.set(other, root);
  }
}
