import { capital, formatCount, formatShare, formatStatistic, pValueWords } from '../../internal/format.ts';
import { chiSquareGoodnessOfFit } from '../../stats/tests/chi-square-test.ts';
import { nameGroups } from '../transformers/read-columns.ts';
import { type Detector, judge, type TestFinding } from './detector.ts';
import { type AnalysedAttribute, expectedNotes } from './relation.ts';
import { type ReportTable, reportTable } from './report-numbers.ts';

/** A note is added if the sum of a benchmark's proportions differs from 1 by more than this value. */
const ROUNDED_SUM = 0.01;

/** Shares that differ by less than this value are considered equal. */
const TIE = 1e-12;

/** The observed and the expected share of a group. */
export interface GroupRepresentation {
  readonly group: string;
  readonly n: number;
  /** The group's share of the rows that have a group. */
  readonly share: number;
  /** The group's share in the benchmark, normalised to a sum of 1; null if the benchmark does not name the group. */
  readonly benchmarkShare: number | null;
}

/**
 * The representation of an attribute's groups. If there is a benchmark, the shares are compared with it by Pearson's
 * chi-square test of fit.
 */
export interface RepresentationFinding extends TestFinding {
  /** The number of rows that have a group. */
  readonly n: number;
  /** The number of rows without a group. These rows are excluded. */
  readonly nMissing: number;
  readonly groups: readonly GroupRepresentation[];
  /** The reason why there is no test; null if there is a test. */
  readonly reason: string | null;
}

/**
 * Compares the shares of groups with a benchmark, by Pearson's chi-square test of fit. P-values are adjusted over all
 * attributes together, because each attribute has only one test.
 */
export const representationDetector: Detector<RepresentationFinding> = {
  name: 'representation',

  detect(attribute, { alpha }) {
    const groups = representationOf(attribute);
    const reason = untestable(attribute, groups);
    const base = { attribute: attribute.name, n: attribute.n, nMissing: attribute.nMissing, groups };
    const missing = missingNotes(attribute);
    if (reason !== null) return [{ ...base, ...NO_TEST, reason, notes: missing }];
    const test = chiSquareGoodnessOfFit(
      groups.map(({ n }) => n),
      groups.map(({ benchmarkShare }) => benchmarkShare ?? NaN),
    );
    const { statistic, degrees, pValue } = test;
    const notes = [...expectedNotes(test), ...benchmarkNotes(attribute, groups), ...missing];
    return judge([{ ...base, statistic, degrees, pValue, adjustedPValue: NaN, flagged: false, reason, notes }], alpha);
  },

  adjust(findings, { alpha }) {
    return judge(findings, alpha);
  },

  summarise(findings) {
    return findings.flatMap((finding) => {
      if (finding.reason !== null && finding.groups.some(({ benchmarkShare }) => benchmarkShare !== null)) {
        return [{ severity: 1, text: `${finding.attribute} was not compared with its benchmark: ${finding.reason}.` }];
      }
      if (!finding.flagged) return [];
      const { group, share, benchmarkShare } = farthest(finding.groups);
      const expected = benchmarkShare ?? NaN;
      const text = `The shares of the groups of ${finding.attribute} differ from the benchmark (${pValueWords(finding.adjustedPValue)}); the farthest is '${group}', with ${formatShare(share)} of rows against ${formatShare(expected)}.`;
      return [{ severity: Math.abs(share - expected), text }];
    });
  },

  section(findings) {
    return {
      title: 'Representation',
      intro:
        "The share of each group. Shares are compared with benchmarks, if there are any, by Pearson's chi-square test of fit, with p-values adjusted over all attributes by Benjamini and Hochberg.",
      tables: findings.map(tableOf),
    };
  },
};

const NO_TEST = { statistic: NaN, degrees: [], pValue: NaN, adjustedPValue: NaN, flagged: false } as const;

/** Returns the groups that occur in the data, and the groups that occur only in the benchmark. */
function representationOf({ labels, counts, n, benchmark }: AnalysedAttribute): GroupRepresentation[] {
  const total = sumOf(benchmark);
  const shareOf = (group: string): number | null => {
    const share = benchmark?.get(group);
    return share === undefined ? null : share / total;
  };
  const occurring = labels.flatMap((group, code) => {
    const rows = counts[code] as number;
    return rows > 0 ? [{ group, n: rows, share: rows / n, benchmarkShare: shareOf(group) }] : [];
  });
  const seen = new Set(occurring.map(({ group }) => group));
  const absent = [...(benchmark?.keys() ?? [])].filter((group) => !seen.has(group));
  return [
    ...occurring,
    ...absent.map((group) => ({ group, n: 0, share: n === 0 ? NaN : 0, benchmarkShare: shareOf(group) })),
  ];
}

/**
 * Returns the sum of the proportions of a benchmark. If the sum differs from 1 only because of rounding, 1 is returned,
 * so that normalisation does not change the shares.
 */
function sumOf(benchmark: ReadonlyMap<string, number> | undefined): number {
  const sum = [...(benchmark?.values() ?? [])].reduce((total, share) => total + share, 0);
  return Math.abs(sum - 1) < TIE ? 1 : sum;
}

function untestable({ n, benchmark }: AnalysedAttribute, groups: readonly GroupRepresentation[]): string | null {
  if (n === 0) return 'no row has a group';
  if (benchmark === undefined) return 'there is no benchmark';
  const unnamed = groups.filter(({ benchmarkShare }) => benchmarkShare === null).map(({ group }) => group);
  if (unnamed.length > 0) return `the benchmark has no share for ${nameGroups(unnamed)}`;
  const possible = groups.filter((group) => group.n > 0 || (group.benchmarkShare ?? 0) > 0);
  return possible.length < 2 ? 'there is only one group' : null;
}

function missingNotes({ n, nMissing }: AnalysedAttribute): string[] {
  return nMissing === 0
    ? []
    : [`${formatCount(nMissing)} of ${formatCount(n + nMissing)} rows have no group and are excluded`];
}

function benchmarkNotes({ benchmark }: AnalysedAttribute, groups: readonly GroupRepresentation[]): string[] {
  const total = sumOf(benchmark);
  const absent = groups.filter(({ n, benchmarkShare }) => n === 0 && benchmarkShare !== 0).map(({ group }) => group);
  const impossible = groups.filter(({ n, benchmarkShare }) => n > 0 && benchmarkShare === 0).map(({ group }) => group);
  return [
    ...(absent.length > 0 ? [`no row is in ${nameGroups(absent)} of the benchmark`] : []),
    ...(impossible.length > 0 ? [`rows are in ${nameGroups(impossible)}, for which the benchmark is 0`] : []),
    ...(Math.abs(total - 1) > ROUNDED_SUM
      ? [`the benchmark sums to ${formatStatistic(total)} and is rescaled to 1`]
      : []),
  ];
}

function farthest(groups: readonly GroupRepresentation[]): GroupRepresentation {
  const distance = ({ share, benchmarkShare }: GroupRepresentation): number =>
    Math.abs(share - (benchmarkShare ?? NaN));
  const most = Math.max(...groups.map(distance));
  // Two groups are always equally far from the benchmark. The group with too few rows is named.
  const worst = groups.filter((group) => distance(group) > most - TIE);
  return worst.reduce((min, group) => (group.share < min.share ? group : min));
}

function tableOf(finding: RepresentationFinding): ReportTable {
  const { attribute, groups, statistic, pValue, adjustedPValue, degrees, reason, notes } = finding;
  const hasBenchmark = groups.some(({ benchmarkShare }) => benchmarkShare !== null);
  const rows = groups.map(({ group, n, share, benchmarkShare }) => [
    group,
    formatCount(n),
    formatShare(share),
    ...(hasBenchmark ? [benchmarkShare === null ? 'none' : formatShare(benchmarkShare)] : []),
  ]);
  const verdict =
    reason === null
      ? `chi-square ${formatStatistic(statistic)} on ${degrees.join(', ')} ${degrees[0] === 1 ? 'degree' : 'degrees'} of freedom, ${pValueWords(pValue)}, adjusted ${pValueWords(adjustedPValue)}`
      : `no test: ${reason}`;
  const header = ['group', 'rows', 'share', ...(hasBenchmark ? ['benchmark'] : [])];
  return reportTable(
    attribute,
    header,
    rows,
    [verdict, ...notes].map((note) => `${capital(note)}.`),
  );
}
