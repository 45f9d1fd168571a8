import type { Transcript } from '../client/transcript.ts';

/** An answer that came. */
export type Answered = Transcript & { readonly text: string };

/** The answers to prompts that differ in nothing but the value of the dimension. */
interface AnsweredItem {
  readonly item: string;
  readonly template: string;
  /** What is independent: items that share a name, or without names a template, count as one. */
  readonly unit: string;
  /** By value. */
  readonly byGroup: ReadonlyMap<string, readonly Answered[]>;
}

/** The answers in which one dimension is varied. */
export interface DimensionAnswers {
  readonly dimension: string;
  /** Its values, in the order in which they are first seen. */
  readonly groups: readonly string[];
  readonly items: readonly AnsweredItem[];
  /** Prompts without an answer, by reason. */
  readonly exclusions: Readonly<Record<string, number>>;
}

/** Sorts answers by dimension, item and value; those of prompts without a dimension are left out. */
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

/** Whether an answer came. */
export function isAnswered(transcript: Transcript): transcript is Answered {
  return transcript.text !== null;
}

/** Each answer once, though it may stand for several dimensions. */
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

/** Every two values of a dimension. */
export function pairsOf(groups: readonly string[]): (readonly [first: string, second: string])[] {
  return groups.flatMap((first, index) => groups.slice(index + 1).map((second) => [first, second] as const));
}

/** Values gathered by a name, in the order in which names are first seen. */
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
