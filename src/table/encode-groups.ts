import { DataValidationError } from '../exceptions/index.ts';
import type { CategoricalColumn } from './column.ts';
import { type ColumnSource, isColumn, toColumn, unwrap } from './column-source.ts';
import { encodeLabels, encodeTexts, sortLabels } from './encode-labels.ts';

/** What becomes of rows whose group is missing: left out and counted, or a group of their own. */
export type NanPolicy = 'exclude' | 'include';

/** One sensitive attribute, or several (an object of columns, or rows of several values) whose crossing is meant. */
export type SensitiveSource = ColumnSource | Readonly<Record<string, ColumnSource>>;

/** Stands between the parts of an intersectional group's label. */
export const INTERSECTION_SEPARATOR = '||';

/** The label of rows without a group, under `nanPolicy: 'include'`. */
export const MISSING_LABEL = '(missing)';

/** {@link MISSING_LABEL}, in more brackets where data use it as a label of their own. */
export function missingLabel(labels: readonly (string | undefined)[]): string {
  const taken = new Set(labels);
  let label = MISSING_LABEL;
  while (taken.has(label)) label = `(${label})`;
  return label;
}

/**
 * Labels of crossed groups: the parts, joined. Where two groups would get one
 * label, because a part has the separator in it, their parts stand in quotes.
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
 * Gives each row the code of its group. Several attributes are crossed; only
 * groups that occur get a code, so that the cost follows the rows and never
 * the product of the attributes' levels.
 * @throws {DataValidationError} where attributes differ in length
 */
export function encodeGroups(sensitive: SensitiveSource, nanPolicy: NanPolicy = 'exclude'): CategoricalColumn {
  const attributes = attributesOf(sensitive).map(([name, source]) => encodeAttribute(source, name, nanPolicy));
  return attributes.reduce(cross);
}

function attributesOf(sensitive: SensitiveSource): [string, ColumnSource][] {
  if (isRecordOfColumns(sensitive)) {
    const entries = Object.entries(sensitive);
    if (entries.length > 0) return entries;
    throw new DataValidationError('sensitive names no attribute.', {
      context: { argument: 'sensitive' },
      suggestion: 'Give at least one column, as in { sex: [...] }.',
    });
  }
  const first: unknown = Array.isArray(sensitive) ? sensitive[0] : undefined;
  if (!Array.isArray(first)) return [['sensitive', sensitive]];
  const rows = sensitive as unknown as readonly (readonly unknown[])[];
  return first.map((_, index) => [`sensitive[${String(index)}]`, rows.map((row) => row[index])]);
}

function isRecordOfColumns(sensitive: SensitiveSource): sensitive is Readonly<Record<string, ColumnSource>> {
  return Object.getPrototypeOf(sensitive) === Object.prototype && !isColumn(sensitive);
}

function encodeAttribute(source: ColumnSource, name: string, nanPolicy: NanPolicy): CategoricalColumn {
  const encoded = encodeColumn(source, name);
  return nanPolicy === 'include' ? labelMissing(encoded) : encoded;
}

function encodeColumn(source: ColumnSource, name: string): CategoricalColumn {
  const values = unwrap(source, name);
  const texts = Array.isArray(values) ? encodeTexts(values) : undefined;
  if (texts !== undefined) return texts;
  const column = toColumn(values, name);
  if (column.kind === 'categorical') return column;
  const numbers = column.values;
  return encodeLabels(numbers.length, (row) => {
    const value = numbers[row] as number;
    return Number.isNaN(value) ? undefined : String(value);
  });
}

function labelMissing(column: CategoricalColumn): CategoricalColumn {
  if (!column.codes.includes(-1)) return column;
  const missing = column.labels.length;
  const codes = column.codes.map((code) => (code < 0 ? missing : code));
  return { kind: 'categorical', codes, labels: [...column.labels, missingLabel(column.labels)] };
}

function cross(left: CategoricalColumn, right: CategoricalColumn): CategoricalColumn {
  if (left.codes.length !== right.codes.length) {
    throw new DataValidationError(
      `The sensitive attributes differ in length: ${String(left.codes.length)} and ${String(right.codes.length)}.`,
      { context: { argument: 'sensitive' }, suggestion: 'Give every attribute one value per row.' },
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
