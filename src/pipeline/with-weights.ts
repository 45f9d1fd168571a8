import { type Column, Table } from '../table/index.ts';

/** A table with a column of weights, where there are any: `sample_weight`, or with a number where that is taken. */
export function withWeights(table: Table, weights: Float64Array | null): Table {
  if (weights === null) return table;
  const taken = new Set(table.columnNames.map((name) => name.toLowerCase()));
  let name = 'sample_weight';
  for (let number = 2; taken.has(name); number++) name = `sample_weight_${String(number)}`;
  const column: Column = { kind: 'numeric', values: weights };
  return Table.ofColumns([...table.columnNames.map((own) => [own, table.column(own)] as const), [name, column]]);
}
