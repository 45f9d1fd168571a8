/**
 * The edges of equal bins over the pooled range of two samples, with
 * ceil(log2(n) + 1) bins for n values in all (H. A. Sturges 1926; numpy's
 * `histogram_bin_edges` with `sturges`). Where all values are equal: one bin of width 1 about them.
 */
export function sturgesEdges(first: Float64Array, second: Float64Array): number[] {
  let [low, high] = [Infinity, -Infinity];
  for (const sample of [first, second]) {
    for (const value of sample) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low === high) return [low - 0.5, high + 0.5];
  const bins = Math.ceil(Math.log2(first.length + second.length) + 1);
  // Halves first, so that a range of all of float64 does not overflow.
  const step = (high / 2 - low / 2) / (bins / 2);
  return Array.from({ length: bins + 1 }, (_, index) => (index === bins ? high : low + index * step));
}
