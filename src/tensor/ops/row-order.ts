import type { Rank, Tensor, Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** The number of rows ranked at once. Float32 counts them exactly. */
const ROWS_AT_ONCE = 2 ** 22;

/** The number of codes that one pass distinguishes. */
const RADIX = 16;

/**
 * Returns the rows in the order of their codes, on the tensor backend. Rows with equal codes keep their order. Nothing
 * is read back. The result is exact up to `largestExactInteger` rows. The time is proportional to rows x log(codes).
 * @param codes [n] int32, each in [0, counts.length)
 * @param counts the number of rows of each code
 * @returns [n] int32
 */
export function sortedRows(tf: Tf, codes: Tensor1D, counts: ArrayLike<number>): Tensor1D {
  return tf.tidy(() => {
    let rows = tf.range(0, codes.size, 1, 'int32');
    if (codes.size === 0) return rows;
    // Each pass sorts by one digit of the codes, from the last digit to the first.
    for (let unit = 1; unit < counts.length; unit *= RADIX) {
      const digitOf = (code: number): number => Math.floor(code / unit) % RADIX;
      const ofDigits = new Float64Array(Math.min(RADIX, Math.ceil(counts.length / unit)));
      for (let code = 0; code < counts.length; code++) {
        ofDigits[digitOf(code)] = (ofDigits[digitOf(code)] as number) + (counts[code] as number);
      }
      const positions = tf.tidy(() => {
        const sorted = tf.gather(codes, rows).cast<Tensor1D>('float32');
        const parts: Tensor1D = tf.floor(sorted.div<Tensor1D>(unit));
        const digits = parts.sub<Tensor1D>(tf.floor(parts.div(RADIX)).mul(RADIX));
        return positionsOf(tf, digits, ofDigits);
      });
      rows = atRows(tf, positions, rows);
    }
    return rows;
  });
}

/**
 * Returns the rows of each part, ascending, on the tensor backend.
 * @param parts the part of each row, [n] int32, in [0, counts.length)
 * @param counts the number of rows of each part
 * @returns for each part [count] int32
 */
export function rowsOfParts(tf: Tf, parts: Tensor1D, counts: readonly number[]): Tensor1D[] {
  return tf.tidy(() => {
    const rows = sortedRows(tf, parts, counts);
    const starts = startsOf(counts);
    return counts.map((count, part) => rows.slice<Tensor1D>(starts[part] as number, count));
  });
}

/**
 * Returns a tensor with the values at the given rows, on the tensor backend.
 * @param rows [n] int32, a permutation of 0 to n - 1
 * @param values [n] int32
 */
export function atRows(tf: Tf, rows: Tensor1D, values: Tensor1D): Tensor1D {
  return tf.tidy(() => tf.scatterND<Rank.R1>(rows.reshape([-1, 1]), values, [rows.size]));
}

/** Returns the position of each row in a stable sort by code, [n] int32. */
function positionsOf(tf: Tf, codes: Tensor1D, counts: ArrayLike<number>): Tensor1D {
  const positions: Tensor1D[] = [];
  /** The position of the next row of each code. */
  let next = tf.tensor1d(startsOf(counts), 'int32');
  for (let start = 0; start < codes.size; start += ROWS_AT_ONCE) {
    const [chunk, advanced] = tf.tidy((): [Tensor1D, Tensor1D] => {
      const own = codes.slice(start, Math.min(ROWS_AT_ONCE, codes.size - start));
      const sizes: Tensor[] = [];
      let ranks = tf.zeros<Rank.R1>([own.size]);
      for (let code = 0; code < counts.length; code++) {
        const [added, size] = tf.tidy((): [Tensor1D, Tensor] => {
          const isCode = own.equal(code).cast('float32');
          return [ranks.add(tf.cumsum(isCode, 0, true).mul(isCode)), isCode.sum()];
        });
        ranks.dispose();
        ranks = added;
        sizes.push(size);
      }
      const first = tf.gather(next, own.cast('int32'));
      return [first.add(ranks.cast('int32')), next.add(tf.stack(sizes).cast('int32'))];
    });
    next.dispose();
    next = advanced;
    positions.push(chunk);
  }
  return tf.concat(positions);
}

/** Returns the first position of each code. */
function startsOf(counts: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(counts.length);
  for (let code = 1; code < starts.length; code++) {
    starts[code] = (starts[code - 1] as number) + (counts[code - 1] as number);
  }
  return starts;
}
