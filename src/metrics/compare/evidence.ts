import { measureDefinition } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { ClassStats } from './class-stats.ts';
import { measureOfCompat, overallOfCompat } from './compat.ts';
import { canPermute, permutationOfGap } from './gap-evidence.ts';
import { compareMeasures, type ComparedMeasure } from './gap.ts';
import { resampledInterval } from './resample-cells.ts';
import { type SimultaneousInterval, simultaneousInterval } from './simultaneous-interval.ts';

/** What speaks for and against the value. */
export interface Evidence {
  readonly ci: readonly [number, number] | null;
  readonly ciMethod: string | null;
  readonly pValue: number | null;
  readonly pValueMethod: string | null;
  readonly isRandom: boolean;
  readonly warnings: readonly string[];
}

/** Of a metric without a value nothing can be said. */
export const NO_EVIDENCE: Evidence = {
  ci: null,
  ciMethod: null,
  pValue: null,
  pValueMethod: null,
  isRandom: false,
  warnings: [],
};

/** The interval and the p-value of a metric, as far as they were asked for and can be had. */
export function gatherEvidence(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Evidence {
  const byPermutation = options.withPValue && classes.length === 1 && canPermute(compared, options);
  const needsMaxT = (options.withCi && options.ciMethod === 'simultaneous') || (options.withPValue && !byPermutation);
  const simultaneous = needsMaxT ? simultaneousInterval(compared, definition, options) : undefined;
  const interval = options.withCi ? intervalOf(classes, compared, simultaneous, definition, options) : undefined;
  const maxT = typeof simultaneous === 'object' ? simultaneous.pValue : null;
  const pValue = byPermutation ? permutationOfGap(compared, definition, options) : maxT;
  const isDrawn = typeof simultaneous === 'object' && !isBound(simultaneous.method);
  const hasPValue = options.withPValue && pValue !== null;
  const withoutPValue = options.withPValue && !hasPValue;
  return {
    ci: interval?.ci ?? null,
    ciMethod: interval?.method ?? null,
    pValue: hasPValue ? pValue : null,
    pValueMethod: hasPValue ? (byPermutation ? 'permutation' : isDrawn ? 'max-t' : 'bonferroni') : null,
    isRandom: (hasPValue && (byPermutation || isDrawn)) || (interval?.ci !== undefined && !isBound(interval.method)),
    warnings: [
      ...(interval?.reason === undefined ? [] : [`no interval: ${interval.reason}`]),
      ...(withoutPValue
        ? [`no p-value: ${typeof simultaneous === 'string' ? simultaneous : 'not available here'}`]
        : []),
    ],
  };
}

/** Whether an interval is computed and not drawn, so that no seed made it. */
function isBound(method: string | undefined): boolean {
  return method?.startsWith('bonferroni') === true;
}

interface IntervalOutcome {
  readonly ci?: readonly [number, number];
  readonly method?: string;
  readonly reason?: string;
}

function intervalOf(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  simultaneous: SimultaneousInterval | string | undefined,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): IntervalOutcome {
  if (typeof simultaneous === 'object' && options.ciMethod === 'simultaneous') return simultaneous;
  if (typeof simultaneous === 'string' && options.ciMethod === 'simultaneous') return { reason: simultaneous };
  const [only] = classes;
  if (classes.length > 1 || only?.stats.kind !== 'classification') {
    return { reason: `'${options.ciMethod}' resamples counts of binary decisions; use 'simultaneous'` };
  }
  const ci = resampledInterval(
    only.stats,
    (drawn) => {
      const measures = compared.map((one): ComparedMeasure => {
        const [name] = definition.measures.filter((measure) => measure === one.measure.name);
        const { measure } = measureDefinition(name ?? definition.measures[0] ?? 'selection_rate');
        const overall = options.method === 'to_overall' ? overallOfCompat(measure, drawn, options) : undefined;
        const own = measureOfCompat(measure(drawn), options);
        const anchor = one.anchorGroup === undefined ? overall : own.values[one.anchorGroup];
        return { ...one, measure: own, anchor };
      });
      return compareMeasures(measures, definition, options);
    },
    options,
  );
  return ci === null ? { reason: 'most resamples have no value' } : { ci, method: options.ciMethod };
}
