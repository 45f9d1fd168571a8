import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { nameSome } from '../../internal/format.ts';
import { type CategoricalColumn, encodeGroups, type Table } from '../../table/index.ts';

/** Formats groups: "the group 'a'", or "the groups 'a', 'b' and 3 more". */
export function nameGroups(labels: readonly string[]): string {
  return `the group${labels.length === 1 ? '' : 's'} ${nameSome(labels)}`;
}

/** The name of one sensitive column, or a list of names. */
export type SensitiveColumns = string | readonly string[];

/** The columns on which a transformer works. */
export interface FeatureSettings {
  readonly sensitive: SensitiveColumns;
  readonly features?: readonly string[] | undefined;
  /**
   * The columns to choose from if no features are named. The label, sensitive columns, columns that do not exist, and
   * columns of an unsupported kind are skipped.
   * @defaultValue all columns
   */
  readonly candidates?: readonly string[] | undefined;
  /**
   * The target column, which is never changed or dropped.
   * @defaultValue none
   */
  readonly label?: string | undefined;
}

/** Lists the options of {@link FeatureSettings}. */
export const FEATURE_SETTINGS_NAMES: OptionNames<FeatureSettings> = {
  sensitive: true,
  features: true,
  candidates: true,
  label: true,
};

/**
 * Returns the names of sensitive columns.
 * @throws {ValueError} if there are no names, or if the value is not a name or a list of names
 */
export function sensitiveNames(sensitive: SensitiveColumns): readonly string[] {
  const names: readonly unknown[] = Array.isArray(sensitive) ? sensitive : [sensitive];
  const isNamed = names.length > 0 && names.every((name) => typeof name === 'string' && name !== '');
  if (isNamed) return [...new Set(names as readonly string[])];
  throw invalidParameter(
    'sensitive',
    'be the name of a column, or a list of at least one name',
    JSON.stringify(sensitive),
  );
}

/**
 * Returns frozen copies of the options that select columns.
 * @throws {ValueError} if no sensitive column is named
 */
export function featureSettings({ sensitive, features, candidates, label }: FeatureSettings): FeatureSettings {
  return {
    sensitive: frozenSensitive(sensitive),
    features: frozenNames(features),
    candidates: frozenNames(candidates),
    label,
  };
}

/**
 * Returns a frozen copy of the names of sensitive columns.
 * @throws {ValueError} if no column is named
 */
export function frozenSensitive(sensitive: SensitiveColumns): SensitiveColumns {
  sensitiveNames(sensitive);
  return frozenNames(sensitive);
}

/** Returns a frozen copy of column names, so that the caller cannot change them later. */
export function frozenNames<Names extends SensitiveColumns | undefined>(names: Names): Names {
  return Array.isArray(names) ? (Object.freeze([...(names as readonly string[])]) as unknown as Names) : names;
}

/**
 * Reads the group of each row. The groups of several columns are their intersections. Labels without rows are removed.
 * @throws {DataValidationError} if a column does not exist
 */
export function readGroups(table: Table, sensitive: SensitiveColumns): CategoricalColumn {
  const { codes, labels } = encodeGroups(table.select(sensitiveNames(sensitive)));
  const occurs = new Uint8Array(labels.length);
  for (const code of codes) if (code >= 0) occurs[code] = 1;
  if (!occurs.includes(0)) return { kind: 'categorical', codes, labels };
  const codeOf = new Int32Array(labels.length);
  const kept = labels.filter((_, code) => occurs[code] === 1);
  let next = 0;
  occurs.forEach((seen, code) => (codeOf[code] = seen === 1 ? next++ : -1));
  return { kind: 'categorical', codes: codes.map((code) => (code < 0 ? -1 : (codeOf[code] as number))), labels: kept };
}

/**
 * Reads the groups of training rows in the same way as {@link readGroups}.
 * @throws {DataValidationError} if a column does not exist, or every row lacks a group
 */
export function readKnownGroups(table: Table, sensitive: SensitiveColumns): CategoricalColumn {
  const groups = readGroups(table, sensitive);
  if (groups.codes.some((code) => code >= 0)) return groups;
  const names = sensitiveNames(sensitive).join(', ');
  throw new DataValidationError(`No row has a value of ${names}, so there are no groups.`, {
    code: 'empty-data',
    context: { argument: 'sensitive', columns: names },
    suggestion: 'Provide rows whose sensitive values are known, or choose another column.',
  });
}

/**
 * Returns the names of the columns that a transformer treats as features. If no features are named, the features are
 * the columns of `candidates` (by default all columns of the table) that exist and are neither sensitive nor the label.
 * @param isMeant returns whether a column is a feature; used if no features are named
 * @throws {DataValidationError} if a feature does not exist
 * @throws {ValueError} if a feature is sensitive or the label
 */
export function featureNames(
  table: Table,
  { sensitive, features, candidates, label }: FeatureSettings,
  isMeant: (name: string) => boolean,
): readonly string[] {
  const kept = new Set([...sensitiveNames(sensitive), ...(label === undefined ? [] : [label])]);
  if (features === undefined) {
    return (candidates ?? table.columnNames).filter((name) => table.has(name) && !kept.has(name) && isMeant(name));
  }
  const wrong = features.find((name) => kept.has(name));
  if (wrong !== undefined) throw invalidParameter('features', 'not include a sensitive column or the label', wrong);
  table.select(features);
  return [...new Set(features)];
}

/** Returns the names of the numeric features, in the same way as {@link featureNames}. */
export function numericFeatureNames(table: Table, settings: FeatureSettings): readonly string[] {
  return featureNames(table, settings, (name) => table.column(name).kind === 'numeric');
}

/**
 * Reads a column of finite numbers. Missing values are NaN.
 * @throws {DataValidationError} if the column is text, or if a value is infinite; the error names the row of the value
 */
export function readFeature(table: Table, name: string): Float64Array {
  const { values } = table.numeric(name);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (Math.abs(value) === Infinity) throw infinite(name, row, value);
  }
  return values;
}

function infinite(column: string, index: number, value: number): DataValidationError {
  return new DataValidationError(`Column '${column}' holds ${String(value)} at index ${String(index)}.`, {
    code: 'invalid-value',
    context: { argument: column, index, value },
    suggestion: 'Correct or clear that value.',
  });
}
