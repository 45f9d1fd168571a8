import type { OptionNames } from '../../internal/arguments.ts';
import { joinLabels, missingOutcomes } from '../../table/index.ts';
import type { ControlCell } from '../frame/cross-control.ts';
import { assertClasses, macroWithPositiveLabel, missingColumn } from '../metric-rows.ts';
import {
  type CountableSource,
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
  sourceLabels,
} from '../reduce/reduce-source.ts';
import type { RowOptions } from '../row-options.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { reduceOnce, type StatsRequest, type StatsSource } from './stats-source.ts';

/** The columns of a data frame, file or query that a {@link BoundAnalyzer} reads. */
export interface BoundColumns extends Omit<RowOptions, 'average' | 'sampleWeight' | 'cluster' | 'strata'> {
  /** The column of decisions or predicted numbers. */
  readonly yPredCol?: string | undefined;
  /** The sensitive column, or several columns whose combinations are the groups. */
  readonly sensitiveCol: string | readonly string[];
  readonly yTrueCol?: string | undefined;
  /** The column of scores, for calibration and ROC AUC. */
  readonly yScoreCol?: string | undefined;
  readonly sampleWeightCol?: string | undefined;
  /** The column of clusters of dependent rows, such as persons. See {@link RowOptions.cluster}. */
  readonly clusterCol?: string | undefined;
  /** The column of strata of a survey. See {@link RowOptions.strata}. */
  readonly strataCol?: string | undefined;
}

/** Lists the options of {@link BoundColumns}. */
export const BOUND_COLUMNS_NAMES: OptionNames<BoundColumns> = {
  yPredCol: true,
  sensitiveCol: true,
  yTrueCol: true,
  yScoreCol: true,
  sampleWeightCol: true,
  clusterCol: true,
  strataCol: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  nanPolicy: true,
  naValues: true,
};

/**
 * Returns a source that computes the statistics of a file or query. SQL goes through the rows once for each kind of
 * statistics.
 */
export function sqlStatsSource(source: CountableSource, columns: BoundColumns): StatsSource<readonly string[]> {
  const sensitive = [columns.sensitiveCol].flat();
  return {
    statistics: reduceOnce(async (request) => (await reduce(source, columns, sensitive, request)).stats),
    async crossed(request, control) {
      const { stats, parts } = await reduce(source, columns, [...control, ...sensitive], request);
      return { stats, cells: cellsOf(parts, control.length) };
    },
    async classNames(needsTruth) {
      if (columns.positiveLabel !== undefined || columns.yTruePositiveLabel !== undefined)
        throw macroWithPositiveLabel();
      const names = [needsTruth ? columns.yTrueCol : undefined, columns.yPredCol].filter((name) => name !== undefined);
      const missing = missingOutcomes(columns.naValues);
      return assertClasses((await sourceLabels(source, names)).filter((label) => !missing.has(label)));
    },
  };
}

async function reduce(
  source: CountableSource,
  columns: BoundColumns,
  attribute: readonly string[],
  { kind, metric, needsTruth, className }: StatsRequest,
): Promise<{ readonly stats: GroupStats; readonly parts: readonly (readonly string[])[] }> {
  const common = {
    attributes: [attribute],
    sampleWeight: columns.sampleWeightCol,
    cluster: columns.clusterCol,
    strata: columns.strataCol,
    nanPolicy: columns.nanPolicy ?? 'exclude',
    naValues: columns.naValues,
    positiveLabel: className ?? columns.positiveLabel,
    yTruePositiveLabel: className === undefined ? columns.yTruePositiveLabel : undefined,
    isOneOfMany: className !== undefined,
  } as const;
  const needed = (name: string | undefined, what: string, option: string): string => {
    if (name === undefined) throw missingColumn(metric, what, option);
    return name;
  };
  const yTrue = needsTruth ? needed(columns.yTrueCol, 'true labels', 'yTrueCol') : undefined;
  const [reduction] = await {
    classification: () =>
      reduceClassificationSource(source, {
        ...common,
        yPred: needed(columns.yPredCol, 'predictions', 'yPredCol'),
        yTrue,
      }),
    regression: () =>
      reduceRegressionSource(source, { ...common, yPred: needed(columns.yPredCol, 'predictions', 'yPredCol'), yTrue }),
    scores: () =>
      reduceScoreSource(source, {
        ...common,
        yScore: needed(columns.yScoreCol, 'scores', 'yScoreCol'),
        yTrue: needed(yTrue, 'true labels', 'yTrueCol'),
      }),
  }[kind]();
  return reduction as NonNullable<typeof reduction>;
}

/**
 * Returns, for each combination of values of crossed columns, the level of the control feature and the group. In a
 * combination, the values of the control feature come before the values of the sensitive attribute.
 */
export function cellsOf(parts: readonly (readonly string[])[], controls: number): ControlCell[] {
  const levels = joinLabels(parts.map((part) => part.slice(0, controls)));
  const groups = joinLabels(parts.map((part) => part.slice(controls)));
  return parts.map((_, cell) => ({ level: levels[cell] as string, group: groups[cell] as string }));
}
