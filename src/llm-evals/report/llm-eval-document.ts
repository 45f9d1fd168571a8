import type {
  MarkedText,
  ReportBlock,
  ReportDocument,
  ReportPair,
  ReportSection,
  ReportVerdict,
} from '../../document/report-document.ts';
import { beforeRelying, cutItems, labelText, listed, SHOWN_LETTERS } from '../../document/report-text.ts';
import { groupBy } from '../../internal/values.ts';
import { VERSION } from '../../internal/version.ts';
import type { Transcript } from '../client/transcript.ts';
import { alignWords } from '../plan/counterfactual/word-diff.ts';
import type { CollectedAnswers, LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { MISSING_ANSWERS, unevenlyMissing } from '../scoring/missing-answers.ts';
import { jaccardSimilarity } from '../text/similarity/jaccard-similarity.ts';
import { dimensionPictures, dimensionSections } from './dimension-sections.ts';
import { exclusionBlocks } from './exclusion-section.ts';
import { ALPHA, findingOf, testedP } from './finding.ts';
import { judgeBlocks } from './judge-section.ts';
import { findingBlocks } from './metric-tables.ts';
import { answeredBy, distinctTexts, type LlmEvalVerdict, metricTitle, tableOf, warningNote } from './report-words.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { sentText, spendingBlocks, STOP_WORDS } from './spending-section.ts';

/**
 * The number of answer pairs that a report shows because their answers differ most. `TYPICAL` is the number of
 * additional pairs, which have a medium difference.
 */
export const MAX_DIFFERENT = 6;
export const TYPICAL = 4;

/**
 * The number of characters at the start of each answer that are compared. Later text rarely changes the order of the
 * pairs, and comparing it takes time.
 */
const COMPARED_LETTERS = 4000;

/** Two answers, to prompts that differ only in the value of the dimension. */
interface AnswerPair {
  readonly item: string;
  readonly repeat: number;
  readonly first: Transcript;
  readonly second: Transcript;
  /** The Jaccard distance between the words of the two answers. 0 means the same words, and 1 means no common words. */
  readonly difference: number;
}

/** The pairs that a report shows, and the total number of pairs. */
interface ChosenPairs {
  readonly dimension: string;
  readonly values: readonly [first: string, second: string];
  readonly different: readonly AnswerPair[];
  readonly typical: readonly AnswerPair[];
  readonly total: number;
}

/**
 * Chooses the answer pairs that a report shows. All pairs are from one dimension and two of its values. The function
 * chooses the dimension and the values with the smallest p-value. If p-values are equal, it chooses those with the
 * largest absolute value. If absolute values are equal too, the order of the plan decides. The same answers therefore
 * always give the same pairs.
 * @param controlDimension the dimension that should make no difference. The control dimension is chosen only if there
 *   is no other dimension
 * @returns null if no two answers can be compared
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

/** Returns whether a transcript has a dimension, a group and an answer, so that it can be compared. */
function isComparable(transcript: Transcript): transcript is Transcript & { dimension: string; group: string } {
  return transcript.dimension !== null && transcript.group !== null && transcript.text !== null;
}

function groupsByDimension(transcripts: readonly Transcript[]): Map<string, Set<string>> {
  const byDimension = groupBy(transcripts.filter(isComparable), ({ dimension }) => dimension);
  return new Map([...byDimension].map(([name, those]) => [name, new Set(those.map(({ group }) => group))]));
}

/**
 * Sorts dimensions by effect. The dimension with the smallest p-value comes first. Dimensions without a metric come
 * last, in the order of the plan.
 */
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
  // An answer that two evaluators have requested counts once.
  const own = transcripts.filter((transcript) => isComparable(transcript) && transcript.dimension === dimension);
  const prompts = groupBy(own, ({ template, item, repeat }) => JSON.stringify([template, item, repeat]));
  return [...prompts.values()].flatMap((those) => {
    const first = those.find(({ group }) => group === firstValue);
    const second = those.find(({ group }) => group === secondValue);
    if (first === undefined || second === undefined) return [];
    return [{ item: first.item, repeat: first.repeat, first, second, difference: differenceOf(first, second) }];
  });
}

function differenceOf(first: Transcript, second: Transcript): number {
  const comparedText = ({ text }: Transcript): string => (text ?? '').slice(0, COMPARED_LETTERS);
  return 1 - jaccardSimilarity(comparedText(first), comparedText(second));
}

/** Highlights the words in which two texts differ: all words outside their longest common subsequence. */
export function markedDifference(first: string, second: string): readonly [MarkedText[], MarkedText[]] {
  const aligned = alignWords(wordsOf(first), wordsOf(second));
  const marked = (own: 'first' | 'second'): MarkedText[] =>
    joined(
      aligned
        .filter(({ side }) => side === 'both' || side === own)
        .flatMap(({ words, side }) => words.map((text) => ({ text, isMarked: side === own && text.trim() !== '' }))),
    );
  return [marked('first'), marked('second')];
}

/** Splits a text into words, spaces and punctuation. The returned parts, concatenated, are the original text. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{M}\p{N}'\u2019]+|[^\s\p{L}\p{M}\p{N}'\u2019]/gu) ?? [];
}

/**
 * Joins adjacent parts of a text that are both highlighted or both not highlighted. A space between two highlighted
 * words is highlighted too.
 */
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

/**
 * Shows pairs of answers next to each other. The pairs are the most different pairs and some pairs from the middle, so
 * that a report shows not only extremes.
 */
function pairBlocks(result: LlmEvalResult): ReportBlock[] {
  const chosen = choosePairs(result, result.config.counterfactual?.controlDimension);
  if (chosen === null) return [];
  const { dimension, values, different, typical, total } = chosen;
  const [first, second] = values.map(labelText);
  const rule = `Of ${counted(total, 'pair')} of answers to prompts that differ only in ${labelText(dimension)} (${first ?? ''} and ${second ?? ''}), these are ${
    typical.length === 0
      ? 'all'
      : `the ${formatCount(different.length)} that share the fewest words, and ${formatCount(typical.length)} from the middle of the rest`
  }. The dimension and its two values have the clearest effect (the smallest p-value). Words in which the prompts differ are marked. Answers are cut after ${String(SHOWN_LETTERS)} characters. One pair proves nothing: answers to the same prompt differ too.`;
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

const MODEL_LIMIT =
  'The results cover only these prompts, these values and this model on the day of the run. A different wording can reverse a result, and providers change models without notice.';

const COLLECTED_LIMIT =
  'The results cover only these answers. The run cannot check how they were produced or selected, or whether the prompts of an item differ in more than the compared value.';

/** The limits of the method. A report states them in words, because its numbers do not show them. */
export const METHOD_LIMITS: readonly string[] = [
  'Answers to the same prompt differ by chance. The column "Without an effect" shows the distribution of the metric under chance alone: its mean and its 95th percentile. For a gap, it is the distribution of the absolute value. If it is unknown, a value may be only noise.',
  '"Not shown" is not proof that there is no effect. The column "Minimum detectable difference (80% power)" is the difference that data of this size find with probability 0.8. A smaller difference can exist undetected.',
  'p-values are adjusted for all tests of this run. The tests of the control are adjusted separately. The p-values are not adjusted for other runs, for prompts tried before, or for metrics chosen after seeing the results.',
  MODEL_LIMIT,
  'Sentiment and toxicity are scored by word lists. They do not recognize irony, quotation or context, and misjudge some harmless words.',
  'A gap is a reason to read the answers. A gap alone does not prove unfair treatment, and the absence of a gap does not prove fair treatment.',
  'Excluded answers can hide an effect if they are more frequent in one group than in another. Compare the counts above.',
];

/** Returns the limits. Who wrote collected answers, and when, is not known. */
function limitsOf({ collected }: LlmEvalResult): readonly string[] {
  if (collected === undefined || collected === null) return METHOD_LIMITS;
  return METHOD_LIMITS.map((limit) => (limit === MODEL_LIMIT ? COLLECTED_LIMIT : limit));
}

/** Builds the report document of the evaluation of one model. */
export function evaluationDocument(result: LlmEvalResult, verdict: LlmEvalVerdict): ReportDocument {
  return {
    title: 'Language model evaluation',
    subject: subjectOf(result),
    verdict: verdictBox(result, verdict),
    sections: [
      ...evaluationSections(result),
      { title: 'Spending', blocks: spendingBlocks(result) },
      { title: 'Configuration', blocks: askedBlocks(result) },
      { title: 'Limits', blocks: [{ kind: 'list', items: limitsOf(result) }] },
    ],
    made: madeOf(result),
  };
}

/** Builds the sections of the results of an evaluation: the findings, each dimension, and the answers. */
export function evaluationSections(result: LlmEvalResult): ReportSection[] {
  const metrics = Object.values(result.metrics);
  const { controlDimension } = result.config.counterfactual ?? {};
  return [
    {
      title: 'Findings',
      blocks: [
        ...findingBlocks(metrics),
        ...dimensionPictures(metrics, controlDimension),
        ...warningNote(result.warnings),
      ],
    },
    ...dimensionSections(metrics, controlDimension),
    { title: 'Excluded answers', blocks: exclusionBlocks(result) },
    { title: 'Judge', blocks: judgeBlocks(result) },
    { title: 'Answers side by side', blocks: pairBlocks(result) },
  ];
}

function subjectOf(result: LlmEvalResult): string {
  const { actual, transcripts } = result;
  const { model, provider } = answeredBy(result);
  const answered = new Set(transcripts.flatMap(({ text, key }) => (text === null ? [] : [key])));
  return `${model} (${provider}): ${counted(answered.size, 'answer')}, ${sentText(actual)}`;
}

/**
 * Returns the verdict of an evaluation: the messages of the gate, the reason why the run ended early, and the main
 * findings.
 */
export function verdictBox(result: LlmEvalResult, verdict: LlmEvalVerdict): ReportVerdict {
  return verdictOf(verdict, stopSentence(result), summarySentence(result, verdict), result.warnings);
}

/**
 * Returns the verdict box of a report: why the run ended early, the messages of the gate, the main findings, and a
 * pointer from a pass to the warnings.
 */
export function verdictOf(
  { passed, threshold, metrics }: LlmEvalVerdict,
  ended: readonly string[],
  summary: string,
  warnings: readonly string[],
): ReportVerdict {
  const sentences = [...ended, ...Object.values(metrics).map(({ message }) => message)];
  if (passed === null) {
    return {
      kind: 'none',
      title: 'No threshold, no verdict',
      sentences: ['This report measures and does not judge.', ...sentences, summary],
    };
  }
  const at = typeof threshold === 'number' ? ` at threshold ${String(threshold)}` : '';
  const failed = Object.values(metrics).filter((metric) => !metric.passed);
  const isUndefined = failed.length > 0 && failed.every(({ status }) => status === 'undefined');
  const kind = passed ? 'pass' : isUndefined ? 'undefined' : 'fail';
  return {
    kind,
    title: `${kind.toUpperCase()}${at}`,
    sentences: [...sentences, summary, ...(passed ? beforeRelying(warnings.length) : [])],
  };
}

function stopSentence({ stopped, actual }: LlmEvalResult): string[] {
  if (stopped === null) return [];
  return [
    `The run ended early because ${STOP_WORDS[stopped]}: ${counted(actual.notSent, 'prompt')} not sent. The results use only the answers received before it ended.`,
  ];
}

/** Summarizes which effects are statistically distinguishable from noise. Reports the control separately. */
function summarySentence(
  { metrics, config, collected }: Pick<LlmEvalResult, 'metrics' | 'config' | 'collected'>,
  verdict: LlmEvalVerdict,
): string {
  const control = config.counterfactual?.controlDimension;
  const isControl = ({ dimension }: LlmMetricResult): boolean => control !== undefined && dimension === control;
  const all = Object.values(metrics);
  // If the control has many tests, some p-values are small by chance. An effect of the control therefore counts only if
  // it is shown by an adjusted p-value.
  const doubt = all.filter(
    (metric) => isControl(metric) && findingOf(metric) === 'shown' && (metric.adjustedPValue ?? 1) <= ALPHA,
  );
  // The message of the gate warns of the metrics that it judges.
  const others = all.filter(({ key }) => !Object.hasOwn(verdict.metrics, key));
  const found = [
    ...uncomparedSentences(collected?.uncompared ?? []),
    foundSentence(all.filter((metric) => !isControl(metric))),
    ...unevenSentences(others),
  ].join(' ');
  if (doubt.length === 0) return found;
  return `${found} But the control, which should make no difference, shows an effect too (${listed(doubt.map(metricTitle), 4)}): the other findings may be artifacts of the measure.`;
}

/** Warns beside the verdict of answers without a value that are not equally common in all groups. */
function unevenSentences(metrics: readonly LlmMetricResult[]): string[] {
  const titles = unevenlyMissing(metrics).map(metricTitle);
  if (titles.length === 0) return [];
  return [
    `Warning: ${MISSING_ANSWERS} are not equally common in all groups (${listed(titles, 4)}), which can hide or reverse a difference.`,
  ];
}

/** Names the columns by which no answers could be compared, because the other findings say nothing about them. */
function uncomparedSentences(columns: readonly string[]): string[] {
  if (columns.length === 0) return [];
  return [`Nothing was compared by ${listed(columns.map(labelText), 4)}; the notes on the run give the reason.`];
}

function foundSentence(metrics: readonly LlmMetricResult[]): string {
  const shown = metrics.filter((metric) => findingOf(metric) === 'shown');
  const notShown = metrics.filter((metric) => findingOf(metric) === 'not_shown');
  const tested = shown.length + notShown.length;
  if (tested === 0) return 'No metric was tested against sampling noise.';
  if (shown.length === 0) {
    return `No effect beyond noise was shown by any of ${counted(tested, 'tested metric')}; the table lists the minimum detectable differences.`;
  }
  const which = listed(shown.map(metricTitle), 6);
  return `Statistically distinguishable from sampling noise: ${which} (${formatCount(shown.length)} of ${counted(tested, 'tested metric')}).`;
}

/** Lists the model, the provider and the settings of the run. */
function askedBlocks(result: LlmEvalResult): ReportBlock[] {
  const { config, dryRun, collected } = result;
  const { model, provider } = answeredBy(result);
  if (collected !== undefined && collected !== null) return collectedBlocks(collected, config.evaluators);
  const templates = [...new Set(dryRun.breakdown.map(({ template }) => template))];
  const parts = cutItems(templates, 12).join(', ') || 'none';
  const rows = [
    ['Provider', provider],
    ['Model', model],
    ['Address', config.baseUrl ?? "the provider's default, or none"],
    ['System prompt', config.systemPrompt ?? 'none'],
    ['Parameters', Object.keys(config.params).length === 0 ? 'none' : JSON.stringify(config.params)],
    ['Answers to each prompt', String(config.repeats)],
    ['Evaluators', config.evaluators.join(', ') || 'none'],
    ['Parts of the plan', parts],
  ];
  const local =
    'The built-in model returns canned answers. They say nothing about a model and show only that everything runs.';
  return [
    ...tableOf('Run configuration', ['', 'Value'], rows),
    ...(provider === 'local' ? [{ kind: 'paragraph' as const, text: local }] : []),
  ];
}

/** Lists the file of collected answers, and how its columns were used. */
function collectedBlocks(collected: CollectedAnswers, evaluators: readonly string[]): ReportBlock[] {
  const { source, rows, answered, dimensions, cluster, clusters } = collected;
  const settings = [
    ['Answers', source],
    ['Rows', `${formatCount(rows)}, ${formatCount(answered)} of them with an answer`],
    ['Compared columns', dimensions.map(labelText).join(', ') || 'none'],
    ['Cluster', cluster === null ? 'none' : `${labelText(cluster)} (${counted(clusters ?? 0, 'value')})`],
    ['Evaluators', evaluators.join(', ') || 'none'],
  ];
  return tableOf('Run configuration', ['', 'Value'], settings);
}

/** Lists the information that is needed to reproduce the numbers. */
function madeOf(result: LlmEvalResult): [name: string, value: string][] {
  const { dryRun, seed, metrics } = result;
  const { model, provider } = answeredBy(result);
  const all = Object.values(metrics);
  return [
    ['evenhand', VERSION],
    ['Model', `${provider}, ${model}`],
    ['Seed', String(seed)],
    ['Digest of the plan', dryRun.planDigest],
    ['Interval method', distinctTexts(all.map(({ ciMethod }) => ciMethod))],
    ['p-value method', distinctTexts(all.map(({ pValueMethod }) => pValueMethod))],
    ['Adjustment', distinctTexts(all.map(({ adjustment }) => adjustment))],
  ];
}
