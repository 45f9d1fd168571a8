import type { Frame, Label } from './frames.ts';

/*
 * Facts about the rows of a frame, by counting them one by one. The conventions in conventions.ts are stated in terms of
 * these facts; nothing here uses the package.
 */

/** The rows of a group, of a level of the control features, or of both. */
export interface Cell {
  readonly rows: readonly number[];
  /** The rows with a true label. */
  readonly labelled: readonly number[];
}

/** A level of the control features; the only level is '' without control features. */
export interface Level {
  readonly overall: Cell;
  readonly groups: ReadonlyMap<string, Cell>;
}

/** Texts that are other spellings of a number. The package reads them as that number. */
export const SPELLINGS: ReadonlyMap<Label, string> = new Map([
  ['1.0', '1'],
  [' 1', '1'],
  ['2.50', '2.5'],
]);

/** Joins the values of the features of a row to the label that the package uses; undefined if a value is missing. */
export function labelOf(values: readonly Label[]): string | undefined {
  return values.some((value) => value === null || value === '')
    ? undefined
    : values.map((value) => SPELLINGS.get(value) ?? String(value)).join('||');
}

/** Returns the label of each row; undefined for rows without a label. */
export function labelsOf(features: Frame['sensitive'], rows: number): (string | undefined)[] {
  const columns = Object.values(features);
  return Array.from({ length: rows }, (_, row) => labelOf(columns.map((column) => column[row] ?? null)));
}

/** Returns whether some rows have no group. */
export function hasGaps({ sensitive, yPred }: Frame): boolean {
  return labelsOf(sensitive, yPred.length).includes(undefined);
}

/** Returns whether a label is another spelling of a number. */
export function hasSpellings({ sensitive, control }: Frame): boolean {
  return [...Object.values(sensitive), ...Object.values(control)].some((column) =>
    column.some((value) => SPELLINGS.has(value)),
  );
}

/** Returns the levels of a frame, or of some of its rows, with their groups. Rows without a group belong to a level, but to no group. */
export function levelsOf(
  frame: Frame,
  control: Frame['control'],
  some: Iterable<number> = frame.yPred.keys(),
): ReadonlyMap<string, Level> {
  const groups = labelsOf(frame.sensitive, frame.yPred.length);
  const levels = labelsOf(control, frame.yPred.length);
  const found = new Map<string, { rows: number[]; groups: Map<string, number[]> }>();
  for (const row of some) {
    const level = levels[row] ?? '';
    const own = found.get(level) ?? { rows: [], groups: new Map<string, number[]>() };
    found.set(level, own);
    own.rows.push(row);
    const group = groups[row];
    if (group !== undefined) own.groups.set(group, [...(own.groups.get(group) ?? []), row]);
  }
  const cell = (rows: readonly number[]): Cell => ({
    rows,
    labelled: rows.filter((row) => frame.yTrue[row] !== null),
  });
  return new Map(
    Array.from(found, ([level, own]) => [
      level,
      { overall: cell(own.rows), groups: new Map(Array.from(own.groups, ([group, rows]) => [group, cell(rows)])) },
    ]),
  );
}

/** Returns the weight of some rows. */
export function weightOf({ weights }: Frame, rows: readonly number[]): number {
  return rows.reduce((sum, row) => sum + (weights?.[row] ?? 1), 0);
}

/** Returns whether a label counts as positive. */
export function isPositive({ positive }: Frame, label: string | number | null | undefined): boolean {
  return label === (positive ?? 1);
}

/** Returns the share of correct predictions among the rows of each label that has any weight, by label. */
export function recalls(frame: Frame, { labelled }: Cell): number[] {
  return [true, false].flatMap((label) => {
    const own = labelled.filter((row) => isPositive(frame, frame.yTrue[row]) === label);
    const right = own.filter((row) => isPositive(frame, frame.yPred[row]) === label);
    const weight = weightOf(frame, own);
    return weight === 0 ? [] : [weightOf(frame, right) / weight];
  });
}

/** Returns whether the true values of the rows with any weight differ. */
export function varies(frame: Frame, { labelled }: Cell): boolean {
  const weighted = labelled.filter((row) => (frame.weights?.[row] ?? 1) > 0);
  return new Set(weighted.map((row) => frame.yTrue[row])).size > 1;
}

/**
 * Returns the rows that fairlearn accepts for every measure: those with a true label, in a group with any weight, and
 * for numbers and scores with a group. Returns null if these are all rows.
 */
export function acceptedRows(frame: Frame, control: Frame['control']): readonly number[] | null {
  const needsGroup = frame.kind === 'numbers' || frame.kind === 'scores';
  const rejected = new Set<number>();
  for (const { overall, groups } of levelsOf(frame, control).values()) {
    const grouped = new Set([...groups.values()].flatMap(({ rows }) => rows));
    for (const row of overall.rows) {
      if (frame.yTrue[row] === null || (needsGroup && !grouped.has(row))) rejected.add(row);
    }
    for (const { rows, labelled } of groups.values()) {
      if (weightOf(frame, labelled) === 0) rows.forEach((row) => rejected.add(row));
    }
  }
  return rejected.size === 0 ? null : [...frame.yPred.keys()].filter((row) => !rejected.has(row));
}
