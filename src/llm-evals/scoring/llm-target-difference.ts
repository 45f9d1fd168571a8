import { finiteOrNull } from '../../internal/values.ts';
import { type LlmMetricFields, LlmMetricResult, type LlmMetricResultJson } from './llm-metric-result.ts';

/** The fields of a difference between two targets. */
export interface LlmTargetDifferenceFields extends LlmMetricFields {
  /** The names of the two targets. `value` is the value of the first minus the value of the second. */
  readonly targets: readonly [first: string, second: string];
  /** The values of the two targets on the items of the comparison; NaN if a value is undefined. */
  readonly targetValues: readonly [first: number, second: number];
}

/**
 * The difference of a metric between two targets; frozen. The key of the difference in a comparison is the key of the
 * metric and the names of the targets, such as `decision_gap.gender[new-old]`.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- the constructor assigns every field
export class LlmTargetDifference extends LlmMetricResult {
  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- it narrows the type of its parameter
  constructor(fields: LlmTargetDifferenceFields) {
    super(fields);
  }

  /** The key of the difference, such as `decision_gap.gender[new-old]`. */
  override get key(): string {
    return `${super.key}${targetsSuffix(this.targets)}`;
  }

  /** Converts the difference to its wire format, in snake_case. An undefined value is null. */
  override toJSON(): LlmTargetDifferenceJson {
    const [first, second] = this.targetValues;
    return {
      ...super.toJSON(),
      targets: this.targets,
      target_values: [finiteOrNull(first), finiteOrNull(second)],
    };
  }
}

/** The wire format of {@link LlmTargetDifference}. */
export interface LlmTargetDifferenceJson extends LlmMetricResultJson {
  readonly targets: readonly [first: string, second: string];
  readonly target_values: readonly [first: number | null, second: number | null];
}

/** See the fields of {@link LlmMetricResult}. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- see above
export interface LlmTargetDifference extends LlmTargetDifferenceFields {}

/** Returns the end of the key of a difference, such as `[new-old]`. */
function targetsSuffix([first, second]: readonly [string, string]): string {
  return `[${first}-${second}]`;
}
