import type { Matrix } from '../../data/read-matrix.ts';
import { createScratchFile, withOpened } from '../../data/scratch-file.ts';
import { BlockScales, type ColumnScales } from './column-scales.ts';
import { createHostDesign, type HostDesign, rowPatterns } from './host-design.ts';

/** Rows with their kinds: 2 x group + label. */
interface KindRows {
  readonly x: Matrix;
  readonly kinds: Int32Array;
}

/** Prepared rows, ready for the sums of a fit. */
interface DesignBlock {
  readonly design: HostDesign;
  readonly kinds: Int32Array;
}

/**
 * Rows that were prepared once and are read block by block: a fit reads them many times, and encoding them each time
 * would take several times as long as the fit.
 */
export interface DesignBlocks {
  readonly scales: ColumnScales;
  /** The number of rows of each block. Each block is a random sample of the rows. */
  readonly sizes: readonly number[];
  readonly rows: number;
  /** The number of rows of each kind, [kinds]. */
  readonly counts: Float64Array;
  /** Reads a block. The next call overwrites its rows. */
  readonly load: (block: number) => DesignBlock;
  /** Removes the file. */
  readonly remove: () => void;
}

/** The source of {@link createDesignBlocks}. */
interface BlockSource {
  readonly columns: number;
  /** The number of blocks. */
  readonly blocks: number;
  readonly counts: Float64Array;
  /** Reads and encodes a block. */
  readonly load: (block: number) => KindRows;
  /** Is called before each of the two times that a block is read. */
  readonly beforeBlock: (done: number, total: number) => Promise<void>;
  /** The folder of the temporary file; the system's folder by default. */
  readonly folder: string | undefined;
}

/** A block in the file. All values have four bytes. */
interface StoredBlock {
  readonly position: number;
  readonly rows: number;
  readonly patterns: number;
  /** The total length of the patterns. */
  readonly places: number;
}

/**
 * Prepares the rows of blocks, and writes them to a temporary file: for each row, 4 bytes for each column with more than
 * two values, and 8 bytes for the pattern of the other columns and for the kind.
 */
export async function createDesignBlocks(source: BlockSource): Promise<DesignBlocks> {
  const { columns, blocks: count, beforeBlock } = source;
  const found = new BlockScales(columns);
  for (let block = 0; block < count; block++) {
    await beforeBlock(block, 2 * count);
    found.add(source.load(block).x);
  }
  const scales = found.finish();
  const file = createScratchFile(source.folder);
  const stored: StoredBlock[] = [];
  try {
    for (let block = 0; block < count; block++) {
      await beforeBlock(count + block, 2 * count);
      const { x, kinds } = source.load(block);
      const { of, count: patterns, starts, indices } = rowPatterns(x, scales, columns);
      const parts = [pickColumns(x, scales.dense), kinds, of, starts, indices];
      const [position = 0] = parts.map((part) => file.append(bytesOf(part)));
      stored.push({ position, rows: x.rows, patterns, places: indices.length });
    }
    file.close();
  } catch (error) {
    file.remove();
    throw error;
  }
  const sizes = stored.map(({ rows }) => rows);
  return {
    ...{ scales, sizes, counts: source.counts },
    rows: sizes.reduce((sum, rows) => sum + rows, 0),
    load: blockReader(file.path, stored, scales),
    remove: () => {
      file.remove();
    },
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns some columns as they are encoded, [rows, chosen]. */
function pickColumns({ rows, columns, values }: Matrix, chosen: readonly number[]): Float32Array {
  const picked = new Float32Array(rows * chosen.length);
  for (let row = 0, into = 0; row < rows; row++) {
    for (let index = 0; index < chosen.length; index++, into++) {
      picked[into] = values[row * columns + (chosen[index] as number)] as number;
    }
  }
  return picked;
}

/** Returns a function that reads a block into the same memory at each call. */
function blockReader(
  name: string,
  stored: readonly StoredBlock[],
  scales: ColumnScales,
): (block: number) => DesignBlock {
  const width = scales.dense.length;
  const [shift, scale] = [scales.shift, scales.scale].map((values) =>
    Float64Array.from(scales.dense, (column) => values[column] as number),
  ) as [Float64Array, Float64Array];
  const sizeOf = ({ rows, patterns, places }: StoredBlock): number => 4 * (rows * (width + 2) + patterns + 1 + places);
  let buffer = new ArrayBuffer(0);
  let scaled = new Float64Array(0);
  return (index) => {
    const block = stored[index] as StoredBlock;
    const { rows, patterns } = block;
    if (buffer.byteLength === 0) {
      buffer = new ArrayBuffer(Math.max(...stored.map(sizeOf)));
      scaled = new Float64Array(width * Math.max(...stored.map((one) => one.rows)));
    }
    withOpened(name, (read) => {
      read(new Uint8Array(buffer, 0, sizeOf(block)), block.position);
    });
    const picked = new Float32Array(buffer, 0, rows * width);
    let offset = 4 * rows * width;
    const next = (length: number): Int32Array => {
      const values = new Int32Array(buffer, offset, length);
      offset += 4 * length;
      return values;
    };
    const [kinds, of, starts, indices] = [rows, rows, patterns + 1, block.places].map(next) as [
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    const dense = scaled.subarray(0, rows * width);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let k = 0; k < width; k++, at++) {
        dense[at] = ((picked[at] as number) - (shift[k] as number)) / (scale[k] as number);
      }
    }
    return {
      kinds,
      design: createHostDesign({ rows, dense, patterns: { of, count: patterns, starts, indices } }, scales),
    };
  };
}
