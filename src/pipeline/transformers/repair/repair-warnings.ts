import type { CategoricalColumn } from '../../../table/index.ts';
import { countMissing, nameMissing } from '../missing-groups.ts';
import { nameGroups, nameSome } from '../name-some.ts';
import type { RepairMap } from './repair-map.ts';

/** What a fit has learned of one column. */
export interface LearnedFeature {
  readonly feature: string;
  /** None where the column is left as it is. */
  readonly groups: RepairMap[];
  /** Groups that pass unchanged. */
  readonly small: readonly string[];
}

/** Columns without effect, and small groups: together where they are small in the same columns. */
export function smallWarnings(learned: readonly LearnedFeature[], minGroupSize: number): string[] {
  const idle = learned.filter(({ groups }) => groups.length === 0).map(({ feature }) => feature);
  const columnsOf = new Map<string, string[]>();
  for (const { feature, groups, small } of learned) {
    if (groups.length > 0) for (const label of small) collect(columnsOf, label, feature);
  }
  const labelsOf = new Map<string, string[]>();
  for (const [label, columns] of columnsOf) collect(labelsOf, nameSome(columns), label);
  const least = String(minGroupSize);
  return [
    ...(idle.length > 0 ? [`unchanged: ${nameSome(idle)}, where no two groups have at least ${least} values`] : []),
    ...Array.from(
      labelsOf,
      ([columns, labels]) => `unchanged: ${nameGroups(labels)}, with fewer than ${least} values of ${columns}`,
    ),
  ];
}

function collect(into: Map<string, string[]>, key: string, value: string): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, [value]);
  else known.push(value);
}

/** Rows that cannot be repaired: of groups that the fit did not see, and of none. */
export function unrepairedNotes(
  groups: CategoricalColumn,
  seen: readonly string[],
  sensitive: readonly string[],
): string[] {
  const known = new Set(seen);
  const unseen = groups.labels.filter((label) => !known.has(label));
  const missing = countMissing(groups);
  return [
    ...(unseen.length > 0 ? [`unchanged: ${nameGroups(unseen)}, not among those fitted`] : []),
    ...(missing > 0 ? [`unchanged: ${nameMissing(missing, sensitive)}`] : []),
  ];
}
