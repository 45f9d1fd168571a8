import type { Frame, Label } from './frames.ts';

/** Returns which of the frames still have the difference. */
type StillDiffer = (frames: readonly Frame[]) => Promise<readonly boolean[]>;

/**
 * Returns a small frame that still has the difference: with fewer rows, features, weights, measures and metrics. Every
 * round tries all simplifications at once, since each call may start Python.
 */
export async function shrinkFrame(frame: Frame, stillDiffer: StillDiffer): Promise<Frame> {
  let smallest = frame;
  for (;;) {
    const candidates = simplifications(smallest);
    const differ = candidates.length === 0 ? [] : await stillDiffer(candidates);
    const better = candidates.filter((_, position) => differ[position] === true).sort((a, b) => sizeOf(a) - sizeOf(b));
    if (better[0] === undefined) return smallest;
    smallest = better[0];
  }
}

function sizeOf({ yPred, sensitive, control, weights, measures, metrics }: Frame): number {
  const features = Object.keys(sensitive).length + Object.keys(control).length;
  const weighing = weights === null ? 0 : weights.every((weight) => weight === 1) ? 1 : 2;
  return yPred.length * 100 + 10 * features + weighing + measures.length + metrics.length;
}

function simplifications(frame: Frame): Frame[] {
  const { yPred, sensitive, control, weights, measures, metrics } = frame;
  const rows = yPred.length;
  const without = <Value>(features: Readonly<Record<string, Value>>): Readonly<Record<string, Value>>[] =>
    Object.keys(features).map((name) => Object.fromEntries(Object.entries(features).filter(([own]) => own !== name)));
  // Halves, quarters, eighths and so on are left out in turn, and single rows of a small frame.
  const parts: Frame[] = [];
  for (let size = Math.ceil((rows - 1) / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    if (rows / size > 24) break;
    // The first row stays, since it has everything that a measure needs.
    for (let start = 1; start < rows; start += size)
      parts.push(keepRows(frame, (row) => row < start || row >= start + size));
  }
  return [
    ...parts,
    ...without(control).map((fewer) => ({ ...frame, control: fewer })),
    ...(Object.keys(sensitive).length > 1 ? without(sensitive).map((fewer) => ({ ...frame, sensitive: fewer })) : []),
    ...(weights === null ? [] : [{ ...frame, weights: null }]),
    ...(measures.length > 1
      ? measures.map((name) => ({ ...frame, measures: measures.filter((own) => own !== name) }))
      : []),
    ...metrics.map((one) => ({ ...frame, metrics: metrics.filter((own) => own !== one) })),
  ];
}

function keepRows(frame: Frame, isKept: (row: number) => boolean): Frame {
  const keep = <Value>(column: readonly Value[]): Value[] => column.filter((_, row) => isKept(row));
  const features = (columns: Readonly<Record<string, readonly Label[]>>): Record<string, Label[]> =>
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, keep(column)]));
  return {
    ...frame,
    yTrue: keep(frame.yTrue),
    yPred: keep(frame.yPred),
    sensitive: features(frame.sensitive),
    control: features(frame.control),
    weights: frame.weights === null ? null : keep(frame.weights),
  };
}
