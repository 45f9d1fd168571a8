/**
 * Measures how often the interval of a gap contains the truth if rows come in clusters, with and without `cluster`:
 *
 *     npm run study:clusters             # 4,000 data sets a line; prints a table, for docs/statistics.md
 *     npm run study:clusters -- --quick  # 400 data sets a line
 *
 * Options: --seed (2026). Exits with 1 if a line with at least 40 clusters per group covers equality outside 0.93 to 0.97.
 */
import { parseArgs } from 'node:util';

import { createRandom, type Random } from '../../src/internal/random.ts';
import { demographicParityDifference } from '../../src/metrics/index.ts';
import { createGammaSampler } from '../../src/stats/mean-family.ts';

/** How a line draws its data: clusters, their sizes, and the correlation of two rows of a cluster. */
export interface ClusterSetting {
  readonly what: string;
  readonly clustersPerGroup: number;
  /** Returns the number of rows of a cluster. */
  readonly sizeOf: (random: Random) => number;
  readonly correlation: number;
  /** The rate of each group. */
  readonly rate: number;
  /** Whether each cluster has rows of both groups. */
  readonly isCrossed: boolean;
}

const fixed = (size: number) => (): number => size;
/** Mean 10, from 1 to 60: a few clusters have most of the rows. */
const unequal = (random: Random): number => Math.min(60, 1 + Math.floor(-9.5 * Math.log(1 - random.next())));

/** The lines of the table. */
export const CLUSTER_SETTINGS: readonly ClusterSetting[] = [
  { what: '2 rows each', clustersPerGroup: 500, sizeOf: fixed(2), correlation: 0.9, rate: 0.3, isCrossed: false },
  { what: '10 rows each', clustersPerGroup: 100, sizeOf: fixed(10), correlation: 0.9, rate: 0.3, isCrossed: false },
  { what: '10 rows each', clustersPerGroup: 40, sizeOf: fixed(10), correlation: 0.3, rate: 0.5, isCrossed: false },
  { what: '50 rows each', clustersPerGroup: 40, sizeOf: fixed(50), correlation: 0.05, rate: 0.2, isCrossed: false },
  { what: '1 to 60 rows', clustersPerGroup: 60, sizeOf: unequal, correlation: 0.3, rate: 0.4, isCrossed: false },
  { what: '1 to 60 rows', clustersPerGroup: 200, sizeOf: unequal, correlation: 0.5, rate: 0.1, isCrossed: false },
  {
    what: '10 rows, both groups',
    clustersPerGroup: 100,
    sizeOf: fixed(10),
    correlation: 0.5,
    rate: 0.3,
    isCrossed: true,
  },
  { what: '1 to 60 rows, both groups', clustersPerGroup: 40, sizeOf: unequal, correlation: 0.5, rate: 0.4, isCrossed: true }, // prettier-ignore
  { what: '10 rows each', clustersPerGroup: 20, sizeOf: fixed(10), correlation: 0.5, rate: 0.3, isCrossed: false },
  { what: '1 to 60 rows', clustersPerGroup: 20, sizeOf: unequal, correlation: 0.5, rate: 0.3, isCrossed: false },
  { what: '10 rows each', clustersPerGroup: 10, sizeOf: fixed(10), correlation: 0.5, rate: 0.5, isCrossed: false },
];

/** The shares of data sets whose interval contains the true gap. */
export interface ClusterCoverage {
  readonly equal: number;
  readonly equalIndependent: number;
  readonly apart: number;
}

/** Draws data sets and counts the intervals that contain the truth, at equality and at a gap of 0.15. */
export function clusterCoverage(setting: ClusterSetting, repetitions: number, seed: number): ClusterCoverage {
  const random = createRandom(seed);
  const hits = { equal: 0, equalIndependent: 0, apart: 0 };
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const same = drawClusters(setting, 0, random);
    hits.equal += Number(lowEnd(same, true) === 0);
    hits.equalIndependent += Number(lowEnd(same, false) === 0);
    const [low, high] = intervalOf(drawClusters(setting, GAP, random), true);
    hits.apart += Number(low <= GAP && GAP <= high);
  }
  return {
    equal: hits.equal / repetitions,
    equalIndependent: hits.equalIndependent / repetitions,
    apart: hits.apart / repetitions,
  };
}

const GAP = 0.15;

interface ClusteredRows {
  readonly yPred: readonly number[];
  readonly groups: readonly string[];
  readonly clusters: readonly number[];
}

/** Draws the rate of each cluster from a beta distribution with the correlation, and its rows with this rate. */
function drawClusters(setting: ClusterSetting, gap: number, random: Random): ClusteredRows {
  const { clustersPerGroup, sizeOf, correlation, rate, isCrossed } = setting;
  const rows = { yPred: [] as number[], groups: [] as string[], clusters: [] as number[] };
  const total = 1 / correlation - 1;
  const samplers = [rate, rate + gap].map((mean) =>
    [mean, 1 - mean].map((share) => createGammaSampler(share * total, random)),
  );
  const drawRate = (group: number): number => {
    const [yes = 0, no = 0] = samplers[group]?.map((draw) => draw()) ?? [];
    return yes + no === 0 ? Number(random.next() < rate) : yes / (yes + no);
  };
  const count = isCrossed ? clustersPerGroup : 2 * clustersPerGroup;
  for (let cluster = 0; cluster < count; cluster++) {
    const size = sizeOf(random);
    // A cluster of both groups has one deviation: its rate in the second group is higher by the gap, on average.
    const common = drawRate(isCrossed ? 0 : cluster % 2);
    for (let row = 0; row < size; row++) {
      const group = isCrossed ? Number(random.next() < 0.5) : cluster % 2;
      const isRaised = isCrossed && group === 1 && random.next() < gap / (1 - rate);
      rows.yPred.push(Number(isRaised || random.next() < common));
      rows.groups.push(group === 0 ? 'a' : 'b');
      rows.clusters.push(cluster);
    }
  }
  return rows;
}

function intervalOf({ yPred, groups, clusters }: ClusteredRows, isClustered: boolean): readonly [number, number] {
  const cluster = isClustered ? clusters : undefined;
  const { ci } = demographicParityDifference(yPred, groups, { cluster, minGroupSize: 1, ciSamples: 400 });
  if (ci === null) throw new Error('a data set has no interval');
  return ci;
}

function lowEnd(rows: ClusteredRows, isClustered: boolean): number {
  return intervalOf(rows, isClustered)[0];
}

if (import.meta.url === `file://${process.argv[1] ?? ''}`) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, seed: { type: 'string', default: '2026' } },
  });
  const repetitions = values.quick ? 400 : 4000;
  console.log(
    '| clusters per group | rows of a cluster | correlation | rate | equal rates | as independent rows | gap of 0.15 |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const [index, setting] of CLUSTER_SETTINGS.entries()) {
    const { equal, equalIndependent, apart } = clusterCoverage(setting, repetitions, Number(values.seed) + index);
    const cells = [setting.clustersPerGroup, setting.what, setting.correlation, setting.rate, equal.toFixed(3), equalIndependent.toFixed(3), apart.toFixed(3)]; // prettier-ignore
    console.log(`| ${cells.join(' | ')} |`);
    if (setting.clustersPerGroup >= 40 && (equal < 0.93 || equal > 0.97)) process.exitCode = 1;
  }
}
