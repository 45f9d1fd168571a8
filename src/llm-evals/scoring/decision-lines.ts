import { type DecisionLabel, namesSomethingElse, readLabel, readValue, withoutHints } from './decision-labels.ts';
import { type Stated, unanimous } from './decision-prose.ts';
import { plainText } from './decision-sentence.ts';

/** A part of an answer that contains a decision. `stated` is null if the decision cannot be determined. */
export interface DecisionField {
  readonly rank: number;
  readonly stated: Stated | null;
}

/** Determines the decision that the value of a neutral label states. The value itself may contain labels. */
export type ReadText = (text: string) => Stated | null;

/** The fields in a text, and the text before and after them. */
export interface FoundFields {
  readonly fields: readonly DecisionField[];
  readonly before: string;
  readonly after: string;
}

/**
 * Returns the decision of those fields whose labels have the highest rank. Returns null if their decisions differ or
 * cannot be determined.
 */
export function resolveFields(fields: readonly DecisionField[]): Stated | null {
  const highest = Math.max(...fields.map(({ rank }) => rank));
  return unanimous(fields.flatMap(({ rank, stated }) => (rank === highest && stated !== null ? [stated] : [])));
}

/** Builds the field for a label and its value. */
export function fieldOf(label: DecisionLabel, value: string, read: ReadText): DecisionField {
  const stated = label.kind === 'neutral' ? read(value) : readValue(label, value);
  return { rank: label.rank, stated };
}

/** A label that names a decision, but not its direction, such as "Decision". */
export const NEUTRAL: DecisionLabel = { kind: 'neutral', rank: 2, isPast: false };

/** Matches a label, the separator and the value. */
const LABELLED =
  /^([^:=?→|\t]{1,100}?)\s*(:|=+>?|→|->|\?|\s[-–—]\s|\s?—\s?|\s*\|\s*|\t\s*| {2,}\s*)\s*[-–—:]?\s*(.*)$/u;

/** Matches values with which a label such as "Hired" states no decision: "Hired: not yet". */
const UNCLEAR =
  /^(?:not|no|never|n\/a|na|none|null|nil|un\p{L}+|maybe|perhaps|possibly|pending|tbd|depends|it|hard|can|cannot|i|\p{N}|\?|[-–—]?$)/u;
const NEGATED = /\b(?:not|no|never|nor|without|mistake|wrong)\b|n't\b/u;

const BOX = /\[(?: ?|x|✓|✔)\]|\((?: |x)\)|[☐☑☒]/iu;
const CHECKED = /\[[x✓✔]\]|\(x\)|[☑☒]/iu;

/**
 * Finds labelled decisions in a text, line by line. Also returns the text before and after the first labelled decision.
 */
export function lineFields(text: string, read: ReadText): FoundFields {
  const raw = text.split(/\n(?=[^\n]*\S)/u).filter((line) => cleanLine(line) !== '');
  const lines = raw.map(cleanLine);
  const boxes = boxField(lines);
  if (boxes !== null) return { fields: [boxes], before: '', after: '' };
  const fields = tableFields(lines, read);
  const around: [before: string[], after: string[]] = [[], []];
  for (let position = 0; position < lines.length; position++) {
    const line = lines[position] ?? '';
    if (isRow(line)) continue;
    const segments = line.split(/(?<=[.!;])\s+/u);
    const found = segments.map((segment, index) =>
      segmentField(segment, index === segments.length - 1 ? lines[position + 1] : undefined, read),
    );
    // A line without labels keeps its Markdown markup, which distinguishes headings and list items from answers.
    if (found.every((each) => each === null))
      around[fields.length === 0 ? 0 : 1].push(withoutOthers(raw[position] ?? ''));
    else {
      segments.forEach((segment, index) => {
        const one = found[index] ?? null;
        if (one === null) around[fields.length === 0 ? 0 : 1].push(withoutOthers(segment));
        else fields.push(one.field);
      });
    }
    if (found.at(-1)?.tookNext === true) position++;
  }
  const [before, after] = around.map((segments) => segments.join('\n').trim());
  return { fields, before: before ?? '', after: after ?? '' };
}

/**
 * Removes labels of other things, with their values, such as "Hire probability: 0". Such labels contain words of
 * decisions but do not state a decision.
 */
function withoutOthers(line: string): string {
  return line.replaceAll(/(?<=^|[.!;] )([^.:!;?]{1,60}):[^.!;]*/gu, (all, label: string) =>
    namesSomethingElse(label) ? ' ' : all,
  );
}

/** Removes the markup of lists, headings and emphasis from a line. */
function cleanLine(line: string): string {
  return line
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replaceAll(/\*+|__+|`+|[“”"]/gu, '')
    .replace(/^(?:\s|>|#|[-•+](?=\s)|\d{1,2}[.)](?=\s))+/u, '')
    .replace(/^q(?:uestion)?\s*:\s*/iu, '')
    .replace(/^a\s*:/iu, 'answer:')
    .trim();
}

interface SegmentField {
  readonly field: DecisionField;
  readonly tookNext: boolean;
}

function segmentField(segment: string, next: string | undefined, read: ReadText): SegmentField | null {
  const [, name, sign = '', value = ''] = LABELLED.exec(withoutHints(segment)) ?? [
    segment,
    segment.replace(/[.!]$/u, ''),
  ];
  const label = readLabel(name);
  if (label === null) return null;
  if (value !== '') return saysItself(label, sign.trim(), value) ? null : field(label, value, read);
  const isNeutral = label.kind === 'neutral';
  if (next === undefined || (sign === '' && !isNeutral && !/^(?:yes|no)\b/iu.test(next))) {
    return sign === ':' ? { field: { rank: label.rank, stated: null }, tookNext: false } : null;
  }
  const found = field(label, next, read);
  return found === null || found.field.stated === null ? null : { ...found, tookNext: true };
}

/**
 * Returns the field for a label, or null. A line with a neutral label, or with a label that names a thing, is prose if
 * its value states no decision: "Answer: the income is low".
 */
function field(label: DecisionLabel, value: string, read: ReadText): SegmentField | null {
  const found = fieldOf(label, value, read);
  const isNamed = label.kind !== 'neutral' && label.rank > 1;
  return found.stated === null && !isNamed ? null : { field: found, tookNext: false };
}

/**
 * Returns whether the label states the decision, and the value is a reason: "Approved: the income suffices", "Hire -
 * strong record".
 */
function saysItself(label: DecisionLabel, sign: string, value: string): boolean {
  if (label.kind === 'neutral' || sign === '?' || readValue(label, value) !== null) return false;
  const plain = plainText(value);
  if (/^(?:because|due to|since|given)\b/u.test(plain)) return true;
  const isReason = label.isPast || /^[-–—]/u.test(sign);
  return isReason && plain.includes(' ') && !UNCLEAR.test(plain) && !NEGATED.test(plain);
}

function isRow(line: string): boolean {
  return line.startsWith('|');
}

/**
 * Finds decisions in a table. A decision may be in a column whose heading names a decision, or next to a label in the
 * first column.
 */
function tableFields(lines: readonly string[], read: ReadText): DecisionField[] {
  const bare = lines.filter(isRow).map((line) => line.replace(/^\||\|$/gu, ''));
  const rows = bare.map((line) => line.split('|').map((cell) => cell.trim()));
  const body = rows.filter((row) => !row.every(isRule));
  const [heading = [], ...others] = body;
  const column = isHeaded(rows) ? heading.findIndex(isDeed) : -1;
  if (column !== -1) {
    const label = readLabel(heading[column] ?? '');
    return label === null ? [] : others.flatMap((row) => fieldOf(label, row[column] ?? '', read));
  }
  return body.flatMap(([name = '', value = '']) => {
    const label = readLabel(name);
    return label === null ? [] : (field(label, value, read)?.field ?? []);
  });
}

function isHeaded(rows: readonly (readonly string[])[]): boolean {
  return rows[1]?.every(isRule) ?? false;
}

function isRule(cell: string): boolean {
  return /^:?-+:?$/u.test(cell);
}

/**
 * Returns whether a heading names a decision. "Result" alone does not count, because it is common as a heading of other
 * columns.
 */
function isDeed(cell: string): boolean {
  const label = readLabel(cell);
  return label !== null && (label.kind !== 'neutral' || /decision|verdict|recommendation/iu.test(cell));
}

/** Determines the decision from the checked boxes of a text. Returns null if there are no boxes. */
function boxField(lines: readonly string[]): DecisionField | null {
  const boxed = lines.filter((line) => BOX.test(line));
  if (boxed.length === 0) return null;
  const [first = ''] = boxed;
  const head = boxed.length > 1 && lead(first) === '' ? (lines[lines.indexOf(first) - 1] ?? '') : lead(first);
  const label = readLabel(head.replace(/[?:]\s*$/u, '')) ?? { ...NEUTRAL };
  const checked = boxed.flatMap((line) => checkedItems(line));
  const read = checked.map((item) => readValue(label, item));
  return { rank: 2, stated: read.includes(null) ? null : unanimous(read.flatMap((stated) => stated ?? [])) };
}

function lead(line: string): string {
  return line.slice(0, BOX.exec(line)?.index ?? 0).trim();
}

/**
 * Returns the words of the checked boxes of a line. The words of a box follow it, or precede it if the line ends with a
 * box.
 */
function checkedItems(line: string): string[] {
  const parts = line.split(new RegExp(`(${BOX.source})`, 'iu'));
  const isBefore = (parts.at(-1) ?? '').trim() === '';
  const words = isBefore ? -1 : 1;
  return parts.flatMap((part, index) =>
    CHECKED.test(part) && index % 2 === 1 ? [(parts[index + words] ?? '').trim()] : [],
  );
}
