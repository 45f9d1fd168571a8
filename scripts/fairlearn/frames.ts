import { createRandom, type Random } from '../../src/internal/random.ts';

/** A value of a sensitive or control feature; null is missing. */
export type Label = string | number | boolean | null;

/** The kinds of outcomes: binary decisions, several classes, predicted numbers, and scores. */
export type Kind = 'decisions' | 'classes' | 'numbers' | 'scores';

/** A named metric of fairlearn, with its options. */
export interface NamedMetric {
  readonly metric: string;
  readonly method: 'between_groups' | 'to_overall';
  /** For equalized odds only. */
  readonly agg: 'worst_case' | 'mean' | null;
  /** The classes over which the metric is averaged; null for a binary outcome. */
  readonly classes: readonly (string | number)[] | null;
}

/** Random rows, with the measures and metrics to compute from them. */
export interface Frame {
  /** The position in the sequence of the seed. */
  readonly index: number;
  readonly kind: Kind;
  readonly yTrue: readonly (string | number | null)[];
  /** Decisions, classes, numbers or scores. */
  readonly yPred: readonly (string | number)[];
  readonly sensitive: Readonly<Record<string, readonly Label[]>>;
  readonly control: Readonly<Record<string, readonly Label[]>>;
  readonly weights: readonly number[] | null;
  /** The positive label and the other label. The positive label is null for outcomes of 0 and 1. */
  readonly positive: string | number | null;
  readonly negative: string | number | null;
  /** Names of measures, as fairlearn or scikit-learn write them. */
  readonly measures: readonly string[];
  readonly metrics: readonly NamedMetric[];
}

const DECISION_MEASURES = [
  'selection_rate',
  'count',
  'true_positive_rate',
  'true_negative_rate',
  'false_positive_rate',
  'false_negative_rate',
  'accuracy_score',
  'zero_one_loss',
  'balanced_accuracy_score',
  'precision_score',
  'recall_score',
  'f1_score',
  'negative_predictive_value',
];
/** The measures that fairlearn or scikit-learn has for each kind of outcome. */
export const MEASURES: Readonly<Record<Kind, readonly string[]>> = {
  decisions: DECISION_MEASURES,
  classes: DECISION_MEASURES,
  numbers: ['mean_prediction', 'mean_absolute_error', 'mean_squared_error', 'root_mean_squared_error', 'r2_score'],
  scores: ['roc_auc_score', 'log_loss', 'brier_score'],
};

/** The functions of fairlearn that return the difference or the ratio of a rate or of several rates. */
export const NAMED_METRICS: readonly string[] = [
  'demographic_parity',
  'equalized_odds',
  'equal_opportunity',
  'true_positive_rate',
  'true_negative_rate',
  'false_positive_rate',
  'false_negative_rate',
  'selection_rate',
  'accuracy_score',
  'zero_one_loss',
].flatMap((name) => [`${name}_difference`, `${name}_ratio`]);

type Draw<Value> = (random: Random) => Value;

function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.integer(values.length)] as Value;
}

function pickSome<Value>(random: Random, values: readonly Value[], count: number): Value[] {
  const left = [...values];
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(random.integer(left.length), 1)[0] as Value,
  );
}

/** Sets of group names. At most 8 of a set are used. */
const NAMES: readonly (readonly Label[])[] = [
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
  ['Male', 'Female', 'Non-binary', 'male', 'female'],
  ['1', '10', '2', '01', '-1', '0'],
  ['1', '1.0', '2.5', '2.50', ' 1', '01'],
  [0, 1, 2, 10, -1, 7],
  [0.5, 1.25, 2, 1000000, -0.1],
  [true, false],
  ['true', 'false', 'True', '1'],
  ['é', 'e\u0301', 'ß', '日本語', '😀', 'Ω', '\u202e', 'ÅA'],
  ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'valueOf'],
  [' ', 'a', ' a', 'a ', '\t', 'A'],
  ['NA', 'nan', 'None', 'null', 'NULL', 'undefined'],
  ['overall', 'difference', '(all rows)', '(missing)', '0', "it's", 'a"b', 'a,b'],
];

/** Sets of names with rows that evenhand treats as rows without a group. */
const NAMES_WITH_GAPS: readonly (readonly Label[])[] = [
  [null, 'a', 'b', 'c'],
  [null, 'x'],
  ['', 'a', 'b'],
  ['', null, 'z', '0'],
];

/** Draws a feature. Often some groups are rare. */
function drawFeature(random: Random, rows: number, sets: readonly (readonly Label[])[], most: number): Label[] {
  const set = oneOf(random, sets);
  const names = pickSome(random, set, 1 + random.integer(most));
  const skew = oneOf(random, [1, 1, 2, 6]);
  return Array.from({ length: rows }, () => names[Math.floor(random.next() ** skew * names.length)] as Label);
}

const SIZES: readonly Draw<number>[] = [
  (random) => 1 + random.integer(4),
  (random) => 1 + random.integer(20),
  (random) => 1 + random.integer(80),
  (random) => 1 + random.integer(300),
];

const WEIGHTS: readonly Draw<number>[] = [
  (random) => 1 + random.integer(4),
  (random) => random.next(),
  (random) => oneOf(random, [0, 0, 1, 2.5]),
  (random) => oneOf(random, [0.25, 1, 1000]),
  () => 1,
];

const BITS: readonly Draw<number>[] = [
  (random) => random.integer(2),
  (random) => random.integer(2),
  (random) => Number(random.next() < 0.05),
  (random) => Number(random.next() < 0.9),
  () => 0,
  () => 1,
];

/** Numbers have few digits, so that no two of them are nearly equal. */
const NUMBERS: readonly Draw<number>[] = [
  (random) => random.integer(12) - 3,
  (random) => random.integer(6),
  (random) => Math.round(random.normal() * 500) / 100,
  (random) => Math.round(random.next() * 4000) / 100,
  () => 0.1,
];

const SCORES: readonly Draw<number>[] = [
  (random) => random.integer(9) / 8,
  (random) => random.next(),
  () => 0.5,
  (random) => random.integer(2),
];

const CLASSES: readonly (readonly (string | number)[])[] = [
  ['cat', 'dog', 'fish'],
  [0, 1, 2],
  [1, 2, 3, 4, 5],
  ['a', 'A', 'ä', '__proto__'],
  ['10', '9', '2'],
];

const BINARY: readonly (readonly [negative: string | number, positive: string | number | null])[] = [
  [0, null],
  [0, null],
  [0, null],
  [-1, 1],
  ['no', 'yes'],
  ['no', 'No'],
];

/** The outcomes of a frame. */
type Outcomes = Pick<Frame, 'kind' | 'yTrue' | 'yPred' | 'positive' | 'negative'>;

function drawOutcomes(random: Random, rows: number, kind: Kind): Outcomes {
  const column = <Value>(draw: Draw<Value>): Value[] => Array.from({ length: rows }, () => draw(random));
  const plain = { kind, positive: null, negative: 0 };
  switch (kind) {
    case 'decisions': {
      const [negative, positive] = oneOf(random, BINARY);
      const label = (bit: number): string | number => (bit === 1 ? (positive ?? 1) : negative);
      const truth = column(oneOf(random, BITS));
      const isRight = random.next() < 0.1;
      const decisions = isRight ? truth : column(oneOf(random, BITS));
      return { kind, positive, negative, yTrue: truth.map(label), yPred: decisions.map(label) };
    }
    case 'classes': {
      const classes = oneOf(random, CLASSES);
      const positive = oneOf(random, classes);
      const draw: Draw<string | number> = (own) => oneOf(own, classes);
      return { kind, positive, negative: null, yTrue: column(draw), yPred: column(draw) };
    }
    case 'numbers':
      return { ...plain, yTrue: column(oneOf(random, NUMBERS)), yPred: column(oneOf(random, NUMBERS)) };
    case 'scores':
      return { ...plain, yTrue: column(oneOf(random, BITS)), yPred: column(oneOf(random, SCORES)) };
  }
}

function drawMetrics(random: Random, { kind, yTrue, yPred, positive, negative }: Outcomes): NamedMetric[] {
  const isBinary = kind === 'decisions' && typeof (positive ?? negative) === 'number';
  if (!isBinary && kind !== 'classes') return [];
  return pickSome(random, NAMED_METRICS, random.integer(3)).flatMap((metric): NamedMetric[] => {
    const method = oneOf(random, ['between_groups', 'to_overall'] as const);
    const agg = metric.startsWith('equalized_odds') ? oneOf(random, ['worst_case', 'mean'] as const) : null;
    const usesTruth = !/^(demographic_parity|selection_rate)/.test(metric);
    const labels = [...yPred, ...(usesTruth ? yTrue : [])].filter((label) => label !== null);
    const classes = kind === 'classes' ? [...new Set(labels)] : null;
    return classes?.length === 1 ? [] : [{ metric, method, agg, classes }];
  });
}

/** The ways in which a frame can be incomplete or degenerate. */
type Flaw =
  'no' | 'rows without a group' | 'rows without a true label' | 'a group of one label' | 'a group of weight 0';

const FLAWS: readonly Flaw[] = [
  'no',
  'no',
  'no',
  'no',
  'rows without a group',
  'rows without a true label',
  'a group of one label',
  'a group of weight 0',
];

/** Draws a frame of the sequence of a seed. Every frame has its own random numbers. */
export function drawFrame(seed: number, index: number): Frame {
  const random = createRandom(seed, index);
  const rows = oneOf(random, SIZES)(random);
  const kind = oneOf(random, ['decisions', 'decisions', 'decisions', 'classes', 'numbers', 'scores'] as const);
  const flaw = oneOf(random, FLAWS);
  const outcomes = drawOutcomes(random, rows, kind);
  // fairlearn 0.14 accepts rows without a group in a single feature only.
  const isSingle = flaw === 'rows without a group';
  const features = (count: number, name: string, most: number): Record<string, Label[]> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, feature) => [
        `${name} ${String(feature + 1)}`,
        drawFeature(random, rows, isSingle ? NAMES_WITH_GAPS : NAMES, most),
      ]),
    );
  const wide = isSingle ? 1 : oneOf(random, [1, 1, 2]);
  const sensitive = features(wide, 'feature', wide === 1 ? 8 : 3);
  const control = features(isSingle ? 0 : oneOf(random, [0, 0, 0, 1, 2]), 'control', 3);
  const isWeighted = flaw === 'a group of weight 0' || (random.next() < 0.4 && flaw !== 'rows without a group');
  const weightOf = oneOf(random, WEIGHTS);
  const weights = isWeighted ? Array.from({ length: rows }, () => weightOf(random)) : null;
  const measures = pickSome(random, MEASURES[kind], kind === 'decisions' ? 2 + random.integer(3) : 2);
  const frame = spoil({ index, ...outcomes, sensitive, control, weights, measures, metrics: [] }, flaw, random);
  // A flaw may leave a single class, over which there is nothing to average.
  return { ...frame, metrics: drawMetrics(random, frame) };
}

/** Applies a flaw. The first row stays complete, so that there is always something to measure. */
function spoil(drawn: Frame, flaw: Flaw, random: Random): Frame {
  const [feature = []] = Object.values(drawn.sensitive);
  const inGroup = (row: number): boolean => feature[row] === feature[feature.length - 1];
  const weights = drawn.weights?.map((weight, row) => (row === 0 ? 1 : weight)) ?? null;
  const frame = { ...drawn, weights };
  switch (flaw) {
    case 'no':
      return frame;
    case 'rows without a group': {
      const named = feature.map((label, row) => (row === 0 && (label === null || label === '') ? 'a' : label));
      return { ...frame, sensitive: { 'feature 1': named } };
    }
    case 'rows without a true label': {
      const isText = typeof (frame.positive ?? frame.negative) !== 'number';
      if (frame.kind === 'classes' || isText) return frame;
      const isWhole = random.next() < 0.3;
      const lacks = (row: number): boolean => row > 0 && (isWhole ? inGroup(row) : random.next() < 0.2);
      return { ...frame, yTrue: frame.yTrue.map((label, row) => (lacks(row) ? null : label)) };
    }
    case 'a group of one label': {
      const label = frame.yTrue[0] as string | number;
      return { ...frame, yTrue: frame.yTrue.map((own, row) => (inGroup(row) ? label : own)) };
    }
    case 'a group of weight 0':
      return { ...frame, weights: frame.weights?.map((own, row) => (row > 0 && inGroup(row) ? 0 : own)) ?? null };
  }
}
