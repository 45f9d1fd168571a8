import { createScratchFile, withOpened } from './scratch-file.ts';

/** The columns of a {@link RowFile}: numbers are float64, and codes are int32. */
export interface RowLayout {
  readonly numbers: number;
  readonly codes: number;
}

/** Rows in a temporary file, in parts. This object is plain data, so that other threads can read the file. */
export interface RowFile {
  readonly path: string;
  readonly layout: RowLayout;
  /** The number of rows of a chunk, for which the file has room. The last chunk of a part may have fewer rows. */
  readonly chunkRows: number;
  readonly parts: readonly RowPart[];
}

/** Some rows of a {@link RowFile}. */
interface RowPart {
  readonly rows: number;
  /** The position of each chunk in the file, in bytes. */
  readonly offsets: readonly number[];
}

/** The columns of a part, in memory. */
export interface RowColumns {
  readonly rows: number;
  readonly numbers: readonly Float64Array[];
  readonly codes: readonly Int32Array[];
}

/** Writes rows to a temporary file. */
export interface RowFileWriter {
  /** Adds row `row` of the given columns to a part. */
  add(part: number, columns: RowColumns, row: number): void;
  /** Writes the last rows, and returns the file. */
  finish(): RowFile;
  /** Removes the file. */
  remove(): void;
}

/** The chunk of a part that is being filled. */
interface OpenChunk {
  readonly bytes: Uint8Array;
  readonly numbers: Float64Array;
  readonly codes: Int32Array;
  rows: number;
}

/** The memory for the chunks of all parts, in bytes. */
const BUFFER_BYTES = 64 * 2 ** 20;

const MAX_CHUNK_ROWS = 8192;

/**
 * Creates a temporary file for rows in parts. Only this user can read it. It is also removed at an interrupt.
 * @param folder the folder of the file; the system's folder for temporary files by default
 * @throws {DataValidationError} if the file cannot be written
 */
export function createRowFile(parts: number, layout: RowLayout, folder?: string): RowFileWriter {
  const rowBytes = 8 * layout.numbers + 4 * layout.codes;
  const chunkRows = Math.max(16, Math.min(MAX_CHUNK_ROWS, Math.floor(BUFFER_BYTES / (parts * rowBytes))));
  const file = createScratchFile(folder);
  const chunks: (OpenChunk | undefined)[] = Array.from({ length: parts });
  const written = Array.from({ length: parts }, () => ({ rows: 0, offsets: [] as number[] }));

  const begin = (): OpenChunk => {
    const buffer = new ArrayBuffer(chunkRows * rowBytes);
    return {
      bytes: new Uint8Array(buffer),
      numbers: new Float64Array(buffer, 0, chunkRows * layout.numbers),
      codes: new Int32Array(buffer, 8 * chunkRows * layout.numbers),
      rows: 0,
    };
  };

  const write = (part: number, chunk: OpenChunk): void => {
    const own = written[part] as (typeof written)[number];
    own.rows += chunk.rows;
    own.offsets.push(file.append(chunk.bytes));
    chunk.rows = 0;
  };

  return {
    add(part, { numbers, codes }, row) {
      const chunk = (chunks[part] ??= begin());
      const at = chunk.rows++;
      for (let column = 0; column < layout.numbers; column++) {
        chunk.numbers[column * chunkRows + at] = (numbers[column] as Float64Array)[row] as number;
      }
      for (let column = 0; column < layout.codes; column++) {
        chunk.codes[column * chunkRows + at] = (codes[column] as Int32Array)[row] as number;
      }
      if (chunk.rows === chunkRows) write(part, chunk);
    },
    finish() {
      for (const [part, chunk] of chunks.entries()) if (chunk !== undefined && chunk.rows > 0) write(part, chunk);
      chunks.fill(undefined);
      file.close();
      return { path: file.path, layout, chunkRows, parts: written };
    },
    remove: () => {
      file.remove();
    },
  };
}

/** Reads the rows of some chunks of a part. */
export function readRows(
  { path: name, layout, chunkRows, parts }: RowFile,
  part: number,
  [first, end]: readonly [firstChunk: number, endChunk: number] = [0, Infinity],
): RowColumns {
  const { rows: all, offsets } = parts[part] as RowPart;
  const last = Math.min(end, offsets.length);
  const rows = Math.max(0, Math.min(all, last * chunkRows) - first * chunkRows);
  const numbers = Array.from({ length: layout.numbers }, () => new Float64Array(rows));
  const codes = Array.from({ length: layout.codes }, () => new Int32Array(rows));
  const buffer = new ArrayBuffer(chunkRows * (8 * layout.numbers + 4 * layout.codes));
  const bytes = new Uint8Array(buffer);
  withOpened(name, (read) => {
    for (let chunk = first; chunk < last; chunk++) {
      read(bytes, offsets[chunk] as number);
      const start = (chunk - first) * chunkRows;
      const own = Math.min(chunkRows, rows - start);
      numbers.forEach((values, column) => {
        values.set(new Float64Array(buffer, 8 * column * chunkRows, own), start);
      });
      codes.forEach((values, column) => {
        values.set(new Int32Array(buffer, chunkRows * (8 * layout.numbers + 4 * column), own), start);
      });
    }
  });
  return { rows, numbers, codes };
}
