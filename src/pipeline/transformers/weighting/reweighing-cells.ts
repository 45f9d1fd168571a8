import type { CategoricalColumn } from '../../../table/index.ts';
import { crossToCells } from './cells.ts';
import { type MeanOne, scaleToMeanOne } from './mean-one.ts';
import { type Proportions, targetShares } from './target-shares.ts';

/** The weight of the rows of a group and a label; of a group alone where no label is used. */
export interface WeightedCell {
  readonly group: string;
  readonly label: string | null;
  readonly weight: number;
}

/** Weights of cells that occur. */
export interface CellWeights {
  readonly cells: readonly WeightedCell[];
  readonly warnings: readonly string[];
}

/** Kamiran and Calders: expected over observed frequency, of mean 1, cut at a limit. O(rows). */
export function independenceCells(
  groups: CategoricalColumn,
  classes: CategoricalColumn,
  weights: Float64Array | undefined,
  maxWeight: number,
): CellWeights {
  const { codes, masses } = crossToCells([groups, classes], weights);
  const [group, label] = codes as readonly [Int32Array, Int32Array];
  const known = [...masses.keys()].filter((cell) => (group[cell] as number) >= 0 && (label[cell] as number) >= 0);
  const ofGroup = new Float64Array(groups.labels.length);
  const ofLabel = new Float64Array(classes.labels.length);
  let total = 0;
  for (const cell of known) {
    const [s, y, mass] = [group[cell] as number, label[cell] as number, masses[cell] as number];
    ofGroup[s] = (ofGroup[s] as number) + mass;
    ofLabel[y] = (ofLabel[y] as number) + mass;
    total += mass;
  }
  const ratio = (cell: number): number =>
    ((ofGroup[group[cell] as number] as number) * (ofLabel[label[cell] as number] as number)) /
    (total * (masses[cell] as number));
  const ratios = known.map(ratio);
  const scaled = scale(
    ratios,
    known.map((cell) => masses[cell] as number),
    maxWeight,
  );
  const cells = known.map((cell, place) => ({
    group: groups.labels[group[cell] as number] as string,
    label: classes.labels[label[cell] as number] as string,
    weight: weigh(scaled, ratios[place] as number),
  }));
  return { cells, warnings: [...noneKnown(known), ...cutWarning(scaled)] };
}

/** Target over observed share of each group, of mean 1, cut at a limit. */
export function shareCells(
  groups: CategoricalColumn,
  weights: Float64Array | undefined,
  options: { readonly what: string; readonly targets: Proportions | undefined; readonly maxWeight: number },
): CellWeights {
  const { what, targets, maxWeight } = options;
  const { shares, warnings } = targetShares(groups, targets, { what, minCount: 1 });
  const { codes, masses } = crossToCells([groups], weights);
  const [group] = codes as readonly [Int32Array];
  const taking = [...masses.keys()].filter((cell) => !Number.isNaN(shares[group[cell] as number] ?? NaN));
  const ratios = taking.map((cell) => (shares[group[cell] as number] as number) / (masses[cell] as number));
  const scaled = scale(
    ratios,
    taking.map((cell) => masses[cell] as number),
    maxWeight,
  );
  const weightOf = new Map(taking.map((cell, place) => [group[cell], weigh(scaled, ratios[place] as number)]));
  const cells = groups.labels.map((label, code) => ({ group: label, label: null, weight: weightOf.get(code) ?? 1 }));
  return { cells, warnings: [...warnings, ...cutWarning(scaled)] };
}

function scale(ratios: readonly number[], masses: readonly number[], maxWeight: number): MeanOne {
  return ratios.length === 0 ? { scale: 1, limit: maxWeight, cut: [] } : scaleToMeanOne(ratios, masses, maxWeight);
}

function weigh({ scale: by, limit }: MeanOne, ratio: number): number {
  return Math.min(limit, by * ratio);
}

function noneKnown(known: readonly number[]): string[] {
  return known.length === 0 ? ['no row has both a group and a label: every weight is 1'] : [];
}

function cutWarning({ cut, limit }: MeanOne): string[] {
  return cut.length === 0
    ? []
    : [`weights of ${String(cut.length)} combinations are cut at ${String(limit)}: independence is not reached`];
}
