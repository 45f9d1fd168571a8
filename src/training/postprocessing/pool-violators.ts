/** Rows of one group with neighbouring scores. */
export interface PooledRows {
  /** The lowest score. */
  readonly low: number;
  /** The highest score. */
  readonly high: number;
  /** The weight of the rows with label 0. */
  readonly no: number;
  /** The weight of the rows with label 1. */
  readonly yes: number;
}

/** Returns the weighted share of a label. */
export function rateOf({ no, yes }: PooledRows, label: 0 | 1 = 1): number {
  return (label === 1 ? yes : no) / (no + yes);
}

/**
 * Pools neighbouring blocks until the rate of a label rises from block to block (pool adjacent violators, Ayer et al.
 * 1955). Blocks are kept on a stack, so each one is merged at most once.
 * @param blocks by rising score
 */
export function poolViolators(blocks: Iterable<PooledRows>, label: 0 | 1 = 1): PooledRows[] {
  const pooled: PooledRows[] = [];
  for (const given of blocks) {
    let block = given;
    let last = pooled.at(-1);
    while (last !== undefined && rateOf(last, label) >= rateOf(block, label)) {
      block = { low: last.low, high: block.high, no: last.no + block.no, yes: last.yes + block.yes };
      pooled.pop();
      last = pooled.at(-1);
    }
    pooled.push(block);
  }
  return pooled;
}
