/** A point of a chart with its label, in pixels. */
export interface LabelledPoint {
  readonly x: number;
  readonly y: number;
  /** The size of the label. */
  readonly width: number;
  readonly height: number;
}

/** An axis-aligned rectangle, in pixels. */
export interface Rectangle {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The centre of a placed label. */
export interface LabelPosition {
  readonly x: number;
  readonly y: number;
  /** Whether the label is so far from its point that a line connects the two. */
  readonly isFar: boolean;
}

/** The minimum distance from a point's centre to its label. */
const NEAREST = 11;

/** The maximum distance between a label and its point without a connecting line. */
const PLAIN = 18;

/** The maximum distance from a point's centre to its label. */
const FARTHEST = 200;

const STEP = 9;

/**
 * The directions in which positions for a label are tried. The upper right is first; the directions of the interval
 * lines are last.
 */
const DIRECTIONS = [-45, 45, -135, 135, -65, 65, -115, 115, -25, 25, -155, 155, -90, 90, 0, 180].map((degrees) => [
  Math.cos((degrees * Math.PI) / 180),
  Math.sin((degrees * Math.PI) / 180),
]);

/** The minimum distance between two labels, in pixels. */
const GAP = 3;

/** Half the width of the symbol that is drawn for a point. */
const MARK = 7;

/**
 * Places each label as close to its point as possible, inside the area and without covering other labels or points. If
 * there is no such position, the label may cover a point or a line to another label. If every position covers another
 * label, the label is omitted. Labels are placed in the order of the points.
 *
 * Takes O(points^2) time for a fixed number of candidate positions.
 * @returns the position of each point's label, in the order of the points; null for an omitted label
 */
export function placeLabels(points: readonly LabelledPoint[], area: Rectangle): (LabelPosition | null)[] {
  const taken: Rectangle[] = [];
  const lines: Line[] = [];
  return points.map((point) => {
    const candidates = candidatesOf(point).filter(
      ({ box }) => isInside(box, area) && !taken.some((other) => overlap(box, other, GAP)),
    );
    const isClear = ({ box, line }: Candidate): boolean =>
      !lines.some((other) => crosses(other, box)) && !(isLong(line) && taken.some((other) => crosses(line, other)));
    const isOffPoints = ({ box }: Candidate): boolean => !points.some((other) => overlap(box, markOf(other), 0));
    const found =
      candidates.find((candidate) => isOffPoints(candidate) && isClear(candidate)) ??
      candidates.find(isOffPoints) ??
      candidates[0];
    if (found === undefined) return null;
    taken.push(found.box);
    const isFar = isLong(found.line);
    if (isFar) lines.push(found.line);
    return { x: (found.box.left + found.box.right) / 2, y: (found.box.top + found.box.bottom) / 2, isFar };
  });
}

/** The line from a point to the nearest edge of its label. */
interface Line {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
}

interface Candidate {
  readonly box: Rectangle;
  readonly line: Line;
}

/** Lists the candidate positions of a label around its point, nearest first. */
function candidatesOf({ x, y, width, height }: LabelledPoint): Candidate[] {
  const candidates: Candidate[] = [];
  for (let distance = NEAREST; distance <= FARTHEST; distance += STEP) {
    for (const [across = 0, down = 0] of DIRECTIONS) {
      const [endX, endY] = [x + distance * across, y + distance * down];
      // The label touches the end of the line with its side, or with the middle of its top or bottom edge.
      const left = endX - (width / 2) * (1 - Math.sign(Math.round(across * 4)));
      const top = endY - (height / 2) * (1 - down);
      const box = { left, right: left + width, top, bottom: top + height };
      candidates.push({ box, line: { from: [x, y], to: [endX, endY] } });
    }
  }
  return candidates;
}

function isLong({ from, to }: Line): boolean {
  return Math.hypot(to[0] - from[0], to[1] - from[1]) > PLAIN;
}

function markOf({ x, y }: LabelledPoint): Rectangle {
  return { left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK };
}

function isInside(box: Rectangle, area: Rectangle): boolean {
  return box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
}

function overlap(a: Rectangle, b: Rectangle, gap: number): boolean {
  return a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom + gap && b.top < a.bottom + gap;
}

/** Returns whether a line intersects a rectangle, by clipping the line along each axis. */
function crosses({ from, to }: Line, box: Rectangle): boolean {
  let [start, end] = [0, 1];
  for (const [origin, extent, low, high] of [
    [from[0], to[0] - from[0], box.left, box.right],
    [from[1], to[1] - from[1], box.top, box.bottom],
  ] as const) {
    if (extent === 0) {
      if (origin < low || origin > high) return false;
      continue;
    }
    const [first, second] = [(low - origin) / extent, (high - origin) / extent];
    start = Math.max(start, Math.min(first, second));
    end = Math.min(end, Math.max(first, second));
  }
  return start <= end;
}
