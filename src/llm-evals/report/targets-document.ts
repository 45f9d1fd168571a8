import type { ReportBlock, ReportDocument, ReportSection, ReportVerdict } from '../../document/report-document.ts';
import { noteBlocks, numberColumn } from '../../document/report-document.ts';
import { cutItems, labelText, listed, SHOWN_LETTERS } from '../../document/report-text.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { VERSION } from '../../internal/version.ts';
import type { Transcript } from '../client/transcript.ts';
import { countText } from '../dry-run/dry-run-estimate.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../run/llm-targets-result.ts';
import { jaccardSimilarity } from '../text/similarity/jaccard-similarity.ts';
import { findingOf } from './finding.ts';
import { evaluationSections, markedDifference, METHOD_LIMITS, verdictOf } from './llm-eval-document.ts';
import { answeredBy, type LlmEvalVerdict, distinctTexts, metricTitle, tableOf } from './report-words.ts';
import { costText, sentText, STOP_WORDS } from './spending-section.ts';
import {
  comparedMetrics,
  differenceCharts,
  differenceSentences,
  differenceTable,
  matrixBlocks,
  targetsTitle,
} from './targets-matrix.ts';

/** The number of prompts whose answers of two targets are shown next to each other. */
const MAX_SHOWN = 6;

/** The number of characters at the start of each answer that are compared. */
const COMPARED_LETTERS = 4000;

/** The limits of a comparison, in addition to those of each evaluation. */
const LIMITS: readonly string[] = [
  'A difference compares two targets on the same items: its interval and its p-value are for these items, these values and this day. They do not say which target is better for other prompts.',
  'A difference of gaps has a sign. It says that the gap moved, not that it became larger. The rows "size, without the sign" say by how much the gap became larger or smaller. They have an interval but no test of their own.',
  'Earlier answers (baseline) are from another day. A provider may have changed the model since then, so a difference can have other causes than a new prompt.',
];

/**
 * Builds the report document of a run with several targets: what differs, a table of metrics by target, all
 * differences, answers of two targets side by side, and the sections of each target.
 */
export function targetsDocument(result: LlmTargetsResult, verdict: LlmEvalVerdict): ReportDocument {
  const { targets } = result;
  return {
    title: 'Language model comparison',
    subject: subjectOf(result),
    verdict: comparisonVerdict(result, verdict),
    sections: [
      {
        title: 'What differs',
        blocks: [
          { kind: 'list', items: cutItems(differenceSentences(result)) },
          ...differenceCharts(result),
          ...noteBlocks('Warnings', result.warnings),
        ],
      },
      { title: 'Metrics by target', blocks: matrixBlocks(result) },
      { title: 'All differences', blocks: differenceTable(result) },
      { title: 'Answers of two targets side by side', blocks: answerBlocks(result) },
      ...Object.entries(targets).map(([name, target]) => targetSection(name, target)),
      { title: 'Targets and spending', blocks: targetBlocks(result) },
      { title: 'Limits', blocks: [{ kind: 'list', items: [...LIMITS, ...METHOD_LIMITS] }] },
    ],
    made: madeOf(result),
  };
}

function subjectOf({ targets, actual }: LlmTargetsResult): string {
  const names = Object.entries(targets).map(([name, target]) => `${name} (${answeredBy(target).model})`);
  return `${listed(names, 6)}; ${sentText(actual)}`;
}

/** Returns the verdict of a comparison. */
export function comparisonVerdict(result: LlmTargetsResult, verdict: LlmEvalVerdict): ReportVerdict {
  const { stopped, actual } = result;
  const ended =
    stopped === null
      ? []
      : [
          `The run ended early because ${STOP_WORDS[stopped]}: ${counted(actual.notSent, 'prompt')} not sent. The results use only the answers received before it ended.`,
        ];
  return verdictOf(verdict, ended, summarySentence(result), result.warnings);
}

function summarySentence(result: LlmTargetsResult): string {
  const tested = comparedMetrics(result);
  const shown = tested.filter((each) => findingOf(each) === 'shown');
  const count = shown.length + tested.filter((each) => findingOf(each) === 'not_shown').length;
  if (count === 0) return 'No difference between targets was tested against sampling noise.';
  if (shown.length === 0) {
    return `No difference between targets beyond noise was shown by any of ${counted(count, 'tested difference')}.`;
  }
  const which = listed(
    shown.map((each) => `${metricTitle(each)} (${targetsTitle(each.targets)})`),
    6,
  );
  return `Differences that are statistically distinguishable from sampling noise: ${which} (${formatCount(shown.length)} of ${counted(count, 'tested difference')}).`;
}

/** Puts the usual sections of an evaluation into one section that can be folded. */
function targetSection(name: string, result: LlmEvalResult): ReportSection {
  const { model, provider } = answeredBy(result);
  const blocks = evaluationSections(result)
    .filter((section) => section.blocks.length > 0)
    .flatMap((section): ReportBlock[] => [{ kind: 'heading', text: section.title }, ...section.blocks]);
  return { title: `Target ${labelText(name)}: ${model} (${provider})`, blocks, isFolded: true };
}

/** Shows the answers of the first two targets to the same prompts. The answers that differ most come first. */
function answerBlocks({ targets }: LlmTargetsResult): ReportBlock[] {
  const [first, second] = Object.entries(targets);
  if (first === undefined || second === undefined) return [];
  const others = new Map(second[1].transcripts.map((transcript) => [nameOf(transcript), transcript]));
  const seen = new Set<string>();
  const pairs = first[1].transcripts.flatMap((one) => {
    const other = others.get(nameOf(one));
    if (other === undefined || other.text === null || one.text === null || seen.has(one.key)) return [];
    seen.add(one.key);
    const [a, b] = [one.text.slice(0, COMPARED_LETTERS), other.text.slice(0, COMPARED_LETTERS)];
    return [{ one, other, common: jaccardSimilarity(a, b) }];
  });
  if (pairs.length === 0) return [];
  const shown = [...pairs].sort((a, b) => a.common - b.common).slice(0, MAX_SHOWN);
  const names = `${labelText(first[0])} and ${labelText(second[0])}`;
  const text = `Of ${counted(pairs.length, 'prompt')} that ${names} have answered, these are the ${formatCount(shown.length)} whose answers share the fewest words. Answers are cut after ${String(SHOWN_LETTERS)} characters. They show what changed, not how often.`;
  return [
    { kind: 'paragraph', text },
    {
      kind: 'pairs',
      pairs: shown.map(({ one, other, common }) => {
        const [askedFirst, askedSecond] = markedDifference(one.prompt, other.prompt);
        const group = one.group === null ? '' : `, ${labelText(one.group)}`;
        return {
          title: `${labelText(one.item)}${group}: ${String(Math.round(100 * common))}% of words in common`,
          sides: [
            { name: labelText(first[0]), asked: askedFirst, said: one.text ?? '' },
            { name: labelText(second[0]), asked: askedSecond, said: other.text ?? '' },
          ],
        };
      }),
    },
  ];
}

function nameOf({ template, item, dimension, group, repeat }: Transcript): string {
  return JSON.stringify([template, item, dimension, group, repeat]);
}

/** Lists the settings and the spending of each target. */
function targetBlocks(result: LlmTargetsResult): ReportBlock[] {
  const settings = Object.entries(result.targets).map(([name, target]) => {
    const { config } = target;
    const { model, provider } = answeredBy(target);
    const params = Object.keys(config.params).length === 0 ? 'none' : JSON.stringify(config.params);
    return [labelText(name), provider, model, config.systemPrompt ?? 'none', params];
  });
  const spending = [...Object.entries(result.targets), ['All targets', result] as const].map(
    ([name, { planned, actual }]) => [
      labelText(name),
      ...[planned.requests, actual.requests, actual.answered, actual.cached].map(countText),
      ...[actual.failed, actual.notSent, actual.inputTokens, actual.outputTokens].map(countText),
      costText(actual.costUsd),
    ],
  );
  const counts = [
    'Planned',
    'Sent',
    'Answered',
    'Known',
    'Failed',
    'Not sent',
    'Input tokens',
    'Output tokens',
    'Cost',
  ];
  return [
    ...tableOf('Targets', ['Target', 'Provider', 'Model', 'System prompt', 'Parameters'], settings),
    ...tableOf('Spending', ['Target', ...counts.map(numberColumn)], spending),
  ];
}

function madeOf({ targets, differences, seed }: LlmTargetsResult): [name: string, value: string][] {
  const all = Object.values(differences);
  return [
    ['evenhand', VERSION],
    ['Seed', String(seed)],
    ...Object.entries(targets).map(([name, { dryRun }]): [string, string] => [
      `Digest of the plan (${name})`,
      dryRun.planDigest,
    ]),
    ['Interval method', distinctTexts(all.map(({ ciMethod }) => ciMethod))],
    ['p-value method', distinctTexts(all.map(({ pValueMethod }) => pValueMethod))],
    ['Adjustment', distinctTexts(all.map(({ adjustment }) => adjustment))],
  ];
}
