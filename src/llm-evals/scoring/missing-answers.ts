import { groupBy } from '../../internal/values.ts';
import { listed } from '../../document/report-text.ts';
import {
  type DroppedAndKept,
  isUnevenlyMissing,
  missingRows,
  sharesInWords,
} from '../../metrics/compare/missing-rows.ts';
import type { DimensionAnswers } from './dimension-answers.ts';
import type { LlmMetricFields, LlmMetricResult } from './llm-metric-result.ts';

/** The number of answers by value of a dimension. */
export type AnswerCounts = Readonly<Record<string, number>>;

/**
 * Counts the answers without a value by value of the dimension: answers that are missing, and answers that could not be
 * read. Tests whether their shares differ.
 * @param unread the answers that could not be read
 */
export function missingAnswers(
  { groups, items, unanswered }: DimensionAnswers,
  unread: AnswerCounts,
  seed: number,
): Pick<LlmMetricFields, 'missing' | 'warnings'> {
  if (unanswered === undefined) return { missing: null, warnings: [] };
  const answered = (group: string): number =>
    items.reduce((sum, { byGroup }) => sum + (byGroup.get(group)?.length ?? 0), 0);
  const counted: DroppedAndKept = {
    dropped: Float64Array.from(groups, (group) => (unanswered[group] ?? 0) + (unread[group] ?? 0)),
    kept: Float64Array.from(groups, (group) => answered(group) - (unread[group] ?? 0)),
  };
  const { rows: missing } = missingRows(counted, groups, seed);
  const warnings = isUnevenlyMissing(missing) ? [`${UNEVEN} ${sharesInWords(missing, counted, groups)}. ${TRUST}`] : [];
  return { missing, warnings };
}

/** The name of answers without a value in messages. */
export const MISSING_ANSWERS = 'answers without a value';

const UNEVEN = `${MISSING_ANSWERS} are not equally common in all groups`;
const TRUST = 'Their values can hide or reverse a difference';

/** Returns the metrics of which answers without a value are not equally common in all groups. */
export function unevenlyMissing(metrics: readonly LlmMetricResult[]): LlmMetricResult[] {
  return metrics.filter(({ missing }) => isUnevenlyMissing(missing));
}

/** Returns the warnings about answers without a value. Metrics with the same warning share it. */
export function unevenWarnings(metrics: readonly LlmMetricResult[]): string[] {
  const warned = unevenlyMissing(metrics).flatMap(({ key, warnings }) =>
    warnings.filter((text) => text.startsWith(UNEVEN)).map((text) => ({ key, text })),
  );
  return Array.from(
    groupBy(warned, ({ text }) => text),
    ([text, those]) => {
      return `${listed(those.map(({ key }) => key), 3)}: ${text}.`; // prettier-ignore
    },
  );
}
