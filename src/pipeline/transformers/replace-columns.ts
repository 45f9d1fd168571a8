import { Table } from '../../table/index.ts';

/** A table with other numbers in some of its columns, all columns in their places. */
export function replaceColumns(table: Table, changed: Iterable<readonly [name: string, values: Float64Array]>): Table {
  const values = new Map(changed);
  return Table.ofColumns(
    table.columnNames.map((name) => {
      const numbers = values.get(name);
      return [name, numbers === undefined ? table.column(name) : { kind: 'numeric', values: numbers }] as const;
    }),
  );
}
