/** What rows should weigh by one attribute. */
export interface Margin {
  /** The code of each cell; -1 where it has none. */
  readonly codes: Int32Array;
  /** The share that each code should have of those with a share; NaN for codes that are left as they are. */
  readonly shares: Float64Array;
}

/** Factors that give rows their shares. */
export interface Raking {
  /** One per code of each margin; 1 for codes that are left as they are. */
  readonly factors: readonly Float64Array[];
  /** The largest distance of a share from its target. */
  readonly gap: number;
}

/** Rounds over all margins, at most. */
const MAX_ROUNDS = 1000;

/** Every so many rounds the gap has to be below this share of what it was: where margins contradict each other, it stays. */
const [PATIENCE, STANDSTILL] = [20, 0.999];

/** Shares this near their targets are there. */
const NEAR_ENOUGH = 1e-13;

/**
 * Raking, or iterative proportional fitting (Deming and Stephan 1940): factors
 * f such that the cells weigh, by each attribute, as they should; a cell's
 * factor is the product of its attributes' factors. One round scales every
 * attribute's codes to their shares in turn, O(cells attributes). One attribute
 * needs one round; margins that no weights can meet end where no round helps, or after 1,000.
 */
export function rake(margins: readonly Margin[], masses: Float64Array): Raking {
  const factors = margins.map(({ shares }) => new Float64Array(shares.length).fill(1));
  const current = Float64Array.from(masses);
  let [before, gap] = [Infinity, Infinity];
  for (let round = 0; round < MAX_ROUNDS && gap > NEAR_ENOUGH; round++) {
    margins.forEach((margin, place) => {
      scaleTo(margin, factors[place] as Float64Array, current);
    });
    gap = largestGap(margins, current);
    if (round % PATIENCE !== 0) continue;
    if (gap > before * STANDSTILL) break;
    before = gap;
  }
  return { factors, gap };
}

/** Scales cells to one margin, in place. */
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

/** The weight, and the sum of the shares, of the codes that have both. */
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
