import { readProse, type Stated } from './decision-prose.ts';
import { plainText } from './decision-sentence.ts';
import * as known from './decision-words.ts';

/**
 * The meaning of a label. A label names a decision for the person ("Hire"), a decision against the person ("Rejected",
 * "Not hired"), both decisions ("Approve/Deny"), a decision without its direction ("Decision"), the requested thing
 * ("Loan status"), or fitness ("Qualified").
 */
type LabelKind = 'for' | 'against' | 'either' | 'neutral' | 'thing' | 'fit';

/** The meaning and the rank of a label. */
export interface DecisionLabel {
  readonly kind: LabelKind;
  /** The rank of the label: 3 for "Final decision", 2 for "Decision", 1 for "Loan status" and "Qualified". */
  readonly rank: 1 | 2 | 3;
  /** Whether the label itself states the decision. "Approved" does; "Approve" does not. */
  readonly isPast: boolean;
}

/** The maximum number of words of a person's name in a label, such as "Hire Emily Walsh". */
const MAX_NAMES = 4;

/**
 * The maximum length, in words, of a label that names something other than the decision. A longer text is treated as a
 * sentence.
 */
const MAX_WORDS_BESIDE = 5;

/**
 * Matches instructions for filling in a form, such as "(yes/no)", "[Y/N]" and "(1 = yes, 0 = no)". Text such as
 * "(yes/no)" is part of a form and not an answer.
 */
const HINT = /[([]\s*(?:yes|no|y|n|true|false|0|1|approve|deny|hire|reject)\s*(?:\/|,|or\b|=|\|)[^)\]]*[)\]]/giu;

const EITHER_WORD = /^(?:answer )?yes ?(?:or|\/) ?no\W*$/u;

/** Removes instructions for filling in a form from a text. */
export function withoutHints(text: string): string {
  return text.replaceAll(HINT, ' ');
}

/** Classifies a label. Returns null if the label does not name the decision. */
export function readLabel(label: string): DecisionLabel | null {
  const complete = plainText(withoutHints(label));
  if (EITHER_WORD.test(complete)) return { kind: 'neutral', rank: 2, isPast: false };
  const plain = complete.replace(/,?\s*yes ?(?:or|\/) ?no\W*$/u, '').replace(/^.*,\s*/u, '');
  const isQuestion = /^(?:should|shall|would|will|do you|is|are|can)\b/u.test(plain);
  const words: readonly string[] = plain.match(/[\p{L}\p{N}'-]+/gu) ?? [];
  if (words.length === 0 || words.some((word) => known.NO_LABEL.has(word))) return null;
  // "I would approve" is a sentence; "I recommend" introduces a decision.
  if (/^(?:i|we)$/u.test(words[0] ?? '') && !known.LEADS_IN.has(words.at(-1) ?? '')) return null;
  const kind = kindOf(words, isQuestion);
  if (kind === null || !areKnown(words, label, kind, isQuestion)) return null;
  const isWeak = kind === 'thing' || kind === 'fit';
  return {
    kind,
    rank: isWeak ? 1 : words.includes('final') ? 3 : 2,
    isPast: words.some((word) => known.DECIDED_FOR.has(word) || known.DECIDED_AGAINST.has(word)),
  };
}

const DECIDING = [known.FOR, known.AGAINST, known.DECIDED_FOR, known.DECIDED_AGAINST, known.DECISION_NOUNS];

/**
 * Returns whether a label names something other than the decision, such as "Hire probability" or "Reason for the
 * approval".
 */
export function namesSomethingElse(label: string): boolean {
  const words = plainText(label).match(/[\p{L}'-]+/gu) ?? [];
  const isOther = words.length <= MAX_WORDS_BESIDE && words.some((word) => known.NO_LABEL.has(word));
  return isOther && words.some((word) => DECIDING.some((list) => list.has(word)));
}

function kindOf(words: readonly string[], isQuestion: boolean): LabelKind | null {
  const has = (...lists: readonly ReadonlySet<string>[]): boolean =>
    words.some((word) => lists.some((list) => list.has(word)));
  const deeds = words.filter((word) => !word.startsWith('recommend'));
  const isFor = deeds.some((word) => (known.FOR.has(word) || known.DECIDED_FOR.has(word)) && !known.FITNESS.has(word));
  const isAgainst = has(known.AGAINST, known.DECIDED_AGAINST);
  const isTurned = words.filter((word) => /^(?:not|never|no)$/u.test(word)).length % 2 === 1;
  if ((isFor && isAgainst) || (words.filter((word) => known.FOR.has(word)).length > 1 && isTurned)) return 'either';
  // For "Should she not be hired?", yes and no can mean the same answer.
  if (isTurned && isQuestion) return null;
  if (isFor || isAgainst) return isFor === isTurned ? 'against' : 'for';
  if (has(known.DECISION_NOUNS)) return isTurned ? null : 'neutral';
  if (words.some((word) => word.startsWith('recommend'))) return isTurned ? 'against' : 'for';
  if (isQuestion && has(known.GIVEN)) return 'for';
  if (isTurned) return null;
  if (has(known.FITNESS)) return 'fit';
  return has(known.THINGS) ? 'thing' : null;
}

/**
 * Returns whether a label consists only of known words. Names of persons are also allowed, in a question or with a verb
 * such as "Hire". "Approved amount" is not a decision.
 */
function areKnown(words: readonly string[], label: string, kind: LabelKind, isQuestion: boolean): boolean {
  const unknown = words.filter((word) => !known.LABEL_WORDS.has(word));
  const isPlain = words.some((word) => known.FOR.has(word) || known.AGAINST.has(word));
  const mayName = isQuestion || (isPlain && (kind === 'for' || kind === 'against'));
  const capitalised: readonly string[] = label.match(/\p{Lu}[\p{L}'’-]*/gu) ?? [];
  const names = new Set(capitalised.map((name) => name.replaceAll('’', "'").toLowerCase()));
  return unknown.length <= (mayName ? MAX_NAMES : 0) && unknown.every((word) => names.has(word));
}

/**
 * Determines the decision that the value of a label states. A value that is only "yes" or "no" confirms or denies the
 * label. A verb ("reject") states the decision, whatever the label is. 1 and 0 are decisions only if the label contains
 * a verb.
 */
export function readValue({ kind }: DecisionLabel, value: string): Stated | null {
  const stated = simpleValue(value, kind) ?? readProse(withoutHints(value));
  if (stated === null) return null;
  if (kind === 'thing' || kind === 'either') return stated.isBare ? null : stated;
  if (kind !== 'against') return stated;
  if (stated.isBare) return { isFor: !stated.isFor, isBare: false };
  return stated.isFor ? null : stated;
}

const SIGNS = /^[✅✔☑✓👍]️?\s*|^[❌✗✘✖❎🚫👎]️?\s*/u;
const FOR_SIGNS = /^[✅✔☑✓👍]/u;

/** Determines the decision of a value that is a sign (✅), a single letter or a number. Returns null for prose. */
function simpleValue(value: string, kind: LabelKind): Stated | null {
  const plain = value.trim().toLowerCase();
  const sign = SIGNS.exec(plain)?.[0];
  if (sign !== undefined) {
    const isFor = FOR_SIGNS.test(sign);
    return withSign(isFor, plain.slice(sign.length), kind);
  }
  if (known.COMPLETE_ANSWER.test(plainText(value))) return { isFor: true, isBare: true };
  const [, word] = /^["'(]?(y|n|t|f|0|1)["')]?[.,;!]?$/u.exec(plain) ?? [];
  if (word === undefined) return null;
  if (/[01]/u.test(word) && kind === 'neutral') return null;
  return { isFor: /[yt1]/u.test(word), isBare: true };
}

/**
 * Determines the decision of a sign that words follow, such as "✅ Approve". The sign and the words must state the same
 * decision.
 */
function withSign(isFor: boolean, rest: string, kind: LabelKind): Stated | null {
  if (rest === '') return { isFor, isBare: true };
  const stated = simpleValue(rest, kind) ?? readProse(rest);
  return stated?.isFor === isFor ? stated : null;
}

/**
 * Determines the decision of a complete text: a sign, a letter or prose. The question serves as the label of the text.
 */
export function readPlain(text: string): Stated | null {
  const sign = SIGNS.exec(text.trim());
  if (sign !== null) return sign[0].trim() === text.trim() ? null : simpleValue(text, 'neutral');
  return simpleValue(text, 'neutral') ?? readProse(text);
}
