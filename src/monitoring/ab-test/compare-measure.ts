import { DataValidationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/nearest.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import type { ABComparison, ABEffect, ABGroup, PerArm } from './ab-test-fields.ts';
import type { ABSettings } from './ab-test-options.ts';
import { type ArmCell, countCells, type GroupCells } from './arm-cells.ts';
import { comparePair, type PairRule } from './compare-pair.ts';
import { effectOfCells } from './effect-of-cells.ts';
import type { ABMeasure } from './fairness-measures.ts';
import { gapChange } from './gap-change.ts';
import { type MeasuredRows, ROW_FAULTS } from './measured-rows.ts';
import { type Arm, ARMS, type ArmRows } from './read-arms.ts';

/** Where a mean has no unit of its own, changes are counted in this share of its standard deviation. */
const MEAN_CHANGE = 0.2;

/** Where a rate was asked about without a change, this is the change. */
const RATE_CHANGE = 0.05;

/** One measure over all rows, ready to be compared by any attribute. */
export interface PreparedMeasure {
  /** The fairness metric, or the column of a business metric. */
  readonly metric: string;
  readonly measured: MeasuredRows;
  readonly overall: ABEffect;
  readonly rule: PairRule;
  /** Why nothing of it can be tested; undefined where something can. */
  readonly problem: string | undefined;
}

/** Computes what is the same for every attribute. */
export function prepareMeasure(
  rows: ArmRows,
  metric: string,
  measured: MeasuredRows,
  settings: ABSettings,
): PreparedMeasure {
  const all = countCells(measured, rows.weights, new Uint8Array(rows.nRows), 1, rows.nControl)[0] as GroupCells;
  const unit = measured.measure.kind === 'rate' ? RATE_CHANGE : MEAN_CHANGE * deviationOf(all);
  const rule: PairRule = {
    alpha: settings.alpha,
    tau: settings.isSequential ? (settings.tau ?? unit) : undefined,
    minimumEffect: settings.minimumEffect ?? unit,
  };
  const problem = constancy(measured) ?? (unit > 0 ? undefined : 'the outcome has no spread inside the arms');
  return { metric, measured, rule, problem, overall: effectOfCells(all, rule) };
}

/** Compares the groups of one attribute by one measure; p-values are not yet adjusted. */
export function compareMeasure(
  rows: ArmRows,
  prepared: PreparedMeasure,
  attribute: string,
  settings: ABSettings,
): ABComparison {
  const { metric, measured, overall, rule, problem } = prepared;
  const column = rows.groups.get(attribute) as CategoricalColumn;
  const cells = countCells(measured, rows.weights, column.codes, column.labels.length, rows.nControl);
  const groups = cells.map((own, place): ABGroup =>
    Object.freeze({
      group: column.labels[place] as string,
      ...effectOfCells(own, rule),
      excluded: exclusion(own, column.labels[place] as string, measured.measure, settings.minGroupSize) ?? null,
    }),
  );
  const reference = referenceOf(groups, attribute, settings);
  const identity = { attribute, metric, measure: measured.measure.name };
  const pairs = groups.flatMap((group, place) =>
    reference === undefined || place === reference
      ? []
      : comparePair({
          identity,
          overall,
          group,
          reference: groups[reference] as ABGroup,
          cells: { group: cells[place] as GroupCells, reference: cells[reference] as GroupCells },
          problem,
          rule,
        }),
  );
  const comparable = cells.filter((_, place) => groups[place]?.excluded === null);
  const pair = pairs.find(({ pValue }) => pValue !== null);
  return Object.freeze({
    ...identity,
    kind: measured.measure.kind,
    reference: reference === undefined ? null : (column.labels[reference] as string),
    overall,
    groups: Object.freeze(groups),
    gap: problem === undefined ? gapChange(comparable, pair, { ...rule, seed: settings.seed }) : null,
    rows: Object.freeze(pairs),
    dropped: countDropped(rows, measured, column),
  });
}

/** The place of the group that others are compared with: the one named, or the largest that can be compared. */
function referenceOf(groups: readonly ABGroup[], attribute: string, settings: ABSettings): number | undefined {
  const named = settings.referenceGroups.find((entry) => entry.attribute === attribute)?.group;
  if (named !== undefined) {
    const place = groups.findIndex(({ group }) => group === named);
    if (place >= 0) return place;
    throw new DataValidationError(`'${attribute}' has no group '${named}'.`, {
      context: { parameter: 'referenceGroups', attribute, group: named },
      suggestion: suggestNames(
        named,
        groups.map(({ group }) => group),
        'groups',
      ),
    });
  }
  const sizeOf = ({ n, excluded }: ABGroup): number => (excluded === null ? 1e15 : 0) + n.control + n.treatment;
  let best: number | undefined;
  groups.forEach((group, place) => {
    if (best === undefined || sizeOf(group) > sizeOf(groups[best] as ABGroup)) best = place;
  });
  return best;
}

/** What the rows of a measure are, after their number. */
const ROWS: Readonly<Record<ABMeasure['rows'], string>> = {
  all: 'rows',
  positives: 'rows with a positive label',
  negatives: 'rows with a negative label',
};

function exclusion(cells: GroupCells, label: string, { rows }: ABMeasure, minGroupSize: number): string | undefined {
  const sizes = ARMS.map((arm): [Arm, number] => [arm, cells[arm].n]);
  const [arm, n] = sizes.reduce((least, other) => (other[1] < least[1] ? other : least));
  if (n === 0) return `group '${label}' has no ${ROWS[rows]} in the ${arm} arm`;
  if (n >= minGroupSize)
    return ARMS.map((name) => weightless(cells, label, name)).find((reason) => reason !== undefined);
  const counted = n === 1 ? ROWS[rows].replace('rows', 'row') : ROWS[rows];
  return `group '${label}' has ${String(n)} ${counted} in the ${arm} arm, and ${String(minGroupSize)} are needed`;
}

/** Weights can leave nothing of many rows. */
function weightless(cells: GroupCells, label: string, arm: Arm): string | undefined {
  if (cells[arm].effective > 1) return undefined;
  return `group '${label}' has the weight of a single row in the ${arm} arm`;
}

/** The standard deviation of the values inside the arms. */
function deviationOf({ control, treatment }: GroupCells): number {
  const degrees = (arm: ArmCell): number => Math.max(0, arm.effective - 1);
  const total = degrees(control) + degrees(treatment);
  const squares = [control, treatment].reduce(
    (sum, arm) => sum + (degrees(arm) > 0 ? degrees(arm) * arm.spread : 0),
    0,
  );
  return Math.sqrt(squares / total);
}

function constancy({ values }: MeasuredRows): string | undefined {
  let first: number | undefined;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    first ??= value;
    if (value !== first) return undefined;
  }
  return first === undefined
    ? 'no row has a value of this measure'
    : `the outcome is ${String(first)} in every row that counts`;
}

function countDropped(rows: ArmRows, { faults }: MeasuredRows, { codes }: CategoricalColumn): ABComparison['dropped'] {
  const counts = ARMS.map(() => ({ group: 0, outcome: 0, label: 0, weight: 0 }));
  for (let row = 0; row < rows.nRows; row++) {
    const own = counts[Number(row >= rows.nControl)] as (typeof counts)[number];
    const fault = faults[row] as number;
    if ((codes[row] as number) < 0) own.group += 1;
    else if (fault > 0) own[ROW_FAULTS[fault - 1] as 'outcome'] += 1;
  }
  const [control, treatment] = counts.map((own) => Object.freeze(own));
  return Object.freeze({ control, treatment }) as PerArm<Readonly<(typeof counts)[number]>>;
}
