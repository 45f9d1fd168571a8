import { cutItems, shortenBetween } from './report-text.ts';
import type { Chart } from '../charts/chart.ts';
import type { Provenance } from './provenance.ts';

/** A block of a report. All text is plain text, which the renderer escapes. */
export type ReportBlock =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  /** Lines that are shown unchanged, such as commands to copy. */
  | { readonly kind: 'code'; readonly text: string }
  /** An important notice. */
  | { readonly kind: 'note'; readonly title: string; readonly items: readonly string[] }
  | { readonly kind: 'facts'; readonly facts: readonly ReportFact[] }
  | ReportTable
  | ReportPairs
  /** A chart, shown only in formats with images. All numbers of the chart must also be in a table. */
  | { readonly kind: 'picture'; readonly chart: () => Chart | Promise<Chart> };

/** A name and its value, optionally with a remark. */
export interface ReportFact {
  readonly name: string;
  readonly value: string;
  readonly remark?: string | undefined;
}

/** A table. The first column contains the names of the rows. */
export interface ReportTable {
  readonly kind: 'table';
  readonly caption: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** Pairs of untrusted texts. The texts are shown literally, never as markup, links or images. */
interface ReportPairs {
  readonly kind: 'pairs';
  readonly pairs: readonly ReportPair[];
}

/** Two prompts that differ in a few words, and the answer to each prompt. */
export interface ReportPair {
  readonly title: string;
  readonly sides: readonly [ReportSide, ReportSide];
}

/** One side of a pair. */
export interface ReportSide {
  readonly name: string;
  readonly asked: readonly MarkedText[];
  readonly said: string;
}

/** A piece of text. The parts of the prompt, which are joined without spaces. */
export interface MarkedText {
  readonly text: string;
  /** Whether this part differs from the other prompt. */
  readonly isMarked: boolean;
}

/** The name of a column, its alignment, and how it is shortened in a narrow terminal. */
export interface ReportColumn {
  readonly name: string;
  readonly isNumber?: boolean | undefined;
  /** Whether the column is shown even in a narrow terminal, because it contains the value or the finding. */
  readonly isEssential?: boolean | undefined;
  /** Whether long texts are wrapped. Otherwise, long texts are shortened. */
  readonly wraps?: boolean | undefined;
}

/** A section of a report with a title. A section without blocks is omitted. */
export interface ReportSection {
  readonly title: string;
  readonly blocks: readonly ReportBlock[];
  /** Whether a page shows only the title until the reader opens the section. Other formats show the blocks. */
  readonly isFolded?: boolean | undefined;
}

/** The verdict at the top of a report. */
export interface ReportVerdict {
  /** `undefined` if the gate failed because a metric has no value; `none` if nothing was judged. */
  readonly kind: 'pass' | 'fail' | 'undefined' | 'none';
  readonly title: string;
  readonly sentences: readonly string[];
}

/** A report, independent of its output format. */
export interface ReportDocument {
  readonly title: string;
  /** The subject of the report, in one line. */
  readonly subject: string;
  readonly verdict?: ReportVerdict | undefined;
  readonly sections: readonly ReportSection[];
  /** The names and values that are needed to reproduce the numbers of the report. */
  readonly made: readonly (readonly [name: string, value: string])[];
  /** The date, the input files and the command; undefined if they are not known, for example in a library call. */
  readonly provenance?: Provenance | undefined;
}

/** The parts of a report with a single section. */
interface BriefReport extends Pick<ReportDocument, 'subject' | 'verdict'> {
  readonly title?: string;
  readonly blocks: readonly ReportBlock[];
}

/** Returns a report with a single section, for the result of a command. */
export function briefReport({ title = '', subject, verdict, blocks }: BriefReport): ReportDocument {
  return { title, subject, verdict, sections: [{ title: '', blocks }], made: [] };
}

/** Returns a column of numbers. */
export function numberColumn(name: string): ReportColumn {
  return { name, isNumber: true };
}

/** Returns a column of numbers that is shown at every width. */
export function valueColumn(name: string): ReportColumn {
  return { name, isNumber: true, isEssential: true };
}

/** Returns a list with a note that contains the first items; an empty list if there are no items. */
export function noteBlocks(title: string, items: readonly string[]): ReportBlock[] {
  return items.length === 0 ? [] : [{ kind: 'note', title, items: cutItems(items) }];
}

/**
 * Returns the parts of a prompt. Long parts are shortened. In a long part without differences, the text next to the
 * differences is kept.
 */
export function shownPieces(pieces: readonly MarkedText[]): MarkedText[] {
  const last = pieces.length - 1;
  return pieces.map(({ text, isMarked }, index) => {
    const position = index === 0 ? 'first' : index === last ? 'last' : 'between';
    return { text: shortenBetween(text, isMarked || last === 0 ? 'only' : position), isMarked };
  });
}
