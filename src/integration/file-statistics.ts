import { DataValidationError } from '../exceptions/index.ts';
import { loadData } from '../io/index.ts';
import { type ControlCell, crossControl } from '../metrics/frame/index.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
} from '../metrics/reduce/reduce-source.ts';
import { cellsOf } from '../metrics/analyzer/sql-stats-source.ts';
import type { ValidateRequest } from '../schemas/validate.ts';
import type { Column, Table } from '../table/index.ts';

/** Scores from here are positive decisions, unless said otherwise. */
const SCORE_THRESHOLD = 0.5;

/** Statistics of one attribute; with a control feature its groups are cells of levels and groups. */
export interface AttributeStatistics {
  readonly stats: GroupStats;
  readonly cells: readonly ControlCell[] | undefined;
}

/**
 * Statistics of a file for every attribute asked for: by one SQL scan that
 * never loads the rows, or through another backend, which has to.
 */
export async function fileStatistics(
  path: string,
  kind: GroupStats['kind'],
  request: ValidateRequest,
): Promise<readonly AttributeStatistics[]> {
  return request.backend === 'duckdb' ? scanFile(path, kind, request) : loadAndCount(path, kind, request);
}

async function scanFile(
  path: string,
  kind: GroupStats['kind'],
  request: ValidateRequest,
): Promise<AttributeStatistics[]> {
  const { control = [], sampleWeight, nanPolicy, positiveLabel, yTrue } = request;
  const attributes = request.attributes.map((attribute) => [...control, ...attribute]);
  const common = { attributes, sampleWeight, nanPolicy, positiveLabel };
  const reductions = await {
    classification: () => reduceClassificationSource(path, { ...common, ...decisionColumns(request), yTrue }),
    regression: () => reduceRegressionSource(path, { ...common, yPred: request.yPred ?? '', yTrue }),
    scores: () => reduceScoreSource(path, { ...common, yScore: request.score ?? '', yTrue: yTrue ?? '' }),
  }[kind]();
  return reductions.map(({ stats, parts }) => ({
    stats,
    cells: control.length === 0 ? undefined : cellsOf(parts, control.length),
  }));
}

function decisionColumns({ yPred, score, scoreThreshold }: ValidateRequest): {
  readonly yPred: string;
  readonly scoreThreshold?: number;
} {
  return score === undefined
    ? { yPred: yPred ?? '' }
    : { yPred: score, scoreThreshold: scoreThreshold ?? SCORE_THRESHOLD };
}

async function loadAndCount(
  path: string,
  kind: GroupStats['kind'],
  request: ValidateRequest,
): Promise<AttributeStatistics[]> {
  const { attributes, control = [], yPred, score, yTrue, sampleWeight } = request;
  const names = [...attributes.flat(), ...control, yPred, score, yTrue, sampleWeight].filter(
    (name) => name !== undefined,
  );
  const [{ metricBackend }, { rowsSource }] = await Promise.all([
    import('../metrics/backends/metric-backend.ts'),
    import('../metrics/analyzer/rows-source.ts'),
  ]);
  const table = await loadData(path, { columns: [...new Set(names)] });
  const columnsOf = (list: readonly string[]): Record<string, Column> =>
    Object.fromEntries(list.map((name) => [name, table.column(name)]));
  const column = (name: string | undefined): Column | undefined =>
    name === undefined ? undefined : table.column(name);
  const counted = attributes.map(async (attribute): Promise<AttributeStatistics> => {
    const sensitive = columnsOf(attribute);
    const crossed = control.length === 0 ? undefined : crossControl(sensitive, columnsOf(control), request.nanPolicy);
    const source = rowsSource(metricBackend(request.backend), {
      sensitive: crossed?.column ?? sensitive,
      yPred: score === undefined || kind !== 'classification' ? column(yPred) : decide(table, score, request),
      yScore: column(score),
      yTrue: column(yTrue),
      sampleWeight: column(sampleWeight),
      positiveLabel: score === undefined ? request.positiveLabel : undefined,
      nanPolicy: request.nanPolicy,
    });
    const stats = await source.statistics({ kind, metric: 'validate', needsTruth: yTrue !== undefined });
    return { stats, cells: crossed?.cells };
  });
  return Promise.all(counted);
}

/** Scores as decisions; a missing score stays missing. */
function decide(table: Table, score: string, request: ValidateRequest): Float64Array {
  const threshold = request.scoreThreshold ?? SCORE_THRESHOLD;
  const { values } = table.numeric(score);
  const infinite = values.findIndex((value) => Math.abs(value) === Infinity);
  if (infinite >= 0) {
    throw new DataValidationError(
      `Column '${score}' should hold finite numbers, but row ${String(infinite + 1)} holds ${String(values[infinite])}.`,
      { context: { column: score, row: infinite + 1 }, suggestion: 'Mend or empty that value.' },
    );
  }
  return values.map((value) => (Number.isNaN(value) ? NaN : Number(value >= threshold)));
}
