import { sumOf } from '../../../internal/values.ts';
import { withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import { currentTensorflow } from '../../../tensor/index.ts';
import { readDeviceScores } from '../device-scores.ts';
import { type PooledRows, poolViolators } from '../pool-violators.ts';
import { asOneGroup, poolScores, sortScores } from '../score-blocks.ts';
import type { ScoreCurve, ScoreCurves } from './score-curve.ts';

/**
 * Computes the curves of each group and of all rows on the device of the scores. Only the thresholds on the convex hull
 * of each curve are read. Every rate is linear in the counts of selected rows, so these thresholds contain the best ones
 * for every constraint and objective.
 * @param source a tensor, [rows], finite
 * @param flip whether rules may select low scores
 * @throws {DataValidationError} under the conditions of `readDeviceScores`
 */
export async function deviceCurves(
  source: ColumnSource,
  y: ColumnSource,
  sensitive: SensitiveSource,
  sampleWeight: ColumnSource | undefined,
  flip: boolean,
): Promise<ScoreCurves> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const scores = { source, must: 'finite' as const };
    const rows = await readDeviceScores(tf, keep, { scores, y, sampleWeight, groups: { sensitive } });
    const own = sortScores(tf, keep, rows);
    const all = sortScores(tf, keep, asOneGroup(tf, keep, rows));
    // If a low score may be selected, the lower side of the hull is also needed. There, the rate of label 0 rises.
    const sides = flip ? ([1, 0] as const) : ([1] as const);
    const ofGroups = rows.counts.map((): PooledRows[][] => sides.map(() => []));
    const ofAll: PooledRows[][] = [];
    for (const [side, label] of sides.entries()) {
      for (const block of await poolScores(tf, own, label)) ofGroups[block.group]?.[side]?.push(block);
      ofAll.push(await poolScores(tf, all, label));
    }
    const curve = (n: number, blocks: readonly PooledRows[][]): ScoreCurve =>
      curveOfBlocks(
        n,
        blocks.map((side, index) => poolViolators(side, sides[index])),
      );
    const n = sumOf(rows.counts.map((counts) => counts.n));
    const kept = rows.counts.flatMap((counts, code) => (counts.n === 0 ? [] : [{ ...counts, code }]));
    return {
      labels: kept.map(({ label }) => label),
      nZeroWeight: rows.rows - n,
      groups: kept.map((counts) => curve(counts.n, ofGroups[counts.code] as PooledRows[][])),
      pooled: curve(n, ofAll),
    };
  });
}

/** A threshold of a curve, with the weight of the rows that it selects. */
interface CurvePoint {
  readonly above: number;
  readonly below: number;
  readonly truePositives: number;
  readonly falsePositives: number;
}

/** Collects the thresholds between blocks of each side of the hull as one curve. */
function curveOfBlocks(n: number, sides: readonly (readonly PooledRows[])[]): ScoreCurve {
  const pointAt = new Map<number, CurvePoint>();
  for (const blocks of sides) {
    let [truePositives, falsePositives] = [0, 0];
    let above = Infinity;
    for (const block of blocks.toReversed()) {
      pointAt.set(above, { above, below: block.high, truePositives, falsePositives });
      truePositives += block.yes;
      falsePositives += block.no;
      above = block.low;
    }
    pointAt.set(above, { above, below: -Infinity, truePositives, falsePositives });
  }
  const points = [...pointAt.values()].sort((a, b) => b.above - a.above);
  const column = (name: keyof CurvePoint): Float64Array => Float64Array.from(points, (point) => point[name]);
  const [truePositives, falsePositives] = [column('truePositives'), column('falsePositives')];
  return {
    n,
    above: column('above'),
    below: column('below'),
    truePositives,
    falsePositives,
    positives: truePositives.at(-1) as number,
    negatives: falsePositives.at(-1) as number,
  };
}
