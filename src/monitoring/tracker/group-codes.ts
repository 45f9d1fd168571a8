import { canonicalLabel } from '../../internal/label-text.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';

/** Groups that an attribute may have, so that a column of names cannot eat the memory. */
export const MAX_GROUPS = 10_000;

/** Characters that a new group's label may have, so that a field of long texts cannot eat the memory either. */
const MAX_LABEL_LENGTH = 1000;

/** What stands for a group that is not counted. */
export const NO_GROUP = -1;
export const UNKNOWN_GROUP = -2;
export const TOO_MANY_GROUPS = -3;
export const LONG_LABEL = -4;

/** The codes of one attribute's groups, in the order in which they first came. */
export class GroupCodes {
  readonly labels: string[] = [];
  readonly #isClosed: boolean;
  readonly #longest: number;
  readonly #codes = new Map<string, number>();

  /**
   * @param declared the groups, where no others are to be counted
   * @param longest characters that the label of a new group may have
   */
  constructor(declared: readonly string[] | null, longest = MAX_LABEL_LENGTH) {
    this.#longest = longest;
    this.#isClosed = declared !== null;
    for (const label of new Set(declared?.map(canonicalLabel))) this.#add(label);
  }

  /** The code of a group; a new one where the group is new. */
  codeOf(label: string): number {
    return this.#codes.get(label) ?? this.#find(canonicalLabel(label));
  }

  /** The code of a label that is another spelling of a known number, or new. */
  #find(label: string): number {
    return this.#codes.get(label) ?? this.#admit(label);
  }

  #admit(label: string): number {
    if (this.#isClosed) return UNKNOWN_GROUP;
    if (label.length > this.#longest) return LONG_LABEL;
    return this.labels.length >= MAX_GROUPS ? TOO_MANY_GROUPS : this.#add(label);
  }

  #add(label: string): number {
    const code = this.labels.length;
    this.labels.push(label);
    this.#codes.set(label, code);
    return code;
  }
}

/** The codes of crossed groups, from the codes of their parts. */
export class CrossedCodes {
  // Its parts are short enough already.
  readonly #codes = new GroupCodes(null, Infinity);
  readonly #parts: readonly GroupCodes[];
  /** By the code of the first part, then by those of the others. */
  readonly #tree: CodeTree = [];

  constructor(parts: readonly GroupCodes[]) {
    this.#parts = parts;
  }

  get labels(): string[] {
    return this.#codes.labels;
  }

  /** The code of the group whose parts are at a row; the first fault of a part where one has no group. */
  codeAt(codes: readonly Int32Array[], places: readonly number[], row: number): number {
    let branch = this.#tree;
    const last = places.length - 1;
    for (let depth = 0; depth < last; depth++) {
      const code = (codes[places[depth] as number] as Int32Array)[row] as number;
      if (code < 0) return code;
      branch = (branch[code] ??= []) as CodeTree;
    }
    const code = (codes[places[last] as number] as Int32Array)[row] as number;
    if (code < 0) return code;
    return (branch[code] ??= this.#codes.codeOf(this.#labelAt(codes, places, row))) as number;
  }

  /** Rebuilds the codes of a stream that goes on, from each group's parts. */
  restore(groups: readonly (readonly number[])[]): void {
    const codes = this.#parts.map((_, place) => Int32Array.from(groups, (parts) => parts[place] as number));
    const places = this.#parts.map((_, place) => place);
    const isKnown = (parts: readonly number[]): boolean =>
      parts.length === places.length && parts.every((code, place) => code < (this.#parts[place]?.labels.length ?? 0));
    // A part without a label has none to join.
    if (!groups.every(isKnown)) return;
    for (let row = 0; row < groups.length; row++) this.codeAt(codes, places, row);
  }

  /** The codes of each group's parts, in the order of the groups. */
  parts(): number[][] {
    const found: number[][] = [];
    const walk = (branch: CodeTree, path: readonly number[]): void => {
      branch.forEach((entry, code) => {
        if (Array.isArray(entry)) walk(entry, [...path, code]);
        else if (entry >= 0) found[entry] = [...path, code];
      });
    };
    walk(this.#tree, []);
    return found;
  }

  /** Where a part has the separator in it, two crossings could get one label; the second stands in quotes. */
  #labelAt(codes: readonly Int32Array[], places: readonly number[], row: number): string {
    const parts = places.map(
      (place, depth) =>
        (this.#parts[depth] as GroupCodes).labels[(codes[place] as Int32Array)[row] as number] as string,
    );
    const joined = parts.join(INTERSECTION_SEPARATOR);
    return this.labels.includes(joined)
      ? parts.map((part) => JSON.stringify(part)).join(INTERSECTION_SEPARATOR)
      : joined;
  }
}

type CodeTree = (number | CodeTree)[];
