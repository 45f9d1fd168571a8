import { canonicalLabel } from '../../internal/label-text.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';

/** The maximum number of groups of an attribute, so that a column of names cannot exhaust memory. */
export const MAX_GROUPS = 10_000;

/** The maximum number of characters of a new group's label, so that a field of long texts cannot exhaust memory. */
const MAX_LABEL_LENGTH = 1000;

/** The codes of events that are not counted in any group, one code for each reason. */
export const NO_GROUP = -1;
export const UNKNOWN_GROUP = -2;
export const TOO_MANY_GROUPS = -3;
export const LONG_LABEL = -4;

/** The codes of one attribute's groups, in order of first appearance. */
export class GroupCodes {
  readonly labels: string[] = [];
  readonly #isClosed: boolean;
  readonly #longest: number;
  readonly #codes = new Map<string, number>();

  /**
   * @param declared the declared groups, if events of other groups are not counted; otherwise null
   * @param longest the maximum number of characters of a new group's label
   */
  constructor(declared: readonly string[] | null, longest = MAX_LABEL_LENGTH) {
    this.#longest = longest;
    this.#isClosed = declared !== null;
    for (const label of new Set(declared?.map(canonicalLabel))) this.#add(label);
  }

  /** Returns whether a group with this label is known. */
  has(label: string): boolean {
    return this.#codes.has(label);
  }

  /** Returns the code of a group. A new group gets a new code. */
  codeOf(label: string): number {
    return this.#codes.get(label) ?? this.#find(canonicalLabel(label));
  }

  /**
   * Returns the code of a label that was not found as it is written: a new label, or a different spelling of a known
   * number.
   */
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

/** The codes of intersections, derived from the group codes of the crossed attributes. */
export class CrossedCodes {
  // The length of the group labels is already limited for each attribute.
  readonly #codes = new GroupCodes(null, Infinity);
  readonly #parts: readonly GroupCodes[];
  /** The codes of intersections as a tree with one level for each crossed attribute. */
  readonly #tree: CodeTree = [];

  constructor(parts: readonly GroupCodes[]) {
    this.#parts = parts;
  }

  get labels(): string[] {
    return this.#codes.labels;
  }

  /**
   * Returns the code of the intersection of a row's groups. If the row has no group in a crossed attribute, returns the
   * negative code of the first such attribute.
   */
  codeAt(codes: readonly Int32Array[], indices: readonly number[], row: number): number {
    let branch = this.#tree;
    const last = indices.length - 1;
    for (let depth = 0; depth < last; depth++) {
      const code = (codes[indices[depth] as number] as Int32Array)[row] as number;
      if (code < 0) return code;
      branch = (branch[code] ??= []) as CodeTree;
    }
    const code = (codes[indices[last] as number] as Int32Array)[row] as number;
    if (code < 0) return code;
    return (branch[code] ??= this.#codes.codeOf(this.#labelAt(codes, indices, row))) as number;
  }

  /** Rebuilds the codes when a stream is restored. Each intersection is given by the codes of its groups. */
  restore(groups: readonly (readonly number[])[]): void {
    const codes = this.#parts.map((_, index) => Int32Array.from(groups, (parts) => parts[index] as number));
    const indices = this.#parts.map((_, index) => index);
    const isKnown = (parts: readonly number[]): boolean =>
      parts.length === indices.length && parts.every((code, index) => code < (this.#parts[index]?.labels.length ?? 0));
    // An unknown group has no label, so the snapshot is rejected later.
    if (!groups.every(isKnown)) return;
    for (let row = 0; row < groups.length; row++) this.codeAt(codes, indices, row);
  }

  /** Returns, for each intersection in order, the codes of its groups in the crossed attributes. */
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

  /**
   * Returns the label of an intersection. If a group's label contains the separator, two intersections could get the
   * same label. In that case, the group labels in the label of the second intersection are quoted.
   */
  #labelAt(codes: readonly Int32Array[], indices: readonly number[], row: number): string {
    const parts = indices.map(
      (index, depth) =>
        (this.#parts[depth] as GroupCodes).labels[(codes[index] as Int32Array)[row] as number] as string,
    );
    const joined = parts.join(INTERSECTION_SEPARATOR);
    return this.#codes.has(joined) ? parts.map((part) => JSON.stringify(part)).join(INTERSECTION_SEPARATOR) : joined;
  }
}

type CodeTree = (number | CodeTree)[];
