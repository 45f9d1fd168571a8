import type { Transcript } from '../client/transcript.ts';
import { UnitedUnits } from '../scoring/united-units.ts';

/** A list of transcripts, and the name of the independent unit to which each transcript belongs. */
export interface IndependentAnswers {
  /** One transcript for each request. */
  readonly transcripts: readonly Transcript[];
  /** The unit of each transcript. */
  readonly units: readonly string[];
}

/**
 * Returns one transcript for each request, with its independent unit.
 *
 * A prompt that varies several dimensions is planned once for each of them, but has only one answer. If several
 * transcripts have the same key, the function returns only the first one. It returns all transcripts without a key.
 * Units that share an answer are merged. For example, one dimension may identify a name by its index in the pool, and
 * another dimension by the name itself.
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
