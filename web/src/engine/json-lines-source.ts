import { DataValidationError } from '../../../src/exceptions/index.ts';
import { utf8Lines } from '../../../src/internal/decode-utf8.ts';
import { canonicalLabel } from '../../../src/internal/label-text.ts';
import { findJsonProblem } from '../../../src/internal/strict-json.ts';
import { cannotRead, type Column, unknownColumn } from '../../../src/table/index.ts';
import type { DataSource, DataStart, OnProgress, WantedColumn } from './data-source.ts';
import { type Cell, TypedColumn } from './typed-columns.ts';

const CHUNK_BYTES = 4 * 2 ** 20;

/** Opens a file with one JSON object on each line. All its columns are kept. */
export function openJsonLines(name: string, blob: Blob): DataSource {
  let all: Promise<ReadonlyMap<string, TypedColumn>> | undefined;
  const bigNumbers = new Map<string, string>();
  const readAll = async (onProgress?: OnProgress): Promise<ReadonlyMap<string, TypedColumn>> => {
    const columns = new Map<string, TypedColumn>();
    let [rows, line] = [0, 0];
    const invalid = (problem: string): DataValidationError =>
      cannotRead(name, `line ${String(line)}: ${problem}`, 'Write one JSON object on each line.');
    for await (const text of utf8Lines(chunks(blob, onProgress), `'${name}'`)) {
      line++;
      if (text.trim() === '') continue;
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw invalid('it is not JSON');
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it is not an object');
      const problem = findJsonProblem(text);
      if (problem !== undefined) throw invalid(`${problem.pointer} ${problem.reason}`);
      for (const [key, cell] of Object.entries(value as Record<string, unknown>)) {
        let column = columns.get(key);
        if (column === undefined) {
          column = new TypedColumn();
          columns.set(key, column);
        }
        while (column.length < rows) column.add(null);
        if (typeof cell === 'number' && Number.isInteger(cell) && !Number.isSafeInteger(cell)) {
          bigNumbers.set(key, canonicalLabel(String(cell)));
        }
        column.add(cellOf(cell));
      }
      rows++;
    }
    if (rows === 0) throw cannotRead(name, 'it has no lines', 'Check the query or filter that created the file.');
    for (const column of columns.values()) while (column.length < rows) column.add(null);
    return columns;
  };
  return {
    format: 'JSON lines',
    async start(): Promise<DataStart> {
      const columns = await (all ??= readAll());
      return {
        names: [...columns.keys()],
        columns: new Map([...columns].map(([key, column]) => [key, column.finish(false)])),
        rowCount: [...columns.values()][0]?.length ?? 0,
        isComplete: true,
      };
    },
    async read(wanted: readonly WantedColumn[], onProgress: OnProgress): Promise<ReadonlyMap<string, Column>> {
      const columns = await (all ??= readAll(onProgress));
      return new Map(
        wanted.map(({ name: key, isLabel }) => {
          const column = columns.get(key);
          if (column === undefined) throw unknownColumn(key, [...columns.keys()], `'${name}'`);
          const lossy = bigNumbers.get(key);
          if (isLabel && lossy !== undefined) throw tooManyDigits(name, key, lossy);
          return [key, column.finish(isLabel)];
        }),
      );
    },
  };
}

function tooManyDigits(title: string, column: string, value: string): DataValidationError {
  return new DataValidationError(
    `Column '${column}' of '${title}' names groups and contains the number ${value}, which has too many digits to be read exactly.`,
    { code: 'invalid-value', context: { column, value }, suggestion: `Write such labels as text: "${value}".` },
  );
}

function cellOf(value: unknown): Cell {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
}

async function* chunks(blob: Blob, onProgress: OnProgress | undefined): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < blob.size; start += CHUNK_BYTES) {
    onProgress?.('Reading the file', start, blob.size);
    yield new Uint8Array(await blob.slice(start, start + CHUNK_BYTES).arrayBuffer());
  }
}
