import { DataValidationError } from '../../../exceptions/index.ts';
import type { OptionNames } from '../../../internal/arguments.ts';
import { assertSameLength } from '../../../metrics/reduce/row-arguments.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  onHost,
  type SensitiveSource,
  toColumn,
} from '../../../table/index.ts';
import type { GroupedScores } from '../grouped-scores.ts';
import { drawInSequence, type DrawName, drawStably } from './draw-uniforms.ts';
import type { UnseenGroupsName } from './optimizer-options.ts';
import { probabilityOfPositive, type ThresholdRules } from './threshold-rules.ts';

/** Options of {@link ThresholdOptimizer.predictProba}. */
export interface ThresholdRowOptions {
  /** The group of each row, from the same attributes as in `fit`. */
  readonly sensitive: SensitiveSource;
}

/** Lists the options of {@link ThresholdRowOptions}. */
export const THRESHOLD_ROW_OPTION_NAMES: OptionNames<ThresholdRowOptions> = { sensitive: true };

/** Options of {@link ThresholdOptimizer.predict}. */
export interface ThresholdDrawOptions extends ThresholdRowOptions {
  /**
   * The seed of the draw.
   * @defaultValue the optimizer's own seed
   */
  readonly seed?: number | undefined;
  /**
   * How decisions are drawn. `sequence` draws one random number for each row, so identical rows may get different
   * decisions. Pass all rows in one call: if you call the method separately for each row with the same seed, all rows
   * get the same number. `stable` derives the number from the row's score, group and id, so a row gets the same
   * decision at any position and in every call.
   * @defaultValue 'sequence'
   */
  readonly draw?: DrawName | undefined;
  /**
   * Ids that distinguish rows with the same score and group under `stable`. Without ids, all rows with the same score
   * and group get the same decision.
   * @defaultValue none
   */
  readonly rowIds?: ColumnSource | undefined;
}

/** Lists the options of {@link ThresholdDrawOptions}. */
export const THRESHOLD_DRAW_OPTION_NAMES: OptionNames<ThresholdDrawOptions> = {
  ...THRESHOLD_ROW_OPTION_NAMES,
  seed: true,
  draw: true,
  rowIds: true,
};

/** The decisions of {@link ThresholdOptimizer.decide}, with their probabilities and the settings of the draw. */
export interface ThresholdDecisions {
  /** The decisions, [rows], 0 or 1. */
  readonly decisions: Uint8Array;
  /** The probability that the rules decide 1 for each row, [rows]. */
  readonly probabilities: Float64Array;
  /**
   * Indexes of rows whose group was not in the rows of `fit`, if `unseenGroups` is `reject`. The decision and the
   * probability of these rows are 0. This 0 says nothing about these rows: a person should review them.
   */
  readonly rejected: readonly number[];
  /** Groups that were not in the rows of `fit`. */
  readonly unseenGroups: readonly string[];
  readonly seed: number;
  readonly draw: DrawName;
}

/** {@link ThresholdDecisions} before the draw. */
export type DecisionChances = Pick<ThresholdDecisions, 'probabilities' | 'rejected' | 'unseenGroups'>;

/**
 * Computes the probability of a decision 1 for each row.
 * @throws {DataValidationError} if a group has no rule and `unseenGroups` is `raise`
 */
export function decisionChances(
  { scores, groups }: GroupedScores,
  rules: ThresholdRules,
  policy: UnseenGroupsName,
): DecisionChances {
  const ruleOfGroup = new Map(rules.groups.map(({ group, interpolation }) => [group, interpolation]));
  const ruleOfCode = groups.labels.map((label) => ruleOfGroup.get(label));
  const present = new Set(groups.codes);
  const unseenGroups = groups.labels.filter((_, code) => ruleOfCode[code] === undefined && present.has(code));
  if (policy === 'raise' && unseenGroups.length > 0) throw unseenGroup(unseenGroups, groups);
  const rejected: number[] = [];
  const probabilities = Float64Array.from(scores, (score, row) => {
    const rule = ruleOfCode[groups.codes[row] as number];
    if (rule === undefined && policy === 'reject') rejected.push(row);
    return rule === undefined && policy === 'reject'
      ? 0
      : probabilityOfPositive(rule ?? rules.pooled.interpolation, score);
  });
  return { probabilities, rejected: Object.freeze(rejected), unseenGroups: Object.freeze(unseenGroups) };
}

/** Draws a decision for each row: 1 if a random number in [0, 1) is below the row's probability. */
export async function drawDecisions(
  chances: DecisionChances,
  { scores, groups }: GroupedScores,
  { seed, draw, rowIds }: { seed: number; draw: DrawName; rowIds: ColumnSource | undefined },
): Promise<ThresholdDecisions> {
  const idAt = await readRowIds(rowIds, scores.length);
  const drawn =
    draw === 'sequence'
      ? drawInSequence(scores.length, seed)
      : drawStably(scores.length, seed, (row) => [
          scores[row] as number,
          groups.labels[groups.codes[row] as number] as string,
          idAt(row),
        ]);
  const decisions = Uint8Array.from(drawn, (number, row) => Number(number < (chances.probabilities[row] as number)));
  return Object.freeze({ decisions, ...chances, seed, draw });
}

async function readRowIds(
  source: ColumnSource | undefined,
  rows: number,
): Promise<(row: number) => string | number | null> {
  if (source === undefined) return () => null;
  const ids = toColumn((await onHost({ source })).source, 'rowIds');
  if (ids.kind === 'numeric') {
    assertSameLength({ scores: rows, rowIds: ids.values.length });
    return (row) => ids.values[row] as number;
  }
  assertSameLength({ scores: rows, rowIds: ids.codes.length });
  return (row) => ids.labels[ids.codes[row] as number] ?? null;
}

/**
 * Returns the error for groups without a rule.
 * @param groups the groups of the rows, if they are on the host; the error then names the first row
 */
export function unseenGroup(unseen: readonly string[], groups?: CategoricalColumn): DataValidationError {
  const [first = ''] = unseen;
  const index = groups?.codes.indexOf(groups.labels.indexOf(first));
  const where = index === undefined ? '' : ` at index ${String(index)}`;
  const more = unseen.length === 1 ? '' : ` (and ${String(unseen.length - 1)} more groups)`;
  return new DataValidationError(
    `sensitive holds the group '${first}'${where}${more}, which was not in the rows of fit and has no rule.`,
    {
      code: 'invalid-value',
      context: { argument: 'sensitive', ...(index === undefined ? {} : { index }), value: first, groups: unseen },
      suggestion:
        "Include rows of this group in fit, or set unseenGroups to 'pooled' (one threshold, no constraint) or 'reject' (no decision).",
    },
  );
}
