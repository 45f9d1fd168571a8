import { importOptional } from '../internal/optional.ts';

/** A danfojs DataFrame, by the parts of it that are read; the package itself is optional. */
export interface DanfoDataFrame {
  readonly columns: readonly string[];
  readonly shape: readonly number[];
  column(name: string): { readonly values: unknown; readonly shape: readonly number[] };
}

/** Whether a value is a danfojs DataFrame. */
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

/** The columns of a danfojs DataFrame. */
export function readDanfoFrame(frame: DanfoDataFrame): Record<string, readonly unknown[]> {
  return Object.fromEntries(frame.columns.map((name) => [name, frame.column(name).values as readonly unknown[]]));
}

/** Columns as a danfojs DataFrame; danfojs knows a missing value as NaN. */
export async function toDanfoFrame(
  columns: Readonly<Record<string, readonly (number | string | null)[]>>,
): Promise<DanfoDataFrame> {
  const danfo = (await importOptional(
    'danfojs-node',
    'to make a DataFrame',
    () => import('danfojs-node'),
  )) as unknown as DanfoModule;
  const { DataFrame } =
    danfo.DataFrame === undefined ? (danfo.default as Required<DanfoModule>) : (danfo as Required<DanfoModule>);
  return new DataFrame(
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.map((value) => value ?? NaN)])),
  );
}

/** danfojs-node is CommonJS: its names stand on the module or on its default export. */
interface DanfoModule {
  readonly DataFrame?: new (columns: Record<string, unknown[]>) => DanfoDataFrame;
  readonly default?: unknown;
}
