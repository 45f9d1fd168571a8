import { occupied } from '../../stats/association/pearson-statistic.ts';
import { cramersVOf } from '../../stats/association/cramers-v.ts';
import { type CrossCounts, crossCountsOf } from '../../stats/association/cross-counts.ts';
import { etaSquaredOf, type VarianceParts } from '../../stats/association/variance-parts.ts';
import { chiSquareIndependence, type ChiSquareTest, MIN_EXPECTED_COUNT } from '../../stats/tests/chi-square-test.ts';
import { oneWayAnova, type TestResult } from '../../stats/tests/one-way-anova.ts';
import type { AssociationMeasure } from '../association.ts';
import { type Contrast, meanContrast, shareContrast } from './contrast.ts';
import type { AttributeGroups, NumberSpread, Spread, TextSpread } from './detector-data.ts';

/** The relation between a column and the groups of an attribute. */
export interface Relation {
  readonly column: string;
  /** The number of rows with a value and a group. */
  readonly n: number;
  readonly test: 'chi_square' | 'anova';
  readonly result: TestResult;
  readonly measure: AssociationMeasure;
  /** The association, from 0 to 1; NaN if undefined. */
  readonly association: number;
  /** The two groups that differ most; null if fewer than two groups have at least 30 rows. */
  readonly contrast: Contrast | null;
  /** The reason why the test is undefined; null if it is defined. */
  readonly reason: string | null;
  /** Notes about the test. */
  readonly notes: readonly string[];
  /** Notes about the association. */
  readonly associationNotes: readonly string[];
  /** How missing values are related to the groups; null if either no values or all values are missing. */
  readonly missing: MissingValues | null;
}

/** The relation between missing values and the groups. */
interface MissingValues {
  /** The number of rows with a group but without a value. */
  readonly n: number;
  readonly result: ChiSquareTest;
  readonly association: number;
  readonly contrast: Contrast | null;
}

/** If chance alone would give at least this eta squared, a note is added. */
const CHANCE_WORTH_A_NOTE = 0.05;

/** Computes the tests for one column and one attribute. */
export function relate(name: string, spread: Spread, attribute: AttributeGroups): Relation {
  const own = spread.kind === 'numbers' ? relateNumbers(spread, attribute) : relateText(spread, attribute);
  return { column: name, ...own, missing: relateMissing(spread, attribute) };
}

type OwnRelation = Omit<Relation, 'column' | 'missing'>;

function relateText({ table, levels }: TextSpread, { labels }: AttributeGroups): OwnRelation {
  const result = chiSquareIndependence(table);
  return {
    n: table.n,
    test: 'chi_square',
    result,
    measure: 'cramers_v',
    association: cramersVOf(table),
    contrast: shareContrast(table, labels, levels),
    reason: tableReason(table),
    notes: expectedNotes(result),
    associationNotes: [],
  };
}

function relateNumbers({ parts, means, present }: NumberSpread, { labels }: AttributeGroups): OwnRelation {
  const result = oneWayAnova(parts);
  return {
    n: parts.n,
    test: 'anova',
    result,
    measure: 'eta_squared',
    association: etaSquaredOf(parts),
    contrast: meanContrast(labels, { n: present, means }),
    reason: numbersReason(parts),
    notes: result.statistic === Infinity ? ['no group has any spread, so F is infinite'] : [],
    associationNotes: chanceNotes(parts),
  };
}

/** Returns a note if there are many groups, because eta squared is not corrected for chance. */
function chanceNotes({ groups, n }: VarianceParts): string[] {
  const chance = (groups - 1) / (n - 1);
  if (groups < 2 || chance < CHANCE_WORTH_A_NOTE) return [];
  const sizes = `${String(groups)} groups in ${String(n)} rows`;
  return [`by chance alone, eta squared would be about ${chance.toFixed(2)}: ${sizes}`];
}

function relateMissing({ present }: Spread, { labels, counts }: AttributeGroups): MissingValues | null {
  const cells = Array.from(present, (n, group) => [n, (counts[group] as number) - n]).flat();
  const table = crossCountsOf(cells, counts.length, 2);
  const [known = 0, missing = 0] = table.columnTotals;
  if (known === 0 || missing === 0) return null;
  const contrast = shareContrast(table, labels, ['present', 'missing'], 1);
  return { n: missing, result: chiSquareIndependence(table), association: cramersVOf(table), contrast };
}

function tableReason({ n, rowTotals, columnTotals }: CrossCounts): string | null {
  if (n === 0) return 'no row has both a value and a group';
  if (occupied(rowTotals) < 2) return 'all its values are in one group';
  return occupied(columnTotals) < 2 ? 'all rows with a group have the same value' : null;
}

function numbersReason({ n, groups, between, within }: VarianceParts): string | null {
  if (n === 0) return 'no row has both a value and a group';
  if (groups < 2) return 'all its values are in one group';
  if (between + within === 0) return 'all rows with a group have the same value';
  return n > groups ? null : 'no group has more than one value';
}

/** Returns a note if the chi-square approximation is inaccurate. */
export function expectedNotes({ minExpected }: Pick<ChiSquareTest, 'minExpected'>): string[] {
  if (!(minExpected < MIN_EXPECTED_COUNT)) return [];
  return [
    `the p-value is rough: an expected count is ${minExpected.toPrecision(2)}, below ${String(MIN_EXPECTED_COUNT)}`,
  ];
}

/** An attribute, and its relations to all columns that are tested. */
export interface AnalysedAttribute extends AttributeGroups {
  /** Expected proportions by group; undefined if the configuration has no benchmark for the attribute. */
  readonly benchmark: ReadonlyMap<string, number> | undefined;
  /** One relation per column, in the order of the table. */
  readonly relations: readonly Relation[];
}
