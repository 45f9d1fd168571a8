import { DataValidationError } from '../exceptions/index.ts';
import { rowsSource } from '../metrics/analyzer/rows-source.ts';
import { metricBackend } from '../metrics/backends/metric-backend.ts';
import { crossControl } from '../metrics/frame/index.ts';
import { groupReadings, outcomeReadings } from '../metrics/reduce/row-readings.ts';
import type { MetricRows } from '../metrics/row-options.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import { asNumbersWithout, type Column, missingOutcomes, type Table } from '../table/index.ts';
import {
  type AttributeStatistics,
  binaryTruth,
  decideScores,
  type NeededStatistics,
  ofClasses,
  type OutcomeClasses,
} from './measure-attributes.ts';

/** Computes the statistics of the rows of a table for every requested attribute. */
export async function countTable(
  table: Table,
  { kind, needsTruth }: NeededStatistics,
  request: ValidateRequest,
  classes?: OutcomeClasses,
): Promise<AttributeStatistics[]> {
  const { attributes, control = [] } = request;
  const columns = rowColumns(table, kind, request);
  const labels = { positiveLabel: request.positiveLabel, yTruePositiveLabel: request.yTruePositiveLabel };
  const { nanPolicy, naValues } = request;
  const count = (sensitive: MetricRows['sensitive'], className?: string): Promise<GroupStats> =>
    rowsSource(metricBackend(request.backend), { ...columns, sensitive, nanPolicy, naValues }).statistics({
      kind,
      metric: 'validate',
      needsTruth,
      className,
    });
  const outcome = outcomeReadings(request.score !== undefined && kind === 'classification' ? 'scores' : kind, {
    ...columns,
    ...labels,
    average: request.average,
    yTrue: needsTruth && request.yTrue !== undefined ? table.column(request.yTrue) : undefined,
    naValues,
  });
  const counted = attributes.map(async (attribute): Promise<AttributeStatistics> => {
    const sensitive = table.select(attribute);
    const readings = [...outcome, ...groupReadings(table.select([...attribute, ...control]), naValues)];
    if (classes !== undefined) {
      return ofClasses(classes, await Promise.all(classes.all.map((name) => count(sensitive, name))), readings);
    }
    const stats = { ...(await count(sensitive)), readings };
    if (control.length === 0) return { stats, crossed: undefined };
    const { column, cells } = crossControl(sensitive, table.select(control), nanPolicy, naValues);
    return { stats, crossed: { stats: await count(column), cells } };
  });
  return Promise.all(counted);
}

/** Returns the columns of the rows. If scores are turned into decisions, decisions and truth are 0 and 1. */
function rowColumns(table: Table, kind: GroupStats['kind'], request: ValidateRequest): Omit<MetricRows, 'sensitive'> {
  const { score, positiveLabel, yTruePositiveLabel } = request;
  const column = (name: string | undefined): Column | undefined =>
    name === undefined ? undefined : table.column(name);
  const common = {
    yScore: column(score),
    sampleWeight: column(request.sampleWeight),
    cluster: column(request.cluster),
    strata: column(request.strata),
  };
  if (score === undefined || kind !== 'classification') {
    return { ...common, yPred: column(request.yPred), yTrue: column(request.yTrue), positiveLabel, yTruePositiveLabel };
  }
  const { yTrue } = request;
  const truth = yTrue === undefined ? undefined : binaryTruth(table.column(yTrue), request);
  return { ...common, yPred: decide(table, score, request), yTrue: truth };
}

/** Turns scores into decisions; a missing score stays missing. */
function decide(table: Table, score: string, request: ValidateRequest): Float64Array {
  return decideScores(scoresOf(table, score, request), request.scoreThreshold);
}

/** Returns the scores of a column; NaN if a score is missing. */
export function scoresOf(table: Table, score: string, request: ValidateRequest): Float64Array {
  const scores = asNumbersWithout(table.column(score), missingOutcomes(request.naValues));
  const { values } = scores.kind === 'numeric' ? scores : table.numeric(score);
  const infinite = values.findIndex((value) => Math.abs(value) === Infinity);
  if (infinite >= 0) {
    throw new DataValidationError(
      `Column '${score}' should hold finite numbers, but row ${String(infinite + 1)} holds ${String(values[infinite])}.`,
      {
        code: 'invalid-value',
        context: { column: score, row: infinite + 1 },
        suggestion: 'Correct that value or leave it empty.',
      },
    );
  }
  return values;
}
