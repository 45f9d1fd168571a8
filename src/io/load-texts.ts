import { DataValidationError } from '../exceptions/index.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { Table, toColumn } from '../table/index.ts';
import { queryDataFile } from './data-file.ts';
import { withDuckDb } from './duckdb.ts';
import type { DuckDbSession } from './duckdb-session.ts';
import { columnKind, type Relation } from './relation.ts';
import { quoteIdentifier } from './sql.ts';

/**
 * Reads a CSV or Parquet file with every value as the text that it is: leading
 * zeros and long numbers stay. For writing rows back as they came.
 * @throws {DataValidationError} for a missing, empty, ragged or headerless file
 * @throws {DependencyError} where DuckDB's binary is not installed
 */
export async function loadTexts(path: string): Promise<Table> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const names = [...file.columns.keys()];
      // Two columns of one name could not be told apart.
      for (const name of names) columnKind(file, name);
      const columns = await readTexts(session, file, names);
      if (columns[0]?.length === 0) {
        throw new DataValidationError(`Cannot read '${path}': it has a header and no rows.`, {
          context: { path },
          suggestion: 'Check the query or the filter that made it.',
        });
      }
      return Table.ofColumns(
        columns.map((texts, index) => [names[index] as string, toColumn(texts, names[index] as string)]),
      );
    }),
  );
}

async function readTexts(
  session: DuckDbSession,
  file: Relation,
  names: readonly string[],
): Promise<(string | null)[][]> {
  const columns = names.map((): (string | null)[] => []);
  const relation = file.csv === undefined ? file.relation : file.relation.replace(/\)$/, ', all_varchar=true)');
  const selected = names.map((name) => `CAST(${quoteIdentifier(name)} AS VARCHAR)`);
  for await (const chunk of session.chunks(`SELECT ${selected.join(', ')} FROM ${relation}`)) {
    columns.forEach((texts, index) => {
      const vector = chunk.getColumnVector(index);
      for (let row = 0; row < chunk.rowCount; row++) {
        const text = vector.getItem(row) as string | null;
        texts.push(text === null || file.csv === undefined ? text : unmarkCell(text));
      }
    });
  }
  return columns;
}
