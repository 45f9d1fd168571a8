const BITS = new DataView(new ArrayBuffer(4));

/**
 * Returns the largest float32 number that is at most `value`. A float32 number is above `value` exactly if it is above
 * the result.
 */
export function floorFloat32(value: number): number {
  const nearest = Math.fround(value);
  if (!(nearest > value)) return nearest;
  if (nearest === 0) return -(2 ** -149);
  BITS.setFloat32(0, nearest);
  BITS.setInt32(0, BITS.getInt32(0) + (nearest > 0 ? -1 : 1));
  return BITS.getFloat32(0);
}

/**
 * Returns the smallest float32 number that is at least `value`. A float32 number is below `value` exactly if it is below
 * the result.
 */
export function ceilFloat32(value: number): number {
  return -floorFloat32(-value);
}
