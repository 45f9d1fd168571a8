/**
 * The places of the points on the upper convex hull of points, left to right
 * (Andrew's monotone chain). Points on a line between two others are left out;
 * of several at the first x the lowest and the highest stay. O(points).
 * @param x rising
 * @param y rising where x stands still
 */
export function upperHull(x: ArrayLike<number>, y: ArrayLike<number>): number[] {
  const kept: number[] = [];
  for (let place = 0; place < x.length; place++) {
    while (kept.length >= 2 && !isAbove(kept.at(-1) as number, kept.at(-2) as number, place)) kept.pop();
    kept.push(place);
  }
  return kept;

  /** Whether a point lies above the line between two others, by slopes without their denominators. */
  function isAbove(middle: number, left: number, right: number): boolean {
    const [x0, y0] = [x[left] as number, y[left] as number];
    return (
      ((y[middle] as number) - y0) * ((x[right] as number) - x0) >
      ((y[right] as number) - y0) * ((x[middle] as number) - x0)
    );
  }
}
