import type { TableSource } from '../../table/index.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';
import type { ABSettings } from './ab-test-options.ts';
import { compareMeasure, type PreparedMeasure, prepareMeasure } from './compare-measure.ts';
import { BUSINESS_MEASURE, measuresOf } from './fairness-measures.ts';
import { checkAssignment, warningsOf } from './guard-rails.ts';
import { type MeasuredRows, measureRows } from './measured-rows.ts';
import { type ArmRows, readArms } from './read-arms.ts';
import { adjustRows, judgeBusiness, judgeFairness, overallVerdict } from './verdict-words.ts';

/** Compares two arms with the given settings. */
export function runABTest(control: TableSource, treatment: TableSource, settings: ABSettings): ABTestFields {
  const kinds = new Set(settings.fairness.flatMap((metric) => measuresOf(metric).map(({ kind }) => kind)));
  const rows = readArms(control, treatment, settings, { decisions: kinds.has('rate'), values: kinds.has('mean') });
  const fairness = fairnessMeasures(rows, settings);
  const business = businessMeasures(rows, settings);
  const comparisons = adjustRows(compareAll(rows, fairness, settings), judgeFairness(settings.alpha));
  const effects = adjustRows(compareAll(rows, business, settings), judgeBusiness(settings.alpha));
  const checks = checkAssignment(rows, settings);
  return {
    n: Object.freeze({ control: rows.nControl, treatment: rows.nRows - rows.nControl }),
    rows: Object.freeze(comparisons.flatMap((comparison) => comparison.rows)),
    comparisons: Object.freeze(comparisons),
    business: Object.freeze(effects),
    nTests: Object.freeze({ fairness: testsOf(comparisons), business: testsOf(effects) }),
    checks,
    warnings: warningsOf(rows, checks, distinct(fairness), comparisons),
    ...overallVerdict(comparisons),
    settings,
  };
}

function fairnessMeasures(rows: ArmRows, settings: ABSettings): PreparedMeasure[] {
  return settings.fairness.flatMap((metric) =>
    measuresOf(metric).map((measure) => {
      const outcome = measure.kind === 'rate' ? rows.decisions : rows.values;
      return prepareMeasure(rows, metric, measureRows(rows, measure, outcome as Float64Array), settings);
    }),
  );
}

function businessMeasures(rows: ArmRows, settings: ABSettings): PreparedMeasure[] {
  return settings.business.map((name) => {
    const values = rows.business.get(name) as Float64Array;
    // minimumEffect and tau are in the units of the outcome, so they do not apply to a business metric.
    return prepareMeasure(rows, name, measureRows(rows, BUSINESS_MEASURE, values), {
      ...settings,
      minimumEffect: null,
      tau: null,
    });
  });
}

function compareAll(rows: ArmRows, measures: readonly PreparedMeasure[], settings: ABSettings): ABComparison[] {
  return settings.attributes.flatMap(({ name }) =>
    measures.map((prepared) => compareMeasure(rows, prepared, name, settings)),
  );
}

/** Returns each measure once, because two metrics may share a measure. */
function distinct(measures: readonly PreparedMeasure[]): MeasuredRows[] {
  const byName = new Map(measures.map(({ measured }) => [measured.measure.name, measured]));
  return [...byName.values()];
}

function testsOf(comparisons: readonly ABComparison[]): number {
  return comparisons.flatMap((comparison) => comparison.rows).filter(({ pValue }) => pValue !== null).length;
}
