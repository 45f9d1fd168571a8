import type { CategoricalColumn } from '../../../table/index.ts';
import { indexKnots, interpolate, nearestKnot, type RepairMap } from './repair-map.ts';

/**
 * The values of one column after repair; missing ones, and those of groups
 * without a map, are left as they are. O(rows log knots).
 * @param level how far to go towards the map; null where the map has it already, and is on distinct values
 */
export function repairValues(
  values: Float64Array,
  { codes, labels }: CategoricalColumn,
  maps: readonly RepairMap[],
  level: number | null,
): Float64Array {
  const mapOf = new Map(
    maps.map(({ group, from, to }) => [
      group,
      indexKnots({ from: Float64Array.from(from), to: Float64Array.from(to) }),
    ]),
  );
  const byCode = labels.map((label) => mapOf.get(label));
  const repaired = Float64Array.from(values);
  for (let row = 0; row < repaired.length; row++) {
    const value = values[row] as number;
    const knots = byCode[codes[row] as number];
    if (knots === undefined || Number.isNaN(value)) continue;
    // Two rising terms: the sum keeps the order of values within a group.
    repaired[row] =
      level === null ? nearestKnot(knots, value) : (1 - level) * value + level * interpolate(knots, value);
  }
  return repaired;
}
