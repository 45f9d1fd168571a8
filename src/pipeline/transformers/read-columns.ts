import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { type CategoricalColumn, encodeGroups, type Table } from '../../table/index.ts';

/** Names that a sentence has room for. */
const MAX_NAMES = 8;

/** 'a', 'b' and 3 more. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `'${name}'`);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

/** "the group 'a'", or "the groups 'a', 'b' and 3 more". */
export function nameGroups(labels: readonly string[]): string {
  return `the group${labels.length === 1 ? '' : 's'} ${nameSome(labels)}`;
}

/** One sensitive column, or several. */
export type SensitiveColumns = string | readonly string[];

/** Which columns a transformer works on. */
export interface FeatureSettings {
  readonly sensitive: SensitiveColumns;
  readonly features?: readonly string[] | undefined;
  /**
   * Where no features are named: columns to choose from. Those that are absent,
   * sensitive, the label or of another kind than the transformer works on are passed over.
   * @defaultValue all columns
   */
  readonly candidates?: readonly string[] | undefined;
  /**
   * The column to be predicted: never changed or dropped.
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
 * The names of sensitive columns.
 * @throws {ValueError} where there are none, or something else was given
 */
export function sensitiveNames(sensitive: SensitiveColumns): readonly string[] {
  const names: readonly unknown[] = Array.isArray(sensitive) ? sensitive : [sensitive];
  const isNamed = names.length > 0 && names.every((name) => typeof name === 'string' && name !== '');
  if (isNamed) return [...new Set(names as readonly string[])];
  throw invalidParameter('sensitive', 'be the name of a column, or a list of at least one', JSON.stringify(sensitive));
}

/** A choice of columns that a caller may not change later. */
export function frozenNames<Names extends SensitiveColumns | undefined>(names: Names): Names {
  return Array.isArray(names) ? (Object.freeze([...(names as readonly string[])]) as unknown as Names) : names;
}

/**
 * The group of each row, of several columns crossed; only groups that occur
 * have a label, also where a column knows more.
 * @throws {DataValidationError} for a column that is not there
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
 * {@link readGroups} for rows to learn from.
 * @throws {DataValidationError} also where every row misses its group
 */
export function readKnownGroups(table: Table, sensitive: SensitiveColumns): CategoricalColumn {
  const groups = readGroups(table, sensitive);
  if (groups.codes.some((code) => code >= 0)) return groups;
  const names = sensitiveNames(sensitive).join(', ');
  throw new DataValidationError(`No row has a value of ${names}: there are no groups to learn from.`, {
    context: { argument: 'sensitive', columns: names },
    suggestion: 'Give rows whose sensitive values are known, or name another column.',
  });
}

/**
 * The names of the features to work on: those given, or else the columns of
 * `candidates` (of the whole table) that are there and neither sensitive nor
 * the label.
 * @param isMeant which columns to take where no features were named
 * @throws {DataValidationError} for a feature that is not there
 * @throws {ValueError} for a feature that is sensitive or the label
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
  if (wrong !== undefined) throw invalidParameter('features', 'name no sensitive column, nor the label', wrong);
  table.select(features);
  return [...new Set(features)];
}

/** {@link featureNames} of columns of numbers. */
export function numericFeatureNames(table: Table, settings: FeatureSettings): readonly string[] {
  return featureNames(table, settings, (name) => table.column(name).kind === 'numeric');
}

/**
 * A column of numbers without infinities; missing values are NaN.
 * @throws {DataValidationError} for text or an infinity, with its row
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
    context: { argument: column, index, value },
    suggestion: 'Mend or empty that value.',
  });
}
