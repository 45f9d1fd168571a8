/** The target shares of one attribute. */
export interface Margin {
  /** The code of each cell; -1 if the cell has no code. */
  readonly codes: Int32Array;
  /**
   * The target share of each code; the shares of all codes that have a target sum to 1. NaN for codes without a target,
   * which are not changed.
   */
  readonly shares: Float64Array;
}

/** Factors that give the codes their shares. */
export interface Raking {
  /** One factor per code of each margin; 1 for codes that are not changed. */
  readonly factors: readonly Float64Array[];
  /** The largest difference between a share and its target. */
  readonly gap: number;
}

/** The maximum number of rounds over all margins. */
const MAX_ROUNDS = 1000;

/**
 * Raking stops if the gap has not fallen below 0.999 of its value 20 rounds earlier. This happens if the margins
 * contradict each other.
 */
const [PATIENCE, STANDSTILL] = [20, 0.999];

/** The largest gap at which the target shares are considered reached. */
const NEAR_ENOUGH = 1e-13;

/**
 * Performs raking, or iterative proportional fitting (Deming and Stephan 1940). Finds factors so that the cells have
 * the target shares of each attribute. The factor of a cell is the product of the factors of its codes. One round
 * scales the weights to the target shares of each attribute in turn, and takes O(cells attributes) time. A single
 * attribute needs one round. If no weights can match the margins, raking stops if it makes no progress, or after 1,000
 * rounds.
 */
export function rake(margins: readonly Margin[], masses: Float64Array): Raking {
  const factors = margins.map(({ shares }) => new Float64Array(shares.length).fill(1));
  const current = Float64Array.from(masses);
  let [before, gap] = [Infinity, Infinity];
  for (let round = 0; round < MAX_ROUNDS && gap > NEAR_ENOUGH; round++) {
    margins.forEach((margin, index) => {
      scaleTo(margin, factors[index] as Float64Array, current);
    });
    gap = largestGap(margins, current);
    if (round % PATIENCE !== 0) continue;
    if (gap > before * STANDSTILL) break;
    before = gap;
  }
  return { factors, gap };
}

/** Scales cells to one margin in place. */
function scaleTo(margin: Margin, factors: Float64Array, current: Float64Array): void {
  const { codes, shares } = margin;
  const totals = totalsOf(margin, current);
  const { weight, share } = reachable(totals, shares);
  const scale = totals.map((total, code) =>
    total > 0 && !Number.isNaN(shares[code]) ? ((shares[code] as number) / share / total) * weight : 1,
  );
  scale.forEach((by, code) => (factors[code] = (factors[code] as number) * by));
  for (let cell = 0; cell < current.length; cell++) {
    const code = codes[cell] as number;
    if (code >= 0) current[cell] = (current[cell] as number) * (scale[code] as number);
  }
}

function totalsOf({ codes, shares }: Margin, current: Float64Array): Float64Array {
  const totals = new Float64Array(shares.length);
  codes.forEach((code, cell) => {
    if (code >= 0) totals[code] = (totals[code] as number) + (current[cell] as number);
  });
  return totals;
}

/** Returns the total weight and the total share of the codes that have both a weight and a share. */
function reachable(totals: Float64Array, shares: Float64Array): { weight: number; share: number } {
  let [weight, share] = [0, 0];
  totals.forEach((total, code) => {
    const target = shares[code] as number;
    if (!(total > 0) || Number.isNaN(target)) return;
    weight += total;
    share += target;
  });
  return { weight, share: share > 0 ? share : 1 };
}

function gapOf(totals: Float64Array, shares: Float64Array): number {
  const { weight, share } = reachable(totals, shares);
  let gap = 0;
  totals.forEach((total, code) => {
    const target = shares[code] as number;
    if (total > 0 && !Number.isNaN(target)) gap = Math.max(gap, Math.abs(total / weight - target / share));
  });
  return gap;
}

function largestGap(margins: readonly Margin[], current: Float64Array): number {
  return Math.max(0, ...margins.map((margin) => gapOf(totalsOf(margin, current), margin.shares)));
}
