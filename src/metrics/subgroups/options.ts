import { ConfigValidationError } from '../../exceptions/index.ts';
import { invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { requireInteger, requireLevel, requireSeed } from '../../stats/parameters.ts';
import type { NanPolicy, PositiveLabelOptions } from '../../table/index.ts';
import { DECISION_MEASURES, type DecisionRateName, isDecisionRate } from '../measures/decision-rates.ts';

/** The methods that control the error of the whole search. */
export type SubgroupMethod = 'split' | 'max-t';

/** What can be compared between a subgroup and the other rows. */
export type SubgroupMetric = DecisionRateName | 'mean_score';

/** The columns and options of `findSubgroups`. */
export interface FindSubgroupsOptions extends PositiveLabelOptions {
  /** The columns whose values describe subgroups. */
  readonly columns: readonly string[];
  /** The column of decisions, 0 or 1. Give either `yPred` or `yScore`. */
  readonly yPred?: string | undefined;
  /** The column of scores. */
  readonly yScore?: string | undefined;
  /** The column of true labels, 0 or 1, for rates that need them. */
  readonly yTrue?: string | undefined;
  /**
   * What is compared: a rate of decisions, such as `selection_rate` or `false_positive_rate`, or `mean_score`.
   * @defaultValue 'selection_rate' with `yPred`, 'mean_score' with `yScore`
   */
  readonly metric?: SubgroupMetric | undefined;
  /**
   * The maximum number of conditions of a subgroup, at most 5.
   * @defaultValue 3
   */
  readonly maxDepth?: number | undefined;
  /**
   * The number of bins of a column of numbers, between quantiles. A column with at most twice as many different numbers
   * is not divided into bins.
   * @defaultValue 5
   */
  readonly bins?: number | undefined;
  /**
   * The maximum number of values of a column that is not divided into bins, at most 250.
   * @defaultValue 50
   */
  readonly maxValues?: number | undefined;
  /**
   * The minimum number of rows of a subgroup. With the method `split`, each half needs half as many.
   * @defaultValue 100
   */
  readonly minGroupSize?: number | undefined;
  /**
   * `split` searches one half of the rows and tests the candidates on the other half (Holm). `max-t` tests all subgroups
   * on all rows, with replicates in which no subgroup differs; it reads all rows into memory.
   * @defaultValue 'split'
   */
  readonly method?: SubgroupMethod | undefined;
  /**
   * The maximum number of subgroups that are tested (`split`) or reported (`max-t`).
   * @defaultValue 20
   */
  readonly candidates?: number | undefined;
  /**
   * The probability that the report contains any subgroup that does not differ.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * The number of replicates of `max-t`.
   * @defaultValue 1000
   */
  readonly samples?: number | undefined;
  /**
   * A column that names the person, or other unit, to which a row belongs. All rows of a cluster are in the same half,
   * and variances are those of cluster totals.
   * @defaultValue undefined: rows are independent
   */
  readonly cluster?: string | undefined;
  /**
   * `exclude`: a row without a value in a column meets no condition on it. `include`: missing values are a value.
   * @defaultValue 'exclude'
   */
  readonly nanPolicy?: NanPolicy | undefined;
  /**
   * Texts that are missing values.
   * @defaultValue those of pandas; in columns of labels only the empty text
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * The seed of the halves and of the replicates.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link FindSubgroupsOptions}. */
export const SUBGROUP_OPTION_NAMES: OptionNames<FindSubgroupsOptions> = {
  columns: true,
  yPred: true,
  yScore: true,
  yTrue: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  metric: true,
  maxDepth: true,
  bins: true,
  maxValues: true,
  minGroupSize: true,
  method: true,
  candidates: true,
  alpha: true,
  samples: true,
  cluster: true,
  nanPolicy: true,
  naValues: true,
  seed: true,
};

/** {@link FindSubgroupsOptions} with all defaults. */
export interface FilledSubgroupOptions extends FindSubgroupsOptions {
  readonly metric: SubgroupMetric;
  readonly maxDepth: number;
  readonly bins: number;
  readonly maxValues: number;
  readonly minGroupSize: number;
  readonly method: SubgroupMethod;
  readonly candidates: number;
  readonly alpha: number;
  readonly samples: number;
  readonly nanPolicy: NanPolicy;
  readonly seed: number;
}

/** The maximum number of candidates: their overlaps are counted in pairs. */
const MAX_CANDIDATES = 100;

/**
 * Checks the options and fills in the defaults.
 * @throws {ValueError | ConfigValidationError} if an option is out of range, or options contradict each other
 */
export function fillSubgroupOptions(options: FindSubgroupsOptions): FilledSubgroupOptions {
  const { columns, yPred, yScore, yTrue, cluster } = options;
  if (!Array.isArray(columns) || columns.length === 0) {
    throw invalidParameter('columns', 'be a list of at least one column', columns);
  }
  const twice = options.columns.find((name, index) => options.columns.indexOf(name) !== index);
  if (twice !== undefined) throw invalidParameter('columns', 'name each column once', `'${twice}' twice`);
  if ((yPred === undefined) === (yScore === undefined)) {
    throw contradiction('yPred', 'Either decisions (yPred) or scores (yScore) are compared, not both or neither.', 'Give one of the two.'); // prettier-ignore
  }
  const outcome = [yPred, yScore, yTrue, cluster].find((name) => name !== undefined && columns.includes(name));
  if (outcome !== undefined) {
    throw contradiction('columns', `Column '${outcome}' has another role, so it cannot describe subgroups.`, 'Leave it out of columns.'); // prettier-ignore
  }
  return {
    ...options,
    metric: metricOf(options),
    maxDepth: requireInteger('maxDepth', options.maxDepth ?? 3, 1, 5),
    bins: requireInteger('bins', options.bins ?? 5, 2, 50),
    maxValues: requireInteger('maxValues', options.maxValues ?? 50, 2, 250),
    minGroupSize: requireInteger('minGroupSize', options.minGroupSize ?? 100, 2),
    method: oneOf('method', options.method ?? 'split', ['split', 'max-t']),
    candidates: requireInteger('candidates', options.candidates ?? 20, 1, MAX_CANDIDATES),
    alpha: requireLevel('alpha', options.alpha ?? 0.05),
    samples: requireInteger('samples', options.samples ?? 1000, 99, 1_000_000),
    nanPolicy: oneOf('nanPolicy', options.nanPolicy ?? 'exclude', ['exclude', 'include']),
    seed: requireSeed(options.seed ?? 42),
  };
}

function metricOf({ yScore, yTrue, metric }: FindSubgroupsOptions): SubgroupMetric {
  const rates = Object.keys(DECISION_MEASURES).filter(isDecisionRate);
  if (yScore !== undefined) {
    if (yTrue === undefined) return oneOf('metric', metric ?? 'mean_score', ['mean_score']);
    throw contradiction('yTrue', 'The mean score needs no true labels (yTrue).', 'Leave yTrue out, or give decisions (yPred).'); // prettier-ignore
  }
  const rate = oneOf('metric', metric ?? 'selection_rate', rates);
  if (rate === 'selection_rate' || yTrue !== undefined) return rate;
  throw contradiction('yTrue', `The metric ${rate} needs true labels (yTrue).`, 'Name the column of true labels.');
}

function contradiction(parameter: string, message: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(message, { context: { parameter }, suggestion });
}
