import { countBy, groupBy, meanOf } from '../../internal/values.ts';
import type { Transcript } from '../client/transcript.ts';

/** A transcript that contains an answer. */
export type Answered = Transcript & { readonly text: string };

/** The answers to prompts that differ only in the value of the dimension. */
interface AnsweredItem {
  readonly item: string;
  readonly template: string;
  /**
   * The independent unit. Items with the same name count as one unit. If items have no names, items with the same
   * template count as one unit.
   */
  readonly unit: string;
  /** The answers to each value of the dimension. */
  readonly byGroup: ReadonlyMap<string, readonly Answered[]>;
}

/** The answers to prompts that vary one dimension. */
export interface DimensionAnswers {
  readonly dimension: string;
  /** The values of the dimension, in order of first occurrence. */
  readonly groups: readonly string[];
  readonly items: readonly AnsweredItem[];
  /** The number of prompts without an answer, by reason. */
  readonly exclusions: Readonly<Record<string, number>>;
  /** The number of prompts without an answer, by value of the dimension; omitted if it is not known. */
  readonly unanswered?: Readonly<Record<string, number>> | undefined;
}

/** Groups answers by dimension, item and value. Excludes prompts without a dimension. */
export function dimensionAnswers(transcripts: readonly Transcript[]): DimensionAnswers[] {
  const varied = transcripts.filter(({ dimension, group }) => dimension !== null && group !== null);
  return [...groupBy(varied, ({ dimension }) => dimension ?? '')].map(([dimension, those]) => gather(dimension, those));
}

/** Returns whether the unit of an item is a cluster that the user chose. */
export function isInCluster({ byGroup }: AnsweredItem): boolean {
  const [[answer] = []] = byGroup.values();
  return answer?.details['cluster'] !== undefined;
}

/** Returns whether a transcript has an answer. */
export function isAnswered(transcript: Transcript): transcript is Answered {
  return transcript.text !== null;
}

/** Returns the distinct answers. If several dimensions use the same answer, it is returned once. */
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
  const unanswered = distinctAnswers(transcripts).filter((transcript) => !isAnswered(transcript));
  return countBy(unanswered, ({ error }) => error?.kind ?? 'no answer');
}

function gather(dimension: string, transcripts: readonly Transcript[]): DimensionAnswers {
  const items = [...groupBy(transcripts.filter(isAnswered), ({ item }) => item)].map(([item, those]): AnsweredItem => {
    const { template, unit = item } = those[0] as Answered;
    return { item, template, unit, byGroup: groupBy(those, ({ group }) => group ?? '') };
  });
  const groups = [...new Set(transcripts.map(({ group }) => group ?? ''))];
  const unanswered = countBy(
    transcripts.filter((transcript) => !isAnswered(transcript)),
    ({ group }) => group ?? '',
  );
  return { dimension, groups, items, exclusions: countUnanswered(transcripts), unanswered };
}

/** Returns every pair of values of a dimension. */
export function pairsOf(groups: readonly string[]): (readonly [first: string, second: string])[] {
  return groups.flatMap((first, index) => groups.slice(index + 1).map((second) => [first, second] as const));
}

/** Returns one mean value for each independent unit. */
export function unitMeans<Entry extends { readonly unit: string }>(
  entries: readonly Entry[],
  valueOf: (entry: Entry) => number,
): number[] {
  return [...groupBy(entries, ({ unit }) => unit).values()].map((those) => meanOf(those.map(valueOf)));
}
