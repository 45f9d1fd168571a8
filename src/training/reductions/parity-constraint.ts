import type { ParityKind } from './constraint-names.ts';
import { type GridAxis, nameMultipliers } from './reduction-problem.ts';
import type { RowCells } from './row-cells.ts';

/** The bound of a parity constraint: how far the rate of a group may deviate from the overall rate. */
export interface ParityBound {
  /** The ratio rho, in (0, 1]. If rho is 1, differences are bounded. If rho is smaller, ratios are bounded. */
  readonly ratio: number;
  /** The amount by which gamma+ and gamma- (see {@link ParityConstraint}) may exceed 0. */
  readonly slack: number;
}

/**
 * A parity constraint on cells. Let m(e, g) be the mean utility of group g in event e, and m(e) the mean utility of the
 * event. The constraint is
 *
 *   gamma+ = rho m(e, g) - m(e) and gamma- = rho m(e) - m(e, g), both <= slack.
 *
 * Multipliers are ordered by sign and then by slot: first the multipliers of gamma+, then the multipliers of gamma-.
 */
export interface ParityConstraint {
  readonly multiplierNames: readonly string[];
  readonly bounds: Float64Array;
  readonly gridAxes: readonly GridAxis[];
  /**
   * Computes the left sides of the constraints.
   * @param selected for each cell, the weight of the rows with decision 1, as a share of the total weight
   */
  gamma(selected: Float64Array): Float64Array;
  /**
   * Returns for each cell, [cells], how much the objective decreases at the given multipliers if a row of the cell gets
   * the decision 1 instead of 0.
   */
  signedWeights(multipliers: Float64Array): Float64Array;
  project(multipliers: Float64Array): Float64Array;
}

/** Sets up a parity constraint (Agarwal et al. 2018, section 2, and example 4 for the ratio form). */
export function createParityConstraint(
  { slots, events, shares }: RowCells,
  { utilities }: ParityKind,
  { ratio, slack }: ParityBound,
): ParityConstraint {
  const slotShares = Float64Array.from(slots, (_, slot) => pair(shares, slot));
  const eventShares = new Float64Array(events.length);
  for (const [slot, { event }] of slots.entries()) (eventShares[event] as number) += slotShares[slot] as number;
  const gains = utilities.map(([ofZero, ofOne]) => ofOne - ofZero);
  const count = slots.length;
  return {
    multiplierNames: nameMultipliers(slots, events, ['+', '-']),
    bounds: new Float64Array(2 * count).fill(slack),
    gridAxes: gridAxesOf(slots),
    gamma(selected) {
      const utility = cellUtilities(selected);
      const ofEvent = new Float64Array(events.length);
      for (const [slot, { event }] of slots.entries()) (ofEvent[event] as number) += pair(utility, slot);
      const gamma = new Float64Array(2 * count);
      for (const [slot, { event }] of slots.entries()) {
        const ofGroup = pair(utility, slot) / (slotShares[slot] as number);
        const overall = (ofEvent[event] as number) / (eventShares[event] as number);
        gamma[slot] = ratio * ofGroup - overall;
        gamma[count + slot] = ratio * overall - ofGroup;
      }
      return gamma;
    },
    signedWeights(multipliers) {
      const ofEvent = new Float64Array(events.length);
      for (const [slot, { event }] of slots.entries()) {
        const [above, below] = sides(multipliers, slot);
        (ofEvent[event] as number) += above - ratio * below;
      }
      const weights = new Float64Array(shares.length);
      for (const [slot, { event }] of slots.entries()) {
        const [above, below] = sides(multipliers, slot);
        const weight =
          (ofEvent[event] as number) / (eventShares[event] as number) -
          (ratio * above - below) / (slotShares[slot] as number);
        weights[2 * slot] = (gains[0] as number) * weight;
        weights[2 * slot + 1] = (gains[1] as number) * weight;
      }
      return weights;
    },
    project(multipliers) {
      // For differences, gamma- is -gamma+, so both multipliers can be reduced by the smaller multiplier.
      if (ratio < 1) return multipliers;
      return multipliers.map((own, index) => Math.max(0, own - (multipliers[(index + count) % (2 * count)] as number)));
    },
  };

  /** Returns for each cell, [cells], the mean utility of the cell times its share of the total weight. */
  function cellUtilities(selected: Float64Array): Float64Array {
    return selected.map((share, cell) => {
      const label = cell % 2;
      return (
        (utilities[label] as readonly [number, number])[0] * (shares[cell] as number) + (gains[label] as number) * share
      );
    });
  }

  function sides(multipliers: Float64Array, slot: number): readonly [number, number] {
    return [multipliers[slot] as number, multipliers[count + slot] as number];
  }
}

/** Returns the sum of the values of a slot's two cells. */
function pair(cells: Float64Array, slot: number): number {
  return (cells[2 * slot] as number) + (cells[2 * slot + 1] as number);
}

/**
 * Returns the axes of all groups of an event except the last group. The constraint of the last group follows from the
 * other constraints.
 */
function gridAxesOf(slots: RowCells['slots']): GridAxis[] {
  return slots.flatMap(({ event }, slot) =>
    slots[slot + 1]?.event === event ? [{ positive: slot, negative: slots.length + slot }] : [],
  );
}
