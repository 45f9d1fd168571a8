import { formatShare, pValueWords } from '../../internal/format.ts';
import { numberOrNull } from '../../internal/values.ts';
import { unlikeWeightWarnings } from '../../metrics/compare/exclusions.ts';
import { crossCounts } from '../../stats/association/cross-counts.ts';
import { chiSquareGoodnessOfFit, chiSquareIndependence } from '../../stats/tests/chi-square-test.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { attributeText } from '../attribute-text.ts';
import { type ABComparison, type ABGroup, type ABTestFields, perArm, type SampleRatio } from './ab-test-fields.ts';
import type { ABSettings } from './ab-test-options.ts';
import type { MeasuredRows } from './arm-cells.ts';
import { type Arm, type ArmRows, ARMS } from './read-arms.ts';

/**
 * If the p-value is below this limit, the assignment of rows to arms is reported as incorrect. Such a small p-value is
 * rare in valid experiments.
 */
const BROKEN = 0.001;

/**
 * The minimum number of successes and of failures in a cell. With fewer successes or failures, the normal approximation
 * is inaccurate.
 */
const FEW = 5;

type Checks = ABTestFields['checks'];

/** Tests whether the rows were assigned to the arms as intended. */
export function checkAssignment(rows: ArmRows, settings: ABSettings): Checks {
  const arms = Uint8Array.from({ length: rows.nRows }, (_, row) => Number(row >= rows.nControl));
  const one = oncePerCluster(rows, arms, new Int32Array(rows.nRows));
  const nTreatment = one.reduce((sum, code, row) => sum + Number(code >= 0 && arms[row] === 1), 0);
  const nControl = one.reduce((sum, code, row) => sum + Number(code >= 0 && arms[row] === 0), 0);
  const { treatmentShare } = settings;
  const { pValue } = chiSquareGoodnessOfFit([nControl, nTreatment], [1 - treatmentShare, treatmentShare]);
  return Object.freeze({
    sampleRatio: Object.freeze({
      treatmentShare: nTreatment / (nControl + nTreatment),
      expected: treatmentShare,
      pValue,
    }),
    byAttribute: Object.freeze(
      settings.attributes.map(({ name }) => {
        const { kind, codes, labels } = rows.groups.get(name) as CategoricalColumn;
        return Object.freeze({
          attribute: name,
          ...mixOf({ kind, labels, codes: oncePerCluster(rows, arms, codes) }, arms),
        });
      }),
    ),
    overlap: rows.ids === undefined ? null : overlapOf(rows.ids, rows.nControl, rows.clusters !== undefined),
  });
}

/**
 * Returns the code of one row of each cluster, arm and code, and -1 for all other rows: units were assigned to the arms, not
 * their rows. Without clusters, returns all codes.
 */
function oncePerCluster({ clusters }: ArmRows, arms: Uint8Array, codes: Int32Array): Int32Array {
  if (clusters === undefined) return codes;
  const seen = new Set<string>();
  return codes.map((code, row) => {
    const key = `${String(clusters.clusters[row])} ${String(arms[row])} ${String(code)}`;
    if (code < 0 || seen.has(key)) return -1;
    seen.add(key);
    return code;
  });
}

function mixOf({ codes, labels }: CategoricalColumn, arms: Uint8Array): SampleRatio {
  const counts = labels.map(() => [0, 0] as [number, number]);
  codes.forEach((code, row) => {
    if (code >= 0) (counts[code] as [number, number])[arms[row] as 0 | 1] += 1;
  });
  const { pValue } = chiSquareIndependence(crossCounts(arms, codes, 2, labels.length));
  const groups = counts.map(([control, treatment], index) =>
    Object.freeze({
      group: labels[index] as string,
      n: Object.freeze({ control, treatment }),
      treatmentShare: treatment / (control + treatment),
    }),
  );
  return { groups: Object.freeze(groups), pValue: numberOrNull(pValue) };
}

function overlapOf(
  ids: readonly (string | number | null)[],
  nControl: number,
  hasClusters: boolean,
): NonNullable<Checks['overlap']> {
  const seen = [new Set<string>(), new Set<string>()] as const;
  const repeated = [0, 0] as [number, number];
  ids.forEach((id, row) => {
    if (id === null) return;
    const arm = row < nControl ? 0 : 1;
    // Ids may be numbers in one arm's file and text in the other arm's file.
    const name = String(id);
    // Repeats are what clusters are for.
    if (seen[arm].has(name) && !hasClusters) repeated[arm] += 1;
    seen[arm].add(name);
  });
  const inBothArms = [...seen[0]].filter((id) => seen[1].has(id)).length;
  return Object.freeze({ inBothArms, repeated: perArm((arm) => repeated[ARMS.indexOf(arm) as 0 | 1]) });
}

/** Returns the warnings that you should read before the results. */
export function warningsOf(
  rows: ArmRows,
  checks: Checks,
  measured: readonly MeasuredRows[],
  comparisons: readonly ABComparison[],
): readonly string[] {
  return Object.freeze([
    ...assignmentWarnings(checks),
    ...rows.warnings,
    ...weightWarnings(rows),
    ...overlapWarnings(checks.overlap, rows.clusters !== undefined),
    ...measured.flatMap((one) => missingWarnings(rows, one)),
    ...comparisons.flatMap(groupWarnings),
  ]);
}

function assignmentWarnings({ sampleRatio, byAttribute }: Checks): string[] {
  const { treatmentShare, expected, pValue } = sampleRatio;
  const warnings: string[] = [];
  if (!(pValue >= BROKEN)) {
    warnings.push(
      `sample ratio mismatch: ${formatShare(treatmentShare)} of the rows are in the treatment arm, but ${formatShare(expected)} were expected (chi-square, ${pValueWords(pValue)}); find the cause before you rely on any comparison, or set treatmentShare if a different split was intended`,
    );
  }
  for (const { attribute, groups, pValue: p } of byAttribute) {
    if (p === null || p >= BROKEN) continue;
    const shares = groups.slice(0, 6).map(({ group, treatmentShare: share }) => `'${group}' ${formatShare(share)}`);
    warnings.push(
      `the assignment to arms differs by '${attributeText(attribute)}' (chi-square, ${pValueWords(p)}; in the treatment arm: ${shares.join(', ')}): the treatment depends on the group, which invalidates the comparison`,
    );
  }
  return warnings;
}

/** Warns if the weights of rows seem to follow from their decisions. */
function weightWarnings({ decisions, weights }: ArmRows): string[] {
  if (decisions === undefined || weights === undefined) return [];
  const sums: [positive: number, negative: number] = [0, 0];
  const rows: [positive: number, negative: number] = [0, 0];
  decisions.forEach((decision, row) => {
    const weight = weights[row] as number;
    if (Number.isNaN(decision) || Number.isNaN(weight)) return;
    const at = decision === 1 ? 0 : 1;
    sums[at] += weight;
    rows[at]++;
  });
  return unlikeWeightWarnings(sums, rows);
}

function overlapWarnings(overlap: Checks['overlap'], hasClusters: boolean): string[] {
  if (overlap === null) return [];
  const repeats = overlap.repeated.control + overlap.repeated.treatment;
  const warnings: string[] = [];
  // The covariances of clusters include units in both arms.
  if (overlap.inBothArms > 0 && !hasClusters) {
    warnings.push(
      `${String(overlap.inBothArms)} ids are in both arms: the arms are not independent, so the intervals are wrong`,
    );
  }
  if (repeats > 0) {
    warnings.push(
      `${String(repeats)} rows repeat an id of their arm: rows of one unit are not independent, so the intervals are too narrow`,
    );
  }
  return warnings;
}

/**
 * Warns if outcomes are missing more often in one arm than in the other. The remaining rows may then not be comparable.
 */
function missingWarnings(rows: ArmRows, { measure, faults: problems }: MeasuredRows): string[] {
  const missing = [0, 0] as [number, number];
  problems.forEach((problem, row) => {
    if (problem > 0) missing[row < rows.nControl ? 0 : 1] += 1;
  });
  const arms = Uint8Array.from(problems, (_, row) => Number(row >= rows.nControl));
  const lost = Uint8Array.from(problems, (problem) => Number(problem > 0));
  const { pValue } = chiSquareIndependence(crossCounts(arms, lost, 2, 2));
  if (!(pValue < BROKEN)) return [];
  const shares = missing.map((count, arm) =>
    formatShare(count / (arm === 0 ? rows.nControl : rows.nRows - rows.nControl)),
  );
  return [
    `values of ${measure.name} are missing in ${shares[0] ?? ''} of the control and ${shares[1] ?? ''} of the treatment rows (chi-square, ${pValueWords(pValue)}): the remaining rows may not be comparable`,
  ];
}

function groupWarnings({ attribute, measure, groups, kind }: ABComparison): string[] {
  const of = `${measure} by '${attributeText(attribute)}'`;
  const warnings = groups.flatMap(({ excluded: reason }) =>
    reason === null ? [] : [`not compared, ${of}: ${reason}`],
  );
  const isRough = (group: ABGroup, arm: Arm): boolean => {
    const rate = group[arm] ?? 0;
    return group.effective[arm] * Math.min(rate, 1 - rate) < FEW;
  };
  const rough = groups.filter((group) => group.excluded === null && ARMS.some((arm) => isRough(group, arm)));
  if (kind === 'mean' || rough.length === 0) return warnings;
  const names = rough.slice(0, 6).map(({ group }) => `'${group}'`);
  return [
    ...warnings,
    `${of}: fewer than ${String(FEW)} successes or failures of ${names.join(', ')} in an arm, so its p-values are rough`,
  ];
}
