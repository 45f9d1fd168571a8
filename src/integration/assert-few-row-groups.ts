import { LONGEST_LABEL, nameOf, tooLongLabel, tooManyGroups } from '../io/assert-few-groups.ts';
import { type ColumnSource, encodeGroups } from '../table/index.ts';

/** A column, or several by their names. */
type Columns = ColumnSource | Readonly<Record<string, ColumnSource>>;

/** The columns of arrays that name groups. */
export interface GroupColumns {
  readonly sensitive: Columns;
  readonly control?: Columns | undefined;
  readonly intersections?: readonly (readonly string[])[] | undefined;
}

/** Codes of a column's rows, and how many there are. */
interface Codes {
  readonly name: string;
  readonly codes: ArrayLike<number>;
  readonly count: number;
}

/**
 * Checks that the attributes of arrays have few groups, by themselves, crossed, and inside the levels of a control
 * feature. Fewer rows than groups may be need no counting; counting stops at the limit.
 * @throws {DataValidationError} for an attribute of more groups, or a label of more than 1,000 characters
 */
export function assertFewRowGroups({ sensitive, control, intersections = [] }: GroupColumns, mostGroups: number): void {
  const encode = ([name, column]: readonly [string, unknown]): Codes => encodeColumn(name, column, mostGroups);
  const own = new Map(columnsOf(sensitive, 'sensitive').map((entry) => [entry[0], encode(entry)]));
  const levels = control === undefined ? [] : columnsOf(control, 'control').map(encode);
  const crossings = [...[...own.keys()].map((name) => [name]), ...intersections];
  for (const names of crossings) {
    const parts = names.map((name) => own.get(name)).filter((part) => part !== undefined);
    // An unknown name is refused where it is read.
    if (parts.length < names.length) continue;
    assertFewCrossed(parts, mostGroups);
    if (levels.length > 0) assertFewCrossed([...levels, ...parts], mostGroups);
  }
}

function columnsOf(given: unknown, argument: string): (readonly [string, unknown])[] {
  const prototype: unknown = typeof given === 'object' && given !== null ? Object.getPrototypeOf(given) : undefined;
  const isNamed = (prototype === Object.prototype || prototype === null) && !('kind' in (given as object));
  return isNamed ? Object.entries(given as object) : [[argument, given]];
}

function encodeColumn(name: string, column: unknown, mostGroups: number): Codes {
  const rows = Array.isArray(column) ? (column as readonly unknown[]) : undefined;
  if (rows === undefined) {
    const { codes, labels } = encodeGroups(column as Parameters<typeof encodeGroups>[0]);
    for (const label of labels) assertShort(name, label);
    if (labels.length > mostGroups) throw tooManyGroups(name, mostGroups);
    return { name, codes, count: labels.length + 1 };
  }
  for (const label of rows) assertShort(name, label);
  // Of few rows there are few groups, and few combinations.
  if (rows.length <= mostGroups) return { name, codes: [], count: 1 };
  const codeOf = new Map<unknown, number>();
  const codes = new Int32Array(rows.length);
  for (const [row, label] of rows.entries()) {
    const code = codeOf.get(label) ?? codeOf.size;
    if (code === codeOf.size) {
      if (code === mostGroups && label !== null && label !== undefined) throw tooManyGroups(name, mostGroups);
      codeOf.set(label, code);
    }
    codes[row] = code;
  }
  return { name, codes, count: codeOf.size };
}

function assertShort(name: string, label: unknown): void {
  if (typeof label === 'string' && label.length > LONGEST_LABEL) throw tooLongLabel(name, label.length);
}

function assertFewCrossed(parts: readonly Codes[], mostGroups: number): void {
  if (parts.length === 1 || parts.reduce((product, { count }) => product * count, 1) <= mostGroups) return;
  const found = new Set<string>();
  const rows = Math.min(...parts.map(({ codes }) => codes.length));
  for (let row = 0; row < rows; row++) {
    found.add(parts.map(({ codes }) => codes[row]).join());
    if (found.size > mostGroups) throw tooManyGroups(nameOf(parts.map(({ name }) => name)), mostGroups);
  }
}
