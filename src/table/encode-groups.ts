import { DataValidationError } from '../exceptions/index.ts';
import { oneOf } from '../internal/arguments.ts';
import { canonicalLabel } from '../internal/label-text.ts';
import { isPlainObject } from '../internal/values.ts';
import {
  columnsOfTensor,
  type ColumnSource,
  isBigIntArray,
  isColumn,
  isTensorLike,
  nameOfPosition,
  toColumn,
  unwrap,
} from './column-source.ts';
import type { CategoricalColumn } from './column.ts';
import { isDanfoFrame } from './danfo.ts';
import { encodeLabels, encodeTexts, sortLabels } from './encode-labels.ts';
import { missingGroups, withoutTexts } from './missing-values.ts';
import { columnsOf, Table, type TableSource } from './table.ts';

/**
 * Specifies how to treat rows without a group. `exclude` excludes and counts these rows, and `include` puts them in a
 * separate group.
 */
export type NanPolicy = 'exclude' | 'include';

/**
 * One sensitive attribute, or several attributes to combine. Several attributes can be given as an object of columns, a
 * table, a danfojs DataFrame, records, rows of several values, or a 2-D tensor of shape [rows, attributes].
 */
export type SensitiveSource = ColumnSource | TableSource;

/** The separator of labels in the label of an intersectional group, for example `female||white`. */
export const INTERSECTION_SEPARATOR = '||';

/** The label of rows without a group if `nanPolicy` is `'include'`. */
export const MISSING_LABEL = '(missing)';

/** Returns {@link MISSING_LABEL}. If the data already contain this label, more parentheses are added to it. */
export function missingLabel(labels: readonly (string | undefined)[]): string {
  const taken = new Set(labels);
  let label = MISSING_LABEL;
  while (taken.has(label)) label = `(${label})`;
  return label;
}

/**
 * Returns the label of each intersectional group: the joined labels of its attributes. If two groups would get the same
 * label, because an attribute's label contains the separator, the labels of their attributes are quoted.
 */
export function joinLabels(groups: readonly (readonly string[])[]): string[] {
  const joined = groups.map((parts) => parts.join(INTERSECTION_SEPARATOR));
  const quoted = groups.map((parts) => JSON.stringify(parts));
  const groupsOf = new Map<string, Set<string>>();
  joined.forEach((label, index) => {
    const own = groupsOf.get(label) ?? new Set();
    groupsOf.set(label, own.add(quoted[index] as string));
  });
  return joined.map((label, index) =>
    groupsOf.get(label)?.size === 1
      ? label
      : (groups[index] as readonly string[]).map((part) => JSON.stringify(part)).join(INTERSECTION_SEPARATOR),
  );
}

/**
 * Returns the group code of each row. Labels that spell the same number, such as `1` and `1.0`, form one group. Several
 * attributes are combined into intersectional groups. Only groups that occur in the rows get a code, so the time
 * depends on the number of rows and not on the number of possible combinations.
 * @param naValues texts that are missing values, in addition to the empty text
 * @throws {DataValidationError} if attributes differ in length, or a column has duplicate labels
 * @throws {ValueError} if the policy is unknown
 */
export function encodeGroups(
  sensitive: SensitiveSource,
  nanPolicy: NanPolicy = 'exclude',
  naValues?: readonly string[],
): CategoricalColumn {
  const policy = oneOf('nanPolicy', nanPolicy, ['exclude', 'include']);
  const missing = missingGroups(naValues);
  const attributes = attributesOf(sensitive).map(([name, source]) => {
    const encoded = mergeSpellings(withoutTexts(encodeColumn(source, name, missing), missing));
    return policy === 'include' ? labelMissing(encoded) : encoded;
  });
  return attributes.reduce(cross);
}

/** Returns the groups of each attribute separately, by name. Texts that mean a missing value are kept as labels. */
export function encodeAttributes(sensitive: SensitiveSource): (readonly [name: string, column: CategoricalColumn])[] {
  return attributesOf(sensitive).map(([name, source]) => [name, encodeColumn(source, name, new Set())]);
}

function attributesOf(sensitive: SensitiveSource): (readonly [name: string, source: ColumnSource])[] {
  const attributes = isTable(sensitive) ? columnsOf(sensitive) : attributesOfRows(sensitive);
  if (attributes.length > 0) return attributes;
  throw new DataValidationError('sensitive has no attributes.', {
    context: { argument: 'sensitive' },
    suggestion: 'Give at least one column, as in { sex: [...] }.',
  });
}

/** Returns whether the source has named columns. */
function isTable(sensitive: SensitiveSource): sensitive is TableSource {
  if (sensitive instanceof Table || isDanfoFrame(sensitive)) return true;
  if (isColumn(sensitive) || isTensorLike(sensitive)) return false;
  return isPlainObject(Array.isArray(sensitive) ? sensitive[0] : sensitive);
}

/** Returns the columns of an array of rows. A one-dimensional source has one column. */
function attributesOfRows(sensitive: ColumnSource): [name: string, source: ColumnSource][] {
  if (isTensorLike(sensitive)) return columnsOfTensor(sensitive, 'sensitive');
  const first: unknown = Array.isArray(sensitive) ? sensitive[0] : undefined;
  if (!Array.isArray(first)) return [['sensitive', sensitive]];
  const rows = sensitive as unknown as readonly (readonly unknown[])[];
  assertEvenRows(rows, first.length);
  return first.map((_, index) => [nameOfPosition('sensitive', index), rows.map((row) => row[index])]);
}

function assertEvenRows(rows: readonly unknown[], width: number): void {
  const odd = rows.findIndex((row) => !Array.isArray(row) || row.length !== width);
  if (odd < 0) return;
  const row: unknown = rows[odd];
  const got = Array.isArray(row) ? `${String(row.length)} values` : String(row);
  throw new DataValidationError(
    `sensitive must have ${String(width)} values in every row, like the first row; the row at index ${String(odd)} has ${got}.`,
    {
      code: 'invalid-value',
      context: { argument: 'sensitive', index: odd },
      suggestion: 'Give every row one value per attribute; use null for a missing value.',
    },
  );
}

function encodeColumn(source: ColumnSource, name: string, missing: ReadonlySet<string>): CategoricalColumn {
  const values = unwrap(source, name);
  const texts = Array.isArray(values) ? encodeTexts(values) : undefined;
  if (texts !== undefined) return texts;
  // Integers are compared as decimal text, because float64 would merge different integers above 2^53.
  if (isBigIntArray(values)) return encodeLabels(values.length, (row) => String(values[row]));
  const column = toColumn(values, name);
  if (column.kind === 'categorical') return isColumn(values) ? ownLabels(column, name) : column;
  const numbers = withoutTexts(column, missing).values;
  return encodeLabels(numbers.length, (row) => {
    const value = numbers[row] as number;
    return Number.isNaN(value) ? undefined : String(value);
  });
}

/** Copies the labels of a column, so that later changes by the caller have no effect. */
function ownLabels({ codes, labels }: CategoricalColumn, name: string): CategoricalColumn {
  const seen = new Set<string>();
  const twice = labels.find((label) => seen.size === seen.add(label).size);
  if (twice === undefined) return { kind: 'categorical', codes, labels: Object.freeze([...labels]) };
  throw new DataValidationError(`${name} has the label '${twice}' twice.`, {
    code: 'duplicate-column',
    context: { argument: name, label: twice },
    suggestion: 'Give every code a unique label.',
  });
}

function labelMissing(column: CategoricalColumn): CategoricalColumn {
  if (!column.codes.includes(-1)) return column;
  const missing = column.labels.length;
  const codes = column.codes.map((code) => (code < 0 ? missing : code));
  return { kind: 'categorical', codes, labels: [...column.labels, missingLabel(column.labels)] };
}

/** Merges labels that spell the same number into one group; see {@link canonicalLabel}. */
function mergeSpellings(column: CategoricalColumn): CategoricalColumn {
  const labels = column.labels.map(canonicalLabel);
  if (labels.every((label, code) => label === column.labels[code])) return column;
  const kept = [...new Set(labels)];
  const positionOf = new Map(kept.map((label, index) => [label, index]));
  const codeOf = labels.map((label) => positionOf.get(label) as number);
  const codes = column.codes.map((code, row) => {
    if (code < 0) return code;
    const merged = codeOf[code];
    if (merged === undefined) throw withoutLabel(code, row);
    return merged;
  });
  return sortLabels(codes, kept);
}

function withoutLabel(code: number, row: number): DataValidationError {
  return new DataValidationError(
    `A sensitive attribute contains the code ${String(code)} at index ${String(row)}, but there is no label for this code.`,
    {
      code: 'unknown-label',
      context: { argument: 'sensitive', index: row, value: code },
      suggestion: 'Use codes from 0, and -1 for missing.',
    },
  );
}

function cross(left: CategoricalColumn, right: CategoricalColumn): CategoricalColumn {
  if (left.codes.length !== right.codes.length) {
    throw new DataValidationError(
      `The sensitive attributes differ in length: ${String(left.codes.length)} and ${String(right.codes.length)}.`,
      {
        code: 'length-mismatch',
        context: { argument: 'sensitive' },
        suggestion: 'Give every attribute one value per row.',
      },
    );
  }
  const width = right.labels.length;
  const codes = new Int32Array(left.codes.length);
  const codeOf = new Map<number, number>();
  for (let row = 0; row < codes.length; row++) {
    const a = left.codes[row] as number;
    const b = right.codes[row] as number;
    if (a < 0 || b < 0) {
      codes[row] = -1;
      continue;
    }
    if (a >= left.labels.length || b >= width) throw withoutLabel(Math.max(a, b), row);
    const cell = a * width + b;
    let code = codeOf.get(cell);
    if (code === undefined) {
      code = codeOf.size;
      codeOf.set(cell, code);
    }
    codes[row] = code;
  }
  const parts = Array.from(codeOf.keys(), (cell) => [
    left.labels[Math.floor(cell / width)] as string,
    right.labels[cell % width] as string,
  ]);
  const labels = joinLabels(parts);
  return sortLabels(codes, labels);
}
