import {
  computeMetric,
  type MeasureName,
  metricFrame,
  type MetricFrame,
  type MetricRows,
} from '../../src/metrics/index.ts';
import type { Frame } from './frames.ts';
import type { FrameValues, Gap, LevelValues, MeasureValues, Rejection } from './values.ts';

const OPTIONS = { compat: 'fairlearn', withCi: false, withEffectSize: false } as const;

/** The measures whose name in this package is not the name in fairlearn and scikit-learn. */
const OWN_NAMES: Readonly<Record<string, MeasureName>> = {
  accuracy_score: 'accuracy',
  zero_one_loss: 'error_rate',
  balanced_accuracy_score: 'balanced_accuracy',
  precision_score: 'precision',
  recall_score: 'true_positive_rate',
  f1_score: 'f1',
  r2_score: 'r2',
  roc_auc_score: 'roc_auc',
};

function columnsOf({ kind, yTrue, yPred, sensitive, weights, positive }: Frame): MetricRows {
  const [feature = []] = Object.values(sensitive);
  return {
    yTrue,
    ...(kind === 'scores' ? { yScore: yPred } : { yPred }),
    sensitive: Object.keys(sensitive).length === 1 ? feature : sensitive,
    sampleWeight: weights ?? undefined,
    positiveLabel: positive === null ? undefined : String(positive),
  };
}

/** Computes a frame's measures and metrics with this package. */
export function ownValues(frame: Frame): FrameValues {
  const rows = columnsOf(frame);
  const control = Object.keys(frame.control).length === 0 ? undefined : frame.control;
  const table = valueOrError(() => metricFrame({ ...rows, control, metrics: frame.measures }, OPTIONS));
  const measures = frame.measures.map((name): [string, MeasureValues | Rejection] => {
    const own = OWN_NAMES[name] ?? (name as MeasureName);
    if ('error' in table) return [name, table];
    const levels = control === undefined ? [['', table] as const] : Object.entries(table.byLevel);
    return [name, new Map(levels.map(([level, part]) => [level, levelValues(part, own)]))];
  });
  const metrics = frame.metrics.map(({ metric, method, agg, classes }) => {
    const average = classes === null ? {} : { average: 'macro' as const, positiveLabel: undefined };
    return valueOrError(
      () => computeMetric(metric, { ...rows, ...average }, { ...OPTIONS, method, agg: agg ?? undefined }).value,
    );
  });
  return { measures: new Map(measures), metrics };
}

function levelValues(frame: MetricFrame, name: MeasureName): LevelValues {
  const gaps: Record<Gap, number> = {
    'difference between_groups': frame.difference('between_groups')[name] ?? NaN,
    'difference to_overall': frame.difference('to_overall')[name] ?? NaN,
    'ratio between_groups': frame.ratio('between_groups')[name] ?? NaN,
    'ratio to_overall': frame.ratio('to_overall')[name] ?? NaN,
    group_min: frame.groupMin()[name] ?? NaN,
    group_max: frame.groupMax()[name] ?? NaN,
  };
  const groups = Object.entries(frame.byGroup).map(([label, values]) => [label, values[name] ?? NaN] as const);
  return { overall: frame.overall[name] ?? NaN, groups: new Map(groups), gaps };
}

function valueOrError<Value>(compute: () => Value): Value | Rejection {
  try {
    return compute();
  } catch (error) {
    return { error: (error as Error).message };
  }
}
