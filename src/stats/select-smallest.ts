/**
 * The value at a place of the ascending order, counted from 0, without sorting the rest (Hoare 1961): O(n) on average.
 * @param values reordered on the way; none of them NaN
 */
export function selectSmallest(values: Float64Array, place: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    // The middle one parts what is sorted already, or all equal, evenly.
    const pivot = values[(low + high) >> 1] as number;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) < pivot) left++;
      while ((values[right] as number) > pivot) right--;
      if (left > right) break;
      const value = values[left] as number;
      values[left++] = values[right] as number;
      values[right--] = value;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] as number;
}
