/** The prime behind multiplicative hashing, 2^32 over the golden ratio. */
const SPREAD = 2654435761;

/**
 * The numbers 0 to n - 1 in parts of nearly equal size, at most `most`. Several
 * parts are dealt out evenly over the rows, so that their order decides nothing.
 */
export function rowParts(rows: number, most = rows): Int32Array[] {
  const count = Math.max(1, Math.ceil(rows / most));
  const all = Int32Array.from({ length: rows }, (_, row) => row);
  if (count > 1) all.sort((a, b) => Math.imul(a, SPREAD) - Math.imul(b, SPREAD));
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((part * rows) / count));
  return bounds.slice(1).map((end, part) => all.subarray(bounds[part], end));
}
