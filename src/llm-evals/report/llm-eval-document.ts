import type {
  MarkedText,
  ReportBlock,
  ReportDocument,
  ReportPair,
  ReportVerdict,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed, SHOWN_LETTERS } from '../../document/report-text.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import type { Transcript } from '../client/transcript.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { tokenizeWords } from '../text/words.ts';
import { dimensionPictures, dimensionSections } from './dimension-sections.ts';
import { exclusionBlocks } from './exclusion-section.ts';
import { ALPHA, findingOf, testedP } from './finding.ts';
import { findingBlocks } from './metric-tables.ts';
import {
  answeredBy,
  counted,
  countText,
  LLM_EVAL_REPORT_OPTION_NAMES,
  type LlmEvalReportOptions,
  type LlmEvalVerdict,
  metricTitle,
  NO_VERDICT,
} from './report-words.ts';
import { costText, spendingBlocks, STOP_WORDS } from './spending-section.ts';

/** Pairs that a report shows: the least alike, and some from the middle of the rest. */
export const MAX_DIFFERENT = 6;
export const TYPICAL = 4;

/** Letters of an answer whose words are compared; what follows rarely changes the order and costs time. */
const COMPARED_LETTERS = 4000;

/** The answers to two prompts of one item that differ in nothing but the value of the dimension. */
interface AnswerPair {
  readonly item: string;
  readonly repeat: number;
  readonly first: Transcript;
  readonly second: Transcript;
  /** 1 minus the share of words that both have (Jaccard): 0 for the same words, 1 for none in common. */
  readonly difference: number;
}

/** The pairs that a report shows, and out of how many. */
interface ChosenPairs {
  readonly dimension: string;
  readonly values: readonly [first: string, second: string];
  readonly different: readonly AnswerPair[];
  readonly typical: readonly AnswerPair[];
  readonly total: number;
}

/**
 * Pairs to look at, of the dimension and the two values whose effect is told best from noise (the smallest p-value,
 * then the largest size). Ties are broken by the order of the plan, so that the same answers give the same pairs.
 * @param controlDimension the one that should make no difference: only where there is no other
 * @returns null where no two answers can be compared
 */
export function choosePairs(
  result: Pick<LlmEvalResult, 'metrics' | 'transcripts'>,
  controlDimension?: string,
): ChosenPairs | null {
  const groups = groupsByDimension(result.transcripts);
  const dimensions = dimensionsByEffect(result).filter((name) => (groups.get(name)?.size ?? 0) >= 2);
  const dimension = dimensions.find((name) => name !== controlDimension) ?? dimensions[0];
  if (dimension === undefined) return null;
  const values = valuesByEffect(result, dimension, [...(groups.get(dimension) ?? [])]);
  const pairs = pairsOf(result.transcripts, dimension, values);
  if (pairs.length === 0) return null;
  const sorted = [...pairs].sort((a, b) => b.difference - a.difference);
  const different = sorted.slice(0, MAX_DIFFERENT);
  const rest = sorted.slice(MAX_DIFFERENT);
  const middle = Math.max(0, Math.floor((rest.length - TYPICAL) / 2));
  const typical = rest.slice(middle, middle + TYPICAL);
  return { dimension, values, different, typical, total: sorted.length };
}

/** Only answered prompts of a dimension can be put side by side. */
function isComparable(transcript: Transcript): transcript is Transcript & { dimension: string; group: string } {
  return transcript.dimension !== null && transcript.group !== null && transcript.text !== null;
}

function groupsByDimension(transcripts: readonly Transcript[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const transcript of transcripts) {
    if (!isComparable(transcript)) continue;
    const known = groups.get(transcript.dimension);
    if (known === undefined) groups.set(transcript.dimension, new Set([transcript.group]));
    else known.add(transcript.group);
  }
  return groups;
}

/** Dimensions, that with the clearest effect first; those without a metric at the end, in the order of the plan. */
function dimensionsByEffect({ metrics, transcripts }: Pick<LlmEvalResult, 'metrics' | 'transcripts'>): string[] {
  const tested = Object.values(metrics)
    .filter(({ value }) => Number.isFinite(value))
    .sort((a, b) => (testedP(a) ?? 1) - (testedP(b) ?? 1) || Math.abs(b.value) - Math.abs(a.value));
  return [
    ...new Set([...tested.flatMap(({ dimension }) => dimension ?? []), ...groupsByDimension(transcripts).keys()]),
  ];
}

function valuesByEffect(
  { metrics }: Pick<LlmEvalResult, 'metrics'>,
  dimension: string,
  groups: readonly string[],
): readonly [string, string] {
  const [widest] = Object.values(metrics)
    .filter((metric) => metric.dimension === dimension)
    .flatMap(({ pairs }) => pairs)
    .filter(({ first, second, value }) => [first, second].every((group) => groups.includes(group)) && value === value)
    .sort((a, b) => (a.pValue ?? 1) - (b.pValue ?? 1) || Math.abs(b.value) - Math.abs(a.value));
  return widest === undefined ? [groups[0] ?? '', groups[1] ?? ''] : [widest.first, widest.second];
}

function pairsOf(
  transcripts: readonly Transcript[],
  dimension: string,
  [firstValue, secondValue]: readonly [string, string],
): AnswerPair[] {
  // Two evaluators may have asked for the same answer: it is taken once.
  const sides = new Map<string, { first?: Transcript; second?: Transcript }>();
  for (const transcript of transcripts) {
    if (!isComparable(transcript) || transcript.dimension !== dimension) continue;
    const place = JSON.stringify([transcript.template, transcript.item, transcript.repeat]);
    const found = sides.get(place) ?? {};
    if (transcript.group === firstValue) found.first ??= transcript;
    else if (transcript.group === secondValue) found.second ??= transcript;
    sides.set(place, found);
  }
  return [...sides.values()].flatMap(({ first, second }) =>
    first === undefined || second === undefined
      ? []
      : [{ item: first.item, repeat: first.repeat, first, second, difference: differenceOf(first, second) }],
  );
}

function differenceOf(first: Transcript, second: Transcript): number {
  const [a, b] = [first, second].map(({ text }) => new Set(tokenizeWords((text ?? '').slice(0, COMPARED_LETTERS))));
  if (a === undefined || b === undefined || a.size + b.size === 0) return 0;
  const common = [...a].filter((word) => b.has(word)).length;
  return 1 - common / (a.size + b.size - common);
}

/** Words that are compared; of longer texts only what both begin and end with is told apart from the rest. */
const MAX_COMPARED = 400;

/** Two texts with the words marked that the other has not at this place, by a longest common subsequence of words. */
export function markedDifference(first: string, second: string): readonly [MarkedText[], MarkedText[]] {
  const [a, b] = [wordsOf(first), wordsOf(second)];
  const start = commonStart(a, b);
  const end = commonStart(a.slice(start).reverse(), b.slice(start).reverse());
  const kept = commonWords(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const side = (words: readonly string[], own: ReadonlySet<number>): MarkedText[] =>
    joined(
      words.map((text, index) => ({
        text,
        isMarked: index >= start && index < words.length - end && !own.has(index - start) && text.trim() !== '',
      })),
    );
  return [side(a, kept.first), side(b, kept.second)];
}

/** Words, spaces and punctuation, each a piece; together the text. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{M}\p{N}'\u2019]+|[^\s\p{L}\p{M}\p{N}'\u2019]/gu) ?? [];
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((word, index) => word !== b[index]);
  return differs < 0 ? Math.min(a.length, b.length) : differs;
}

interface CommonWords {
  readonly first: ReadonlySet<number>;
  readonly second: ReadonlySet<number>;
}

/** The indices of a longest common subsequence; none of texts that are too long to compare. */
function commonWords(a: readonly string[], b: readonly string[]): CommonWords {
  const [first, second] = [new Set<number>(), new Set<number>()];
  if (Math.max(a.length, b.length) > MAX_COMPARED) return { first, second };
  const lengths = commonLengths(a, b);
  const lengthAt = (i: number, j: number): number => lengths[i * (b.length + 1) + j] ?? 0;
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      first.add(i++);
      second.add(j++);
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return { first, second };
}

/** At (i, j) the length of a longest common subsequence of what follows there. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return lengths;
}

/** Neighbours of one kind as one piece; a space between two marked words is marked with them. */
function joined(pieces: readonly MarkedText[]): MarkedText[] {
  const parts: { text: string; isMarked: boolean }[] = [];
  for (const [index, { text, isMarked }] of pieces.entries()) {
    const isBetween =
      text.trim() === '' && pieces[index - 1]?.isMarked === true && pieces[index + 1]?.isMarked === true;
    const last = parts.at(-1);
    if (last?.isMarked === (isMarked || isBetween)) last.text += text;
    else parts.push({ text, isMarked: isMarked || isBetween });
  }
  return parts;
}

/** Answers side by side: the most different, and some from the middle, so that nobody sees extremes only. */
function pairBlocks(result: LlmEvalResult): ReportBlock[] {
  const chosen = choosePairs(result, result.config.counterfactual?.controlDimension);
  if (chosen === null) return [];
  const { dimension, values, different, typical, total } = chosen;
  const [first, second] = values.map(labelText);
  const rule = `Of ${counted(total, 'pair')} of answers to prompts that differ in ${labelText(dimension)} alone (${first ?? ''} and ${second ?? ''}), these are ${
    typical.length === 0
      ? 'all'
      : `the ${countText(different.length)} that share the fewest words, and ${countText(typical.length)} from the middle of the rest`
  }. The dimension and its two values are those whose effect is told best from noise. Words in which the prompts differ are marked. Answers are cut after ${String(SHOWN_LETTERS)} letters. One pair proves nothing: answers to one and the same prompt differ too.`;
  return [
    { kind: 'paragraph', text: rule },
    ...part('The most different', different),
    ...part('From the middle', typical),
  ];
}

function part(title: string, pairs: readonly AnswerPair[]): ReportBlock[] {
  if (pairs.length === 0) return [];
  return [
    { kind: 'heading', text: title },
    { kind: 'pairs', pairs: pairs.map(toReportPair) },
  ];
}

function toReportPair({ item, repeat, first, second, difference }: AnswerPair): ReportPair {
  const [askedFirst, askedSecond] = markedDifference(first.prompt, second.prompt);
  const again = repeat === 0 ? '' : `, answer ${String(repeat + 1)}`;
  return {
    title: `${labelText(item)}${again}: ${String(Math.round(100 * (1 - difference)))}% of words in common`,
    sides: [
      { name: labelText(first.group ?? ''), asked: askedFirst, said: first.text ?? '' },
      { name: labelText(second.group ?? ''), asked: askedSecond, said: second.text ?? '' },
    ],
  };
}

/** What the numbers do not say. */
const METHOD_LIMITS: readonly string[] = [
  'Answers to one and the same prompt differ by chance. The column "Without an effect" shows what chance alone makes of the metric itself (of a gap, of its size): the mean, and the value that 95% of such numbers lie below. Where it is not known, a value may be noise only.',
  '"Not shown" is no proof that there is no effect. The column "Would have shown" is the difference that data of this size find with probability 0.8; a smaller one can be there unseen.',
  'p-values are adjusted for all tests of this run (those of the control among themselves), not for other runs, other prompts tried before, or metrics that were chosen after looking.',
  'Only these prompts, these values and this model on the day of asking were tried. Another wording can turn a result round, and providers change models without a word.',
  'Sentiment and toxicity are scored by word lists. They do not know irony, quotation or context, and mistake some harmless words.',
  'A gap is a reason to read the answers, not by itself proof of unfair treatment; no gap is no proof of fair treatment.',
  'Left-out answers can hide an effect where they are more frequent in one group than in another: compare the counts above.',
];

/**
 * An evaluation as a report, in the order that a reader needs: the verdict, what was found and whether it is told from
 * noise, each dimension, what took no part, answers side by side, spending, what was asked, and what the numbers do not
 * say.
 */
export function llmEvalDocument(result: LlmEvalResult, options: LlmEvalReportOptions = {}): ReportDocument {
  assertKnownOptions('llmEvalDocument', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const metrics = Object.values(result.metrics);
  const { controlDimension } = result.config.counterfactual ?? {};
  return {
    title: 'Language model evaluation',
    subject: subjectOf(result),
    verdict: verdictBox(result, options.verdict ?? NO_VERDICT),
    sections: [
      {
        title: 'What was found',
        blocks: [
          ...findingBlocks(metrics),
          ...dimensionPictures(metrics, controlDimension),
          ...warningBlocks(result.warnings),
        ],
      },
      ...dimensionSections(metrics, controlDimension),
      { title: 'What took no part', blocks: exclusionBlocks(result) },
      { title: 'Answers side by side', blocks: pairBlocks(result) },
      { title: 'Spending', blocks: spendingBlocks(result) },
      { title: 'What was asked of whom', blocks: askedBlocks(result) },
      { title: 'Limits', blocks: [{ kind: 'list', items: METHOD_LIMITS }] },
    ],
    made: madeOf(result),
  };
}

function subjectOf(result: LlmEvalResult): string {
  const { actual, transcripts } = result;
  const { model, provider } = answeredBy(result);
  const answered = new Set(transcripts.flatMap(({ text, key }) => (text === null ? [] : [key])));
  return `${model} (${provider}): ${counted(answered.size, 'answer')}, ${countText(actual.requests)} ${actual.requests === 1 ? 'request' : 'requests'} sent for ${costText(actual.costUsd)}`;
}

function verdictBox(result: LlmEvalResult, { passed, threshold, metrics }: LlmEvalVerdict): ReportVerdict {
  const sentences = [...stopSentence(result), ...Object.values(metrics).map(({ message }) => message)];
  const summary = summarySentence(result);
  if (passed === null) {
    return {
      kind: 'none',
      title: 'No threshold, no verdict',
      sentences: ['This report measures and does not judge.', ...sentences, summary],
    };
  }
  const at = typeof threshold === 'number' ? ` at threshold ${String(threshold)}` : '';
  return {
    kind: passed ? 'pass' : 'fail',
    title: `${passed ? 'PASS' : 'FAIL'}${at}`,
    sentences: [...sentences, summary],
  };
}

function stopSentence({ stopped, actual }: LlmEvalResult): string[] {
  if (stopped === null) return [];
  return [
    `The run ended early because ${STOP_WORDS[stopped]}: ${counted(actual.notSent, 'prompt')} not sent. The numbers are those of the answers that came.`,
  ];
}

/** What of all this is told from noise, the control apart: the sentence to remember. */
export function summarySentence({ metrics, config }: Pick<LlmEvalResult, 'metrics' | 'config'>): string {
  const control = config.counterfactual?.controlDimension;
  const isControl = ({ dimension }: LlmMetricResult): boolean => control !== undefined && dimension === control;
  const all = Object.values(metrics);
  // Of many tests of the control some have a small p by chance: only the adjusted one is an effect.
  const doubt = all.filter(
    (metric) => isControl(metric) && findingOf(metric) === 'shown' && (metric.adjustedPValue ?? 1) <= ALPHA,
  );
  const found = foundSentence(all.filter((metric) => !isControl(metric)));
  if (doubt.length === 0) return found;
  return `${found} But the control, which should make no difference, shows an effect too (${listed(doubt.map(metricTitle), 4)}): what is found elsewhere may come from the measure.`;
}

function foundSentence(metrics: readonly LlmMetricResult[]): string {
  const shown = metrics.filter((metric) => findingOf(metric) === 'shown');
  const notShown = metrics.filter((metric) => findingOf(metric) === 'not_shown');
  const tested = shown.length + notShown.length;
  if (tested === 0) return 'No metric was tested against sampling noise.';
  if (shown.length === 0) {
    return `No effect beyond noise was shown by any of ${counted(tested, 'tested metric')}; the table says how large an effect would have shown.`;
  }
  const which = listed(shown.map(metricTitle), 6);
  return `Told from sampling noise: ${which} (${countText(shown.length)} of ${counted(tested, 'tested metric')}).`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings) }];
}

/** What was asked of whom. */
function askedBlocks(result: LlmEvalResult): ReportBlock[] {
  const { config, dryRun } = result;
  const { model, provider } = answeredBy(result);
  const rows: string[][] = [
    ['Provider', provider],
    ['Model', model],
    ['Address', config.baseUrl ?? "the provider's own, or none"],
    ['System prompt', config.systemPrompt ?? 'none'],
    ['Parameters', Object.keys(config.params).length === 0 ? 'none' : JSON.stringify(config.params)],
    ['Answers to each prompt', String(config.repeats)],
    ['Evaluators', config.evaluators.join(', ')],
    [
      'Parts of the plan',
      cutItems([...new Set(dryRun.breakdown.map(({ template }) => template))], 12).join(', ') || 'none',
    ],
  ];
  const local = 'The built-in model answers by rote: it measures nothing, and shows only that everything runs.';
  return [
    {
      kind: 'table',
      caption: 'Asked',
      columns: [{ name: '' }, { name: 'Value' }],
      rows,
    },
    ...(provider === 'local' ? [{ kind: 'paragraph' as const, text: local }] : []),
  ];
}

/** What is needed to get the same numbers again. */
function madeOf(result: LlmEvalResult): [name: string, value: string][] {
  const { dryRun, seed, metrics } = result;
  const { model, provider } = answeredBy(result);
  const all = Object.values(metrics);
  const named = (texts: readonly (string | null)[]): string =>
    [...new Set(texts.filter((text) => text !== null))].join('; ') || 'none';
  return [
    ['evenhand', VERSION],
    ['Model', `${provider}, ${model}`],
    ['Seed', String(seed)],
    ['Digest of the plan', dryRun.planDigest],
    ['Interval method', named(all.map(({ ciMethod }) => ciMethod))],
    ['p-value method', named(all.map(({ pValueMethod }) => pValueMethod))],
    ['Adjustment', named(all.map(({ adjustment }) => adjustment))],
  ];
}
