import { tmpdir } from 'node:os';

import { createRandom } from '../../../src/internal/random.ts';
import { type Matrix, takeMatrixRows } from '../../../src/training/data/read-matrix.ts';
import { createDesignBlocks, type DesignBlocks } from '../../../src/training/estimators/fitting/design-blocks.ts';

/** Rows with labels and the codes of their groups. */
export interface MadeRows {
  readonly x: Matrix;
  /** 0 or 1, [rows]. */
  readonly y: ArrayLike<number>;
  readonly codes: ArrayLike<number>;
  readonly groupCount: number;
}

/** Returns the kind of each row, 2 x group + label. */
export function kindsOf({ y, codes }: Pick<MadeRows, 'y' | 'codes'>): Int32Array {
  return Int32Array.from(codes, (code, row) => 2 * code + (y[row] as number));
}

/** Runs work on rows in blocks of at most some rows. */
export async function withBlocks<T>(
  rows: MadeRows,
  blockRows: number,
  work: (blocks: DesignBlocks) => Promise<T>,
): Promise<T> {
  const kinds = kindsOf(rows);
  const counts = new Float64Array(2 * rows.groupCount);
  for (const kind of kinds) counts[kind] = (counts[kind] as number) + 1;
  const blocks = await createDesignBlocks({
    columns: rows.x.columns,
    blocks: Math.ceil(rows.x.rows / blockRows),
    counts,
    folder: tmpdir(),
    load(block) {
      const length = Math.min(blockRows, rows.x.rows - block * blockRows);
      const taken = Int32Array.from({ length }, (_, row) => block * blockRows + row);
      return { x: takeMatrixRows(rows.x, taken), kinds: Int32Array.from(taken, (row) => kinds[row] as number) };
    },
    beforeBlock: () => Promise.resolve(),
  });
  try {
    return await work(blocks);
  } finally {
    blocks.remove();
  }
}

/**
 * Three groups, and the columns of two numbers, of a text with three values, of its missing values, and of a constant.
 * The values are exact in float32, in which blocks are stored.
 */
export function madeRows(rows: number, seed = 4): MadeRows {
  const random = createRandom(seed);
  const columns = 7;
  const values = new Float32Array(rows * columns);
  const codes = Int32Array.from({ length: rows }, () => random.integer(3));
  const y = Uint8Array.from(codes, (code, row) => {
    const own = values.subarray(row * columns, (row + 1) * columns);
    const text = random.integer(4);
    own.set([random.normal() + 0.6 * (code - 1), 1000 + random.integer(40)]);
    own[2 + text] = 1;
    own[6] = 7;
    return Number((own[0] as number) + 0.5 * (text - 1.5) + random.normal() > 0);
  });
  return { x: { rows, columns, values }, y, codes, groupCount: 3 };
}
