import fc from 'fast-check';

import { createRandom, type Random } from '../../src/internal/random.ts';
import type { MetricRows } from '../../src/metrics/index.ts';
import type { Comparison } from './oracle.ts';
import { ALL_METRICS, columnsOf, kindOf, type Row } from './random-rows.ts';

type Draw<Value> = (random: Random) => Value;

const oneOf =
  <Value>(...values: readonly Value[]): Draw<Value> =>
  (random) =>
    values[random.integer(values.length)] as Value;
const integerIn =
  (min: number, most: number): Draw<number> =>
  (random) =>
    min + random.integer(most - min + 1);

const GROUPS: Readonly<Record<string, Draw<readonly (string | null)[]>>> = {
  one: () => ['a'],
  two: (random) => [oneOf('a', 'b')(random)],
  few: (random) => [oneOf('a', 'b', 'c', 'd')(random)],
  unbalanced: (random) => [random.next() < 0.9 ? 'a' : oneOf('b', 'c')(random)],
  many: (random) => [`group ${integerIn(1, 40)(random)}`],
  odd: (random) => [oneOf('__proto__', 'constructor', '\t', 'a', 'A', 'é', 'e\u0301', 'a||b', '\ud800')(random)],
  numbers: (random) => [oneOf('0', '1', '2')(random)],
  missing: (random) => [oneOf('a', 'b', null)(random)],
  'all missing': () => [null],
  crossed: (random) => [oneOf('a', 'b')(random), oneOf('x', 'y', null)(random)],
};

const WEIGHTS: Readonly<Record<string, Draw<number | null>>> = {
  ones: () => 1,
  whole: integerIn(1, 5),
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
  whole: integerIn(-2, 5),
  positive: integerIn(0, 5),
  fractions: (random) => random.normal(),
  constant: () => 0.1,
  far: (random) => 1e9 + random.next(),
  huge: oneOf(1e100, 1e155, 1e308, -1e308),
  tiny: oneOf(1e-300, 5e-324, -0, 0),
  missing: oneOf(0, 1, null),
  'all missing': () => null,
};

const SCORES: Readonly<Record<string, Draw<number | null>>> = {
  eighths: (random) => integerIn(0, 8)(random) / 8,
  fractions: (random) => random.next(),
  constant: () => 0.5,
  ends: oneOf(0, 1, -0),
  'beyond 1': integerIn(-1, 3),
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

/** Containers for the same column. */
const DRESSES = ['list', 'typed', 'text', 'booleans', 'tensor', 'series', 'big'] as const;
type Dress = (typeof DRESSES)[number];

/** A problem in the input. */
interface Problem {
  /** The text that the error must contain. */
  readonly names: RegExp;
  readonly spoil: (columns: MetricRows) => MetricRows;
  /** Returns whether the problem applies to an input with this number of rows. */
  readonly spoils: (rows: number, kind: string) => boolean;
}

const inPredictions = (_: number, kind: string): boolean => kind !== 'scores';

export const PROBLEMS: Readonly<Record<string, Problem>> = {
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
/** Usually a common value, sometimes a rare one. */
const mostly = <Usual, Other>(usual: fc.Arbitrary<Usual>, other: fc.Arbitrary<Other>, odds: number) =>
  fc.oneof({ weight: odds, arbitrary: usual }, { weight: 1, arbitrary: other });

const profile = fc.record({
  metric: mostly(
    fc.constantFrom(...ALL_METRICS),
    fc.constantFrom('constructor_difference', '__proto__', 'selection_rate', '', 'dp_ratio'),
    60,
  ),
  size: mostly(fc.integer({ min: 4, max: 60 }), fc.nat(3), 9),
  seed: fc.nat(),
  groups: mostly(fc.constantFrom('two', 'few', 'unbalanced', 'missing', 'crossed'), from(GROUPS), 2),
  weights: mostly(fc.constant(null), from(WEIGHTS), 1),
  numbers: mostly(fc.constantFrom('whole', 'positive', 'fractions', 'missing'), from(NUMBERS), 1),
  targets: mostly(fc.constantFrom('whole', 'positive', 'fractions', 'missing'), from(NUMBERS), 1),
  scores: mostly(fc.constantFrom('eighths', 'fractions', 'missing'), from(SCORES), 2),
  decisions: mostly(fc.constantFrom('even', 'missing'), from(BITS), 4),
  labels: mostly(fc.constantFrom('even', 'missing'), from(BITS), 4),
  dress: fc.constantFrom(...DRESSES),
  problem: mostly(fc.constant(null), from(PROBLEMS), 20),
  hasTruth: mostly(fc.constant(true), fc.constant(false), 20),
  isFrame: mostly(fc.constant(false), fc.constant(true), 20),
});

const optionsOf = fc.record({
  minGroupSize: mostly(fc.constant(1), fc.constantFrom(undefined, 2, 5), 3),
  minDenominator: fc.constantFrom(undefined, undefined, 3),
  method: mostly(fc.constant(undefined), fc.constantFrom('between_groups', 'to_overall', 'to_reference'), 1),
  referenceGroup: mostly(fc.constantFrom(undefined, undefined, 'a'), fc.constantFrom('nobody', 'b', ['a', 'b']), 9),
  agg: fc.constantFrom(undefined, 'worst_case', 'mean'),
  compat: mostly(fc.constant(undefined), fc.constantFrom('fairlearn', 'fairlearn', 'aif360', 'aequitas'), 2),
  withCi: mostly(fc.constant(false), fc.constant(true), 3),
  ciMethod: fc.constantFrom('simultaneous', 'simultaneous', 'percentile', 'bca'),
  ciLevel: fc.constantFrom(0.95, 0.5, 1e-9, 1 - Number.EPSILON / 2),
  ciSamples: fc.constantFrom(1, 2, 20),
  withPValue: mostly(fc.constant(false), fc.constant(true), 5),
  nanPolicy: fc.constantFrom('exclude', 'exclude', 'include'),
});

/** Any input of any metric, with options and a threshold for a gate. */
export const cases = fc.record({
  profile,
  options: optionsOf,
  threshold: fc.constantFrom(0, 0.01, 0.1, 0.5, 0.8, 1),
});

/** One of {@link cases}. */
export type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the rows of a case. */
export function drawRows({ profile: drawn }: Case): Row[] {
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

/** Returns the same values in another container, if it can hold them. */
function dressed(column: readonly (number | null)[], dress: Dress): unknown {
  const numbers = (): Float64Array => Float64Array.from(column, (value) => value ?? NaN);
  const isInteger = column.every((value) => value !== null && Number.isInteger(value) && Math.abs(value) < 100);
  switch (dress) {
    case 'list':
      return column;
    case 'typed':
      return isInteger ? Int8Array.from(column as number[]) : numbers();
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
      return isInteger ? BigInt64Array.from(column as number[], BigInt) : column.map((value) => value ?? undefined);
  }
}

/** Returns the rows of a case in its containers and with its problem. */
export function inputOf(one: Case, rows: readonly Row[]): MetricRows {
  const { metric, dress, weights, hasTruth, problem: spoiled } = one.profile;
  const columns = columnsOf(metric, rows);
  const isNumeric = kindOf(metric) === 'numbers';
  const dressFor = (column: unknown): MetricRows['yPred'] => {
    // Texts and booleans are not numbers.
    const own = isNumeric && (dress === 'text' || dress === 'booleans') ? 'list' : dress;
    return dressed(column as (number | null)[], own) as MetricRows['yPred'];
  };
  const input: MetricRows = {
    yTrue: hasTruth ? dressFor(columns.yTrue) : undefined,
    yPred: spoiled === null ? dressFor(columns.yPred) : columns.yPred,
    yScore: dressed(
      columns.yScore as (number | null)[],
      dress === 'tensor' ? 'tensor' : 'list',
    ) as MetricRows['yScore'],
    sensitive: columns.sensitive,
    sampleWeight: weights === null ? undefined : rows.map(({ weight }) => weight),
    nanPolicy: one.options.nanPolicy,
  };
  return spoiled === null ? input : (PROBLEMS[spoiled]?.spoil(input) ?? input);
}

/** Returns the options of a case. */
export function comparisonOf({ options, profile: { weights } }: Case): Comparison {
  const { compat } = options;
  const isReferring = compat === 'aif360' || compat === 'aequitas' || options.referenceGroup !== undefined;
  const usual = isReferring ? 'to_reference' : 'between_groups';
  return {
    minGroupSize: options.minGroupSize ?? (compat === undefined ? 30 : 1),
    minDenominator: options.minDenominator ?? 1,
    method: options.method ?? usual,
    reference: options.referenceGroup === undefined ? undefined : [options.referenceGroup].flat(),
    agg: options.agg ?? 'worst_case',
    compat: compat,
    includesMissing: options.nanPolicy === 'include',
    isWeighted: weights !== null,
  };
}
