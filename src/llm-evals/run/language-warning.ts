import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import { distinctAnswers } from '../scoring/dimension-answers.ts';
import { looksOtherThanEnglish } from '../text/looks-english.ts';
import { LEXICON_WARNING } from '../toxicity/lexicon-toxicity.ts';
import type { Transcript } from '../transcript/transcript.ts';

/** Metrics of built-in evaluators whose rules and word lists are English; toxicity only where it is by the lexicon. */
const ENGLISH_METRICS =
  /^(?:sentiment_gap|sentiment_distance|sentiment_excess|negative_sentiment_gap|decision_gap|refusal_gap|(?:partial_)?refusal_rate(?:_difference)?|stereotypical_association|cobs)$/;

/** Says how many answers do not look English, and which metrics presume that they are; nothing where all do. */
export function languageWarning(
  transcripts: readonly Transcript[],
  metrics: Readonly<Record<string, LlmMetricResult>>,
): string[] {
  const texts = distinctAnswers(transcripts).flatMap(({ text }) => text ?? []);
  const others = texts.filter(looksOtherThanEnglish).length;
  const presuming = Object.values(metrics).filter(
    ({ metric, warnings }) => ENGLISH_METRICS.test(metric) || warnings.includes(LEXICON_WARNING),
  );
  if (others === 0 || presuming.length === 0) return [];
  const names = [...new Set(presuming.map(({ metric }) => metric))].join(', ');
  const [all, some] = [texts.length, others].map((count) => count.toLocaleString('en-US'));
  return [
    `${String(some)} of ${String(all)} ${texts.length === 1 ? 'answer' : 'answers'} ${others === 1 ? 'does' : 'do'} not look English. These metrics presume English, and what they say of such answers is not valid: ${names}.`,
  ];
}
