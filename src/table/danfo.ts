import { importOptional } from '../internal/packages.ts';

/** The properties of a danfojs DataFrame that this package uses. danfojs itself is optional. */
export interface DanfoDataFrame {
  readonly columns: readonly string[];
  readonly shape: readonly number[];
  column(name: string): { readonly values: unknown; readonly shape: readonly number[] };
}

/** Returns whether a value is a danfojs DataFrame. */
export function isDanfoFrame(source: unknown): source is DanfoDataFrame {
  return (
    typeof source === 'object' &&
    source !== null &&
    'column' in source &&
    typeof source.column === 'function' &&
    'columns' in source &&
    Array.isArray(source.columns)
  );
}

/** Returns the columns of a danfojs DataFrame, in the order of the DataFrame. */
export function readDanfoFrame(frame: DanfoDataFrame): [name: string, values: readonly unknown[]][] {
  return frame.columns.map((name) => [name, frame.column(name).values as readonly unknown[]]);
}

/** Converts columns to a danfojs DataFrame, which represents a missing value as NaN. */
export async function toDanfoFrame(
  columns: Readonly<Record<string, readonly (number | string | null)[]>>,
): Promise<DanfoDataFrame> {
  const DataFrame = await loadDataFrame('to make a DataFrame');
  return new DataFrame(
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.map((value) => value ?? NaN)])),
  );
}

/** The values of one group of a data frame, with one array per column. */
export type DanfoGroup = Readonly<Record<string, readonly number[]>>;

/**
 * Groups rows of numbers with danfojs.
 * @param columns arrays of equal length, without NaN
 * @param keys the columns to group by
 * @returns the groups, in no particular order
 * @throws {DependencyError} if danfojs-node is not installed
 */
export async function groupWithDanfo(
  columns: Readonly<Record<string, readonly number[]>>,
  keys: readonly string[],
): Promise<DanfoGroup[]> {
  const DataFrame = await loadDataFrame('to group rows');
  if (Object.values(columns)[0]?.length === 0) return [];
  // The aggregation of danfojs (`agg`) copies the complete result once per group, which takes 13 s for 20,000 groups.
  // danfojs builds `groups` in one pass.
  return Object.values(new DataFrame({ ...columns }).groupby([...keys]).groups);
}

/** The part of danfojs-node that this package uses. */
type DataFrameClass = new (columns: Record<string, readonly unknown[]>) => DanfoDataFrame & {
  groupby(keys: string[]): { readonly groups: Readonly<Record<string, DanfoGroup>> };
};

/**
 * Loads the DataFrame class. Because danfojs-node is a CommonJS module, the class is a property either of the module or
 * of the module's default export.
 */
async function loadDataFrame(neededFor: string): Promise<DataFrameClass> {
  const danfo = (await importOptional('danfojs-node', neededFor, () => import('danfojs-node'))) as unknown as {
    readonly DataFrame?: DataFrameClass;
    readonly default?: { readonly DataFrame: DataFrameClass };
  };
  return danfo.DataFrame ?? (danfo.default as { readonly DataFrame: DataFrameClass }).DataFrame;
}
