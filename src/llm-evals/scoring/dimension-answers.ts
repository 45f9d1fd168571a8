import type { Transcript } from '../client/transcript.ts';

/** A transcript with an answer. */
export type Answered = Transcript & { readonly text: string };

/** The answers to prompts that differ only in the value of the dimension. */
interface AnsweredItem {
  readonly item: string;
  readonly template: string;
  /** The independent unit. Items that share a name, or without names a template, count as one unit. */
  readonly unit: string;
  /** The answers by value. */
  readonly byGroup: ReadonlyMap<string, readonly Answered[]>;
}

/** The answers to prompts that vary one dimension. */
export interface DimensionAnswers {
  readonly dimension: string;
  /** Its values, in order of first occurrence. */
  readonly groups: readonly string[];
  readonly items: readonly AnsweredItem[];
  /** The number of prompts without an answer, by reason. */
  readonly exclusions: Readonly<Record<string, number>>;
}

/** Groups answers by dimension, item and value. Excludes prompts without a dimension. */
export function dimensionAnswers(transcripts: readonly Transcript[]): DimensionAnswers[] {
  const byDimension = new Map<string, Transcript[]>();
  for (const transcript of transcripts) {
    const { dimension, group } = transcript;
    if (dimension === null || group === null) continue;
    const those = byDimension.get(dimension);
    if (those === undefined) byDimension.set(dimension, [transcript]);
    else those.push(transcript);
  }
  return [...byDimension].map(([dimension, those]) => gather(dimension, those));
}

/** Returns whether the prompt was answered. */
export function isAnswered(transcript: Transcript): transcript is Answered {
  return transcript.text !== null;
}

/** Returns each answer once, even if several dimensions use it. */
export function distinctAnswers(transcripts: readonly Transcript[]): Transcript[] {
  const seen = new Set<string>();
  return transcripts.filter(({ key }) => {
    const isNew = key === '' || !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Counts prompts without an answer, by reason. */
export function countUnanswered(transcripts: readonly Transcript[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const transcript of distinctAnswers(transcripts)) {
    if (isAnswered(transcript)) continue;
    const reason = transcript.error?.kind ?? 'no answer';
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}

function gather(dimension: string, transcripts: readonly Transcript[]): DimensionAnswers {
  const items = new Map<string, GrowingItem>();
  for (const transcript of transcripts) {
    if (!isAnswered(transcript)) continue;
    const { item: name, template, unit = name } = transcript;
    const item = items.get(name) ?? { item: name, template, unit, byGroup: new Map<string, Answered[]>() };
    items.set(name, item);
    const group = transcript.group ?? '';
    const those = item.byGroup.get(group);
    if (those === undefined) item.byGroup.set(group, [transcript]);
    else those.push(transcript);
  }
  const groups = [...new Set(transcripts.map(({ group }) => group ?? ''))];
  return { dimension, groups, items: [...items.values()], exclusions: countUnanswered(transcripts) };
}

interface GrowingItem extends Omit<AnsweredItem, 'byGroup'> {
  readonly byGroup: Map<string, Answered[]>;
}

/** Returns every pair of values of a dimension. */
export function pairsOf(groups: readonly string[]): (readonly [first: string, second: string])[] {
  return groups.flatMap((first, index) => groups.slice(index + 1).map((second) => [first, second] as const));
}

/** Groups values by name, in order of first occurrence. */
export function gatherBy<T, V>(
  entries: readonly T[],
  nameOf: (entry: T) => string,
  valueOf: (entry: T) => V,
): Map<string, V[]> {
  const gathered = new Map<string, V[]>();
  for (const entry of entries) {
    const name = nameOf(entry);
    const those = gathered.get(name);
    if (those === undefined) gathered.set(name, [valueOf(entry)]);
    else those.push(valueOf(entry));
  }
  return gathered;
}
