import { invalidParameter } from '../../internal/invalid-parameter.ts';

/**
 * Adjusted p values in ascending order, and the order: `order[i]` is the place
 * that the p value behind `adjusted[i]` had in the input. Equal p values keep
 * their order; undefined (NaN) ones stand last.
 */
export type AdjustedPValues = readonly [adjusted: readonly number[], order: readonly number[]];

/**
 * Sorts p values, adjusts those that are defined, and puts the rest behind them.
 * @param adjust changes defined p values in ascending order, in place, so that they still ascend; values above 1 become 1
 * @throws {ValueError} for numbers outside [0, 1]
 */
export function adjustPValues(pValues: ArrayLike<number>, adjust: (ascending: number[]) => void): AdjustedPValues {
  const given = Array.from(pValues);
  given.forEach(requirePValue);
  const places = Array.from(given.keys());
  const defined = places
    .filter((place) => !Number.isNaN(given[place]))
    .sort((a, b) => (given[a] as number) - (given[b] as number));
  const undefinedPlaces = places.filter((place) => Number.isNaN(given[place]));
  const adjusted = defined.map((place) => given[place] as number);
  adjust(adjusted);
  return Object.freeze<AdjustedPValues>([
    Object.freeze([...adjusted.map((p) => Math.min(1, p)), ...undefinedPlaces.map(() => NaN)]),
    Object.freeze([...defined, ...undefinedPlaces]),
  ]);
}

function requirePValue(value: number, place: number): void {
  if (Number.isNaN(value) || (value >= 0 && value <= 1)) return;
  const required = 'an array of numbers from 0 to 1, or NaN where undefined';
  throw invalidParameter('pValues', `be ${required}`, `${String(value)} at place ${String(place)}`);
}
