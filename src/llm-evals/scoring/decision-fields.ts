import { type DecisionLabel, readValue } from './decision-labels.ts';
import { type Stated, unanimous } from './decision-prose.ts';

/** A place of an answer that names a decision: what it states, and null where that cannot be read. */
export interface DecisionField {
  readonly rank: number;
  readonly stated: Stated | null;
}

/** Reads the text that a neutral label has as its value: it may have labels of its own. */
export type ReadText = (text: string) => Stated | null;

/** The fields that a text has, and the text around them. */
export interface FoundFields {
  readonly fields: readonly DecisionField[];
  readonly before: string;
  readonly after: string;
}

/** What the highest ranking fields state; null where they differ or cannot be read. */
export function resolveFields(fields: readonly DecisionField[]): Stated | null {
  const highest = Math.max(...fields.map(({ rank }) => rank));
  return unanimous(fields.flatMap(({ rank, stated }) => (rank === highest && stated !== null ? [stated] : [])));
}

/** The field of a label and its value. */
export function fieldOf(label: DecisionLabel, value: string, read: ReadText): DecisionField {
  const stated = label.kind === 'neutral' ? read(value) : readValue(label, value);
  return { rank: label.rank, stated };
}

/** A decision without its direction, where nothing names it. */
export const NEUTRAL: DecisionLabel = { kind: 'neutral', rank: 2, isPast: false };
