import type { Column, Table } from '../table/index.ts';
import type { PipelineStep } from './pipeline-step.ts';
import type { StepRecord } from './pipeline-result.ts';
import type { TransformedRows } from './transformers/transformer.ts';

/** What a step did to a table. */
export function recordOf(
  { name, transformer }: PipelineStep,
  before: Table,
  { table, sampleWeight }: TransformedRows,
): StepRecord {
  const kept = before.columnNames.filter((column) => table.has(column));
  return Object.freeze({
    name,
    transformer: transformer.kind,
    columnsDropped: Object.freeze(before.columnNames.filter((column) => !table.has(column))),
    columnsChanged: Object.freeze(kept.filter((column) => !sameValues(before.column(column), table.column(column)))),
    weighs: sampleWeight !== null,
    warnings: Object.freeze([...transformer.warnings]),
  });
}

function sameValues(a: Column, b: Column): boolean {
  if (a === b) return true;
  if (a.kind === 'numeric') {
    return b.kind === 'numeric' && a.values.every((value, row) => Object.is(value, b.values[row]));
  }
  return b.kind === 'categorical' && a.codes.every((code, row) => a.labels[code] === b.labels[b.codes[row] as number]);
}
