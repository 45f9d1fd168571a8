import { expect } from 'chai';
import fc from 'fast-check';

import { FairnessToolkitError } from '../../src/exceptions/index.ts';
import { judge } from '../../src/integration/assertions.ts';
import { createRandom, type Random } from '../../src/internal/random.ts';
import {
  computeMetric,
  MEASURE_NAMES,
  metricFrame,
  type MetricOptions,
  type MetricResult,
  type MetricRows,
} from '../../src/metrics/index.ts';
import { check } from './check.ts';
import { type Comparison, groupOf, metricByDefinition, needsTruth, partsOf, usableRows } from './oracle.ts';
import { ALL_METRICS, columnsOf, kindOf, type Row } from './random-rows.ts';

const CASES = 10_000;

type Draw<Value> = (random: Random) => Value;

const oneOf =
  <Value>(...values: readonly Value[]): Draw<Value> =>
  (random) =>
    values[random.integer(values.length)] as Value;
const whole =
  (least: number, most: number): Draw<number> =>
  (random) =>
    least + random.integer(most - least + 1);

const GROUPS: Readonly<Record<string, Draw<readonly (string | null)[]>>> = {
  one: () => ['a'],
  two: (random) => [oneOf('a', 'b')(random)],
  few: (random) => [oneOf('a', 'b', 'c', 'd')(random)],
  unbalanced: (random) => [random.next() < 0.9 ? 'a' : oneOf('b', 'c')(random)],
  many: (random) => [`group ${whole(1, 40)(random)}`],
  odd: (random) => [oneOf('__proto__', 'constructor', '', 'a', 'A', 'é', 'e\u0301', 'a||b', '\ud800')(random)],
  numbers: (random) => [oneOf('0', '1', '2')(random)],
  missing: (random) => [oneOf('a', 'b', null)(random)],
  'all missing': () => [null],
  crossed: (random) => [oneOf('a', 'b')(random), oneOf('x', 'y', null)(random)],
};

const WEIGHTS: Readonly<Record<string, Draw<number | null>>> = {
  ones: () => 1,
  whole: whole(1, 5),
  fractions: (random) => random.next(),
  'some 0': oneOf(0, 0, 1, 2.5),
  'all 0': () => 0,
  huge: oneOf(1e150, 1e153, 1e300, 1e308),
  tiny: oneOf(1e-150, 1e-163, 1e-308, 5e-324),
  'huge and tiny': oneOf(1e308, 1, 5e-324),
  missing: oneOf(1, null),
  'all missing': () => null,
};

const NUMBERS: Readonly<Record<string, Draw<number | null>>> = {
  whole: whole(-2, 5),
  positive: whole(0, 5),
  fractions: (random) => random.normal(),
  constant: () => 0.1,
  far: (random) => 1e9 + random.next(),
  huge: oneOf(1e100, 1e155, 1e308, -1e308),
  tiny: oneOf(1e-300, 5e-324, -0, 0),
  missing: oneOf(0, 1, null),
  'all missing': () => null,
};

const SCORES: Readonly<Record<string, Draw<number | null>>> = {
  eighths: (random) => whole(0, 8)(random) / 8,
  fractions: (random) => random.next(),
  constant: () => 0.5,
  ends: oneOf(0, 1, -0),
  'beyond 1': whole(-1, 3),
  huge: oneOf(1e308, -1e308, 5e-324),
  missing: oneOf(0.2, 0.7, null),
};

const BITS: Readonly<Record<string, Draw<0 | 1 | null>>> = {
  even: oneOf(0, 1),
  rare: (random) => (random.next() < 0.05 ? 1 : 0),
  'all 0': () => 0,
  'all 1': () => 1,
  missing: oneOf(0, 1, null),
  'all missing': () => null,
};

/** Ways to give the same column. */
const DRESSES = ['list', 'typed', 'text', 'booleans', 'tensor', 'series', 'big'] as const;
type Dress = (typeof DRESSES)[number];

/** Something wrong with the input. */
interface Fault {
  /** What the error must name. */
  readonly names: RegExp;
  readonly spoil: (columns: MetricRows) => MetricRows;
  /** Whether an input of that many rows is spoilt by it. */
  readonly spoils: (rows: number, kind: string) => boolean;
}

const inPredictions = (_: number, kind: string): boolean => kind !== 'scores';

const FAULTS: Readonly<Record<string, Fault>> = {
  'one group more than rows': {
    names: /sensitive differ in length/,
    spoil: (columns) => ({
      ...columns,
      sensitive: ['a', ...Array.from(columns.yPred as readonly unknown[], () => 'a')],
    }),
    spoils: () => true,
  },
  'no weights': {
    names: /sampleWeight differ in length/,
    spoil: (columns) => ({ ...columns, sampleWeight: [] }),
    spoils: (rows) => rows > 0,
  },
  'negative weights': {
    names: /sampleWeight .*-1 at index 0/,
    spoil: (columns) => ({ ...columns, sampleWeight: Array.from(columns.yPred as readonly unknown[], () => -1) }),
    spoils: (rows) => rows > 0,
  },
  'an infinite prediction': {
    names: /yPred .*Infinity at index 0/,
    spoil: (columns) => spoilFirst(columns, Infinity),
    spoils: inPredictions,
  },
  'a prediction in words': {
    names: /yPred .*'lots' at index 0/,
    spoil: (columns) => spoilFirst(columns, 'lots'),
    spoils: inPredictions,
  },
  'no predictions': {
    names: /needs predictions/,
    spoil: (columns) => ({ ...columns, yPred: undefined }),
    spoils: inPredictions,
  },
};

function spoilFirst(columns: MetricRows, value: unknown): MetricRows {
  const [, ...rest] = Array.from(columns.yPred as readonly unknown[]);
  return { ...columns, yPred: [value, ...rest] };
}

const from = <Value>(table: Readonly<Record<string, Value>>) => fc.constantFrom(...Object.keys(table));

const profile = fc.record({
  metric: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...ALL_METRICS) },
    { weight: 1, arbitrary: fc.constantFrom('constructor_difference', '__proto__', 'selection_rate', '', 'dp_ratio') },
  ),
  size: fc.oneof(fc.nat(60), fc.nat(3)),
  seed: fc.nat(),
  groups: from(GROUPS),
  weights: fc.option(from(WEIGHTS)),
  numbers: from(NUMBERS),
  targets: from(NUMBERS),
  scores: from(SCORES),
  decisions: from(BITS),
  labels: from(BITS),
  dress: fc.constantFrom(...DRESSES),
  fault: fc.option(from(FAULTS), { freq: 20 }),
  hasTruth: fc.integer({ min: 0, max: 19 }).map((drawn) => drawn > 0),
  isFrame: fc.integer({ min: 0, max: 19 }).map((drawn) => drawn === 0),
});

const optionsOf = fc.record({
  minGroupSize: fc.constantFrom(undefined, 1, 1, 1, 2, 5),
  minDenominator: fc.constantFrom(undefined, undefined, 3),
  method: fc.constantFrom(undefined, undefined, 'between_groups', 'to_overall', 'to_reference'),
  referenceGroup: fc.constantFrom(undefined, undefined, 'a', 'b', 'nobody', ['a', 'b']),
  agg: fc.constantFrom(undefined, 'worst_case', 'mean'),
  compat: fc.constantFrom(undefined, undefined, undefined, 'fairlearn', 'aif360', 'aequitas'),
  withCi: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
  ciMethod: fc.constantFrom('simultaneous', 'simultaneous', 'percentile', 'bca'),
  ciLevel: fc.constantFrom(0.95, 0.5, 1e-9, 1 - Number.EPSILON / 2),
  ciSamples: fc.constantFrom(1, 2, 20),
  withPValue: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
  nanPolicy: fc.constantFrom('exclude', 'exclude', 'include'),
});

const cases = fc.record({
  profile,
  options: optionsOf,
  threshold: fc.constantFrom(0, 0.01, 0.1, 0.5, 0.8, 1),
});

type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

function drawRows({ profile: drawn }: Case): Row[] {
  const random = createRandom(drawn.seed);
  const pick = <Value>(table: Readonly<Record<string, Draw<Value>>>, name: string): Value =>
    (table[name] as Draw<Value>)(random);
  return Array.from({ length: drawn.size }, () => ({
    label: pick(BITS, drawn.labels),
    decision: pick(BITS, drawn.decisions),
    target: pick(NUMBERS, drawn.targets),
    guess: pick(NUMBERS, drawn.numbers),
    score: pick(SCORES, drawn.scores),
    groups: pick(GROUPS, drawn.groups),
    weight: drawn.weights === null ? 1 : pick(WEIGHTS, drawn.weights),
  }));
}

/** The same values in another container, where it can hold them. */
function dressed(column: readonly (number | null)[], dress: Dress): unknown {
  const numbers = (): Float64Array => Float64Array.from(column, (value) => value ?? NaN);
  const isWhole = column.every((value) => value !== null && Number.isInteger(value) && Math.abs(value) < 100);
  switch (dress) {
    case 'list':
      return column;
    case 'typed':
      return isWhole ? Int8Array.from(column as number[]) : numbers();
    case 'text':
      return column.every((value) => value === null || value === 0 || value === 1)
        ? column.map((value) => (value === null ? null : String(value)))
        : column;
    case 'booleans':
      return column.map((value) => (value === 0 || value === 1 ? value === 1 : value));
    case 'tensor':
      return { shape: [column.length], dtype: 'float32', dataSync: numbers };
    case 'series':
      return { values: column, shape: [column.length] };
    case 'big':
      return isWhole ? BigInt64Array.from(column as number[], BigInt) : column.map((value) => value ?? undefined);
  }
}

function inputOf(one: Case, rows: readonly Row[]): MetricRows {
  const { metric, dress, weights, hasTruth, fault } = one.profile;
  const columns = columnsOf(metric, rows);
  const isNumeric = kindOf(metric) === 'numbers';
  const dressFor = (column: unknown): MetricRows['yPred'] => {
    // Texts and booleans are no numbers.
    const own = isNumeric && (dress === 'text' || dress === 'booleans') ? 'list' : dress;
    return dressed(column as (number | null)[], own) as MetricRows['yPred'];
  };
  const input: MetricRows = {
    yTrue: hasTruth ? dressFor(columns.yTrue) : undefined,
    yPred: fault === null ? dressFor(columns.yPred) : columns.yPred,
    yScore: dressed(
      columns.yScore as (number | null)[],
      dress === 'tensor' ? 'tensor' : 'list',
    ) as MetricRows['yScore'],
    sensitive: columns.sensitive,
    sampleWeight: weights === null ? undefined : rows.map(({ weight }) => weight),
    nanPolicy: one.options.nanPolicy as 'exclude' | 'include',
  };
  return fault === null ? input : (FAULTS[fault]?.spoil(input) ?? input);
}

/** What the options come to. */
function comparisonOf({ options, profile: { weights } }: Case): Comparison {
  const { compat } = options;
  const usual = compat === 'aif360' || compat === 'aequitas' ? 'to_reference' : 'between_groups';
  return {
    minGroupSize: options.minGroupSize ?? (compat === undefined ? 30 : 1),
    minDenominator: options.minDenominator ?? 1,
    method: (options.method ?? usual) as Comparison['method'],
    reference: options.referenceGroup === undefined ? undefined : [options.referenceGroup].flat(),
    agg: (options.agg ?? 'worst_case') as Comparison['agg'],
    compat: compat as Comparison['compat'],
    includesMissing: options.nanPolicy === 'include',
    isWeighted: weights !== null,
  };
}

/** The errors that an input deserves; none where it must be measured. */
function errorsDue(one: Case, rows: readonly Row[]): RegExp[] {
  const { metric, fault, hasTruth } = one.profile;
  if (!ALL_METRICS.includes(metric)) return [/no metric named/];
  const how = comparisonOf(one);
  const due: RegExp[] = [];
  const kind = kindOf(metric);
  const wrong = fault === null ? undefined : FAULTS[fault];
  if (wrong?.spoils(rows.length, kind) === true) due.push(wrong.names);
  const isBlind = !hasTruth && (needsTruth(metric) || kind === 'scores');
  if (isBlind) due.push(/needs true labels/);
  if (how.compat === 'aif360' && how.method !== 'to_reference') due.push(/privileged group only/);
  const truthRead = hasTruth && (needsTruth(metric) || kind === 'scores');
  const seen = truthRead ? rows : rows.map((row) => ({ ...row, label: null }));
  const used = usableRows(metric, kind, kind === 'scores' ? rows : seen, how.isWeighted);
  const labels = new Set(rows.map((row) => groupOf(row, how.includesMissing)));
  const kept = used.filter((row) => groupOf(row, how.includesMissing) !== undefined);
  if (kept.length === 0) due.push(/no rows to measure|All \d+ rows lack|All \d+ rows/);
  const isReferring = how.compat === 'aif360' || how.method === 'to_reference';
  if (how.compat === 'aif360' && how.reference === undefined) due.push(/privileged group/);
  if (isReferring && how.reference?.some((name) => !labels.has(name))) due.push(/no group '.*' to be the reference/);
  if (isReferring && how.compat !== 'aif360' && (how.reference?.length ?? 0) > 1) due.push(/pools several/);
  const isChance = partsOf(metric).some((part) => kind === 'scores' && part !== 'roc_auc');
  if (isChance && kept.some(({ score }) => (score ?? 0) < 0 || (score ?? 0) > 1)) due.push(/scores from 0 to 1/);
  return due;
}

/** Every number of a JSON value. */
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
  expect(JSON.parse(JSON.stringify(result))).to.deep.equal(json);
  expect(result.toMarkdown()).to.not.include('NaN');
  expect(Object.isFrozen(result) && Object.isFrozen(result.perGroup) && Object.isFrozen(result.warnings)).to.equal(
    true,
  );
}

/** Numbers whose squares or sums leave float64: there a reason may stand where the definition has a value. */
function isExtreme({ profile: { weights, numbers, targets } }: Case): boolean {
  return /huge|tiny/.test(`${String(weights)} ${numbers} ${targets}`);
}

function expectTrue(one: Case, rows: readonly Row[], result: MetricResult): void {
  const { metric } = one.profile;
  const truth = metricByDefinition(metric, kindOf(metric), rows, comparisonOf(one));
  const verdict = judge(result, one.threshold);
  if (result.undefinedReason !== null) {
    expect(verdict.passed).to.equal(false);
    if (!isExtreme(one)) expect(truth).to.satisfy((value: number) => !Number.isFinite(value), 'defined by definition');
    return;
  }
  const isRatio = metric.endsWith('_ratio');
  const largest = Math.max(1, ...rows.flatMap(({ guess, target }) => [Math.abs(guess ?? 0), Math.abs(target ?? 0)]));
  const scale = kindOf(metric) === 'numbers' && !isRatio ? (/squared/.test(metric) ? largest ** 2 : largest) : 1;
  const tolerance = 1e-9 * Math.max(Number.isFinite(scale) ? scale : 0, Math.abs(truth));
  if (!/^r2/.test(metric) && !/^mean_error_ratio/.test(metric)) expect(result.value).to.be.closeTo(truth, tolerance);
  else if (Math.abs(truth) > 1e6 || one.profile.numbers === 'fractions') return;
  const isWrong = isRatio ? truth < one.threshold - tolerance : Math.abs(truth) > one.threshold + tolerance;
  if (isWrong) expect(verdict.passed).to.equal(false);
}

describe('random inputs', () => {
  it(`${CASES} of them: a typed error that names what is wrong, or a value that is right, or a reason; never a wrong pass`, () => {
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
          result = computeMetric(one.profile.metric, input, options as MetricOptions);
        } catch (error) {
          if (!FairnessToolkitError.isInstance(error)) throw error;
          expect(due.map(String), error.message).to.satisfy(() => due.some((pattern) => pattern.test(error.message)));
          return;
        }
        expect(due).to.deep.equal([]);
        expectSound(result);
        expectTrue(one, rows, result);
        if (one.profile.isFrame) expectSoundFrame(one, rows, input, options as MetricOptions);
      },
      CASES,
    );
  }).timeout(120_000);
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
    // The rows that have all that a frame needs may be none, or none of the reference group.
    if (!FairnessToolkitError.isInstance(error)) throw error;
    expect(error.message).to.match(/All \d+ rows|no rows to measure|to be the reference/);
  }
}
