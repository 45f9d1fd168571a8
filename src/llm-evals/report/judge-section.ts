import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { formatCount, formatNumber } from '../../internal/format.ts';
import type { JudgeBias } from '../outcome/judge.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { intervalText, tableOf } from './report-words.ts';
import { costText } from './spending-section.ts';

/** Builds the section on the judge: what it saw, its biases, and the agreement of its grades. */
export function judgeBlocks({ judge }: LlmEvalResult): ReportBlock[] {
  if (judge === null || judge === undefined) return [];
  const { model, graded, ungraded, neutralized, actual } = judge;
  const biases = [
    biasRow('Position: prefers the answer that is shown first', judge.positionBias),
    biasRow('Verbosity: prefers the longer answer', judge.verbosityBias),
  ].flatMap((row) => (row === null ? [] : [row]));
  const agreement = Object.entries(judge.agreement).map(([outcome, { n, identical, meanAbsoluteDifference }]) => [
    ...[outcome, formatCount(n), `${formatNumber(100 * identical, 1)}%`],
    meanAbsoluteDifference === null ? '-' : formatNumber(meanAbsoluteDifference),
  ]);
  const seen =
    neutralized === null
      ? 'The judge saw names and other words that show the group.'
      : `Before the judge saw a text, ${formatCount(neutralized.names)} names, ${formatCount(neutralized.values)} values of dimensions and ${formatCount(neutralized.genderedWords)} gendered words were neutralized. A text can show the group in other ways too.`;
  const sent = `${formatCount(graded)} replies of ${model} were read, ${formatCount(ungraded)} could not be read or are missing. ${formatCount(actual.requests)} requests were sent to the judge for ${costText(actual.costUsd)}.`;
  return [
    { kind: 'paragraph', text: `${sent} ${seen}` },
    ...tableOf(
      'Biases of the judge, measured on control pairs: from -1 to 1, 0 without a bias',
      ['Bias', numberColumn('Value'), numberColumn('95% interval'), numberColumn('Control answers')],
      biases,
    ),
    ...tableOf(
      'Agreement of repeated grades',
      ['Outcome', numberColumn('Answers'), numberColumn('Equal grades'), numberColumn('Mean difference')],
      agreement,
    ),
  ];
}

function biasRow(name: string, bias: JudgeBias | null): string[] | null {
  return bias === null ? null : [name, formatNumber(bias.value), intervalText(bias.ci), formatCount(bias.n)];
}
