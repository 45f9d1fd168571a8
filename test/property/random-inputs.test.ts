import { expect } from 'chai';

import { FairnessToolkitError, ValueError } from '../../src/exceptions/index.ts';
import { judge } from '../../src/integration/assertions.ts';
import {
  computeMetric,
  MEASURE_NAMES,
  metricFrame,
  type MetricOptions,
  type MetricResult,
  type MetricRows,
} from '../../src/metrics/index.ts';
import { check } from './check.ts';
import { groupOf, metricByDefinition, needsTruth, partsOf, usableRows } from './oracle.ts';
import { type Case, cases, comparisonOf, drawRows, PROBLEMS, inputOf } from './random-inputs.ts';
import { ALL_METRICS, kindOf, type Row } from './random-rows.ts';

const CASES = 10_000;

/** Returns the errors that an input must cause; empty if it must be measured. */
function errorsDue(one: Case, rows: readonly Row[]): RegExp[] {
  const { metric, problem, hasTruth } = one.profile;
  if (!ALL_METRICS.includes(metric)) return [/no metric named/];
  const how = comparisonOf(one);
  const due: RegExp[] = [];
  const kind = kindOf(metric);
  const wrong = problem === null ? undefined : PROBLEMS[problem];
  if (wrong?.spoils(rows.length, kind) === true) due.push(wrong.names);
  const isBlind = !hasTruth && (needsTruth(metric) || kind === 'scores');
  if (isBlind) due.push(/needs true labels/);
  if (how.compat === 'aif360' && how.method !== 'to_reference') due.push(/privileged group only/);
  if (how.reference !== undefined && how.method !== 'to_reference') due.push(/for method 'to_reference'/);
  const truthRead = hasTruth && (needsTruth(metric) || kind === 'scores');
  const seen = truthRead ? rows : rows.map((row) => ({ ...row, label: null }));
  const used = usableRows(metric, kind, kind === 'scores' ? rows : seen, how.isWeighted);
  const labels = new Set(rows.map((row) => groupOf(row, how.includesMissing)));
  const kept = used.filter((row) => groupOf(row, how.includesMissing) !== undefined);
  if (kept.length === 0) due.push(/no rows to measure|All \d+ rows lack|All \d+ rows/);
  const isReferring = how.compat === 'aif360' || how.method === 'to_reference';
  if (how.compat === 'aif360' && how.reference === undefined) due.push(/privileged group/);
  if (isReferring && how.reference?.some((name) => !labels.has(name)))
    due.push(/no group '.*' to use as the reference/);
  if (isReferring && how.compat !== 'aif360' && (how.reference?.length ?? 0) > 1) due.push(/Several reference groups/);
  const isChance = partsOf(metric).some((part) => kind === 'scores' && part !== 'roc_auc');
  if (isChance && kept.some(({ score }) => (score ?? 0) < 0 || (score ?? 0) > 1)) due.push(/scores from 0 to 1/);
  return due;
}

/** Returns all numbers of a JSON value. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

function expectSound(result: MetricResult): void {
  if (!Number.isFinite(result.value)) expect(result.undefinedReason).to.be.a('string').and.not.be.empty;
  const json = result.toJSON();
  expect(numbersIn(json).filter((value) => !Number.isFinite(value))).to.deep.equal([]);
  expect(json.value === null).to.equal(result.undefinedReason !== null && !Number.isFinite(result.value));
  expect(json.ci?.[0]).to.not.equal(null);
  expect(json.p_value === null).to.equal(json.p_value_method === null);
  if (json.p_value !== null) expect(json.p_value).to.be.within(Number.MIN_VALUE, 1);
  if (result.ci !== null) {
    expect(result.ci[0]).to.be.at.most(result.value);
    expect(result.ci[1]).to.be.at.least(result.value);
  }
  expect(JSON.stringify(JSON.parse(JSON.stringify(result)))).to.equal(JSON.stringify(json));
  expect(result.toMarkdown()).to.not.include('NaN');
  expect(Object.isFrozen(result) && Object.isFrozen(result.perGroup) && Object.isFrozen(result.warnings)).to.equal(
    true,
  );
}

/** Numbers whose squares or sums overflow float64. For these, a reason may replace the value of the definition. */
function isExtreme({ profile: { weights, numbers, targets } }: Case): boolean {
  return /huge|tiny/.test(`${String(weights)} ${numbers} ${targets}`);
}

function expectTrue(one: Case, rows: readonly Row[], result: MetricResult): void {
  const { metric } = one.profile;
  const truth = metricByDefinition(metric, kindOf(metric), rows, comparisonOf(one));
  const isRatio = metric.endsWith('_ratio');
  if (isRatio && one.threshold === 0 && kindOf(metric) !== 'numbers') {
    expect(() => judge(result, 0)).to.throw(ValueError, 'always passes');
    return;
  }
  const verdict = judge(result, one.threshold);
  if (result.undefinedReason !== null) {
    expect(verdict.passed).to.equal(false);
    if (!isExtreme(one)) expect(truth).to.satisfy((value: number) => !Number.isFinite(value), 'defined by definition');
    return;
  }
  const largest = Math.max(1, ...rows.flatMap(({ guess, target }) => [Math.abs(guess ?? 0), Math.abs(target ?? 0)]));
  const scale = kindOf(metric) === 'numbers' && !isRatio ? (/squared/.test(metric) ? largest ** 2 : largest) : 1;
  const tolerance = 1e-9 * Math.max(Number.isFinite(scale) ? scale : 0, Math.abs(truth));
  if (!/^r2|^mean_(error|prediction)_ratio/.test(metric)) expect(result.value).to.be.closeTo(truth, tolerance);
  else if (Math.abs(truth) > 1e6 || one.profile.numbers === 'fractions') return;
  const isWrong = isRatio ? truth < one.threshold - tolerance : Math.abs(truth) > one.threshold + tolerance;
  if (isWrong) expect(verdict.passed).to.equal(false);
}

describe('random inputs @study', () => {
  it(`${CASES} inputs give a typed error that names the problem, or a correct value, or a reason; never a wrong pass`, () => {
    check(
      cases,
      (one) => {
        const rows = drawRows(one);
        const input = inputOf(one, rows);
        const { nanPolicy, ...options } = one.options;
        expect(nanPolicy).to.be.a('string');
        const due = errorsDue(one, rows);
        let result: MetricResult;
        try {
          result = computeMetric(one.profile.metric, input, options);
        } catch (error) {
          if (!FairnessToolkitError.isInstance(error)) throw error;
          expect(due.map(String), error.message).to.satisfy(() => due.some((pattern) => pattern.test(error.message)));
          return;
        }
        expect(due).to.deep.equal([]);
        expectSound(result);
        expectTrue(one, rows, result);
        if (one.profile.isFrame) expectSoundFrame(one, rows, input, options);
      },
      CASES,
    );
  }).timeout(600_000);
});

function expectSoundFrame(one: Case, rows: readonly Row[], input: MetricRows, options: MetricOptions): void {
  const kind = kindOf(one.profile.metric);
  const metrics = MEASURE_NAMES.filter(
    (name) => kindOf(`${name}_ratio`) === kind && (kind !== 'scores' || name === 'roc_auc'),
  );
  if (!one.profile.hasTruth) return;
  const control = rows.map((_, row) => ['x', 'y', null][row % 3]);
  try {
    for (const frame of [
      metricFrame({ ...input, metrics }, options),
      metricFrame({ ...input, metrics, control }, options),
    ]) {
      expect(numbersIn(frame.toJSON()).filter((value) => !Number.isFinite(value))).to.deep.equal([]);
      expect(frame.toMarkdown()).to.not.include('NaN');
    }
  } catch (error) {
    // There may be no complete row for a frame, or none of the reference group.
    if (!FairnessToolkitError.isInstance(error)) throw error;
    expect(error.message).to.match(/All \d+ rows|no rows to measure|to use as the reference/);
  }
}
