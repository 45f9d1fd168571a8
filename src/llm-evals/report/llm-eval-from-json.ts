import {
  noteBlocks,
  type ReportBlock,
  type ReportDocument,
  type ReportSection,
} from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { toCamelCase } from '../../internal/arguments.ts';
import { isMapping } from '../../internal/values.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../run/llm-targets-result.ts';
import {
  llmMetric,
  type LlmMetricFields,
  type LlmMetricResult,
  type LlmMetricResultJson,
} from '../scoring/llm-metric-result.ts';
import { LlmTargetDifference, type LlmTargetDifferenceJson } from '../scoring/llm-target-difference.ts';
import { dimensionPictures, dimensionSections } from './dimension-sections.ts';
import { verdictOf } from './llm-eval-document.ts';
import type { LlmEvalJson, LlmTargetsJson } from './llm-eval-to-json.ts';
import { findingBlocks } from './metric-tables.ts';
import { differenceCharts, differenceSentences, differenceTable, matrixBlocks } from './targets-matrix.ts';

/** Returns whether a value is the JSON of an evaluation (`--report-json`). */
export function isLlmEvalJson(value: unknown): value is LlmEvalJson | LlmTargetsJson {
  if (!isMapping(value) || !isMapping(value['planned']) || !isMapping(value['actual'])) return false;
  const isOne = isMapping(value['metrics']) && isMapping(value['dry_run']);
  const isMany = isMapping(value['targets']) && isMapping(value['differences']);
  return isOne || isMany;
}

const NO_ANSWERS =
  'This page is made from the JSON of an evaluation, which does not contain the answers. The report of the evaluation (--report-html) shows them side by side.';

/** Builds a report from the JSON of an evaluation. It has the metrics and the verdict, but no answers. */
export function llmEvalDocumentFromJson(json: LlmEvalJson | LlmTargetsJson): ReportDocument {
  const { passed, threshold, verdicts, warnings, seed, actual } = json;
  const isMany = 'differences' in json;
  return {
    title: isMany ? 'Language model comparison' : 'Language model evaluation',
    subject: isMany ? Object.keys(json.targets).join(', ') : json.dry_run.model,
    verdict: verdictOf({ passed, threshold, metrics: verdicts }, [], NO_ANSWERS, warnings),
    sections: isMany ? comparisonSections(json) : metricSections(json),
    made: [
      ['Requests sent', String(actual.requests)],
      ['Answers', String(actual.answered + actual.cached)],
      ['Seed', String(seed)],
      ...(warnings.length === 0 ? [] : [['Warnings', warnings.join(' ')] as const]),
    ],
  };
}

function metricSections({ metrics: given, warnings }: Pick<LlmEvalJson, 'metrics' | 'warnings'>): ReportSection[] {
  const metrics = Object.values(given).map(metricFromJson);
  return [
    {
      title: 'Findings',
      blocks: [
        ...findingBlocks(metrics),
        ...dimensionPictures(metrics, undefined),
        ...noteBlocks('Warnings', warnings),
      ],
    },
    ...dimensionSections(metrics, undefined),
  ];
}

function comparisonSections(json: LlmTargetsJson): ReportSection[] {
  const targets = Object.entries(json.targets).map(([name, { metrics }]) => {
    const restored = Object.entries(metrics).map(([key, metric]) => [key, metricFromJson(metric)] as const);
    return [name, { metrics: Object.fromEntries(restored) }] as const;
  });
  const differences = Object.entries(json.differences).map(([key, each]) => [key, differenceFromJson(each)] as const);
  const result = {
    targets: Object.fromEntries(targets) as Record<string, LlmEvalResult>,
    differences: Object.fromEntries(differences),
    config: { counterfactual: null },
  } as unknown as LlmTargetsResult;
  return [
    {
      title: 'What differs',
      blocks: [
        { kind: 'list', items: differenceSentences(result) },
        ...differenceCharts(result),
        ...noteBlocks('Warnings', json.warnings),
      ],
    },
    { title: 'Metrics by target', blocks: matrixBlocks(result) },
    { title: 'All differences', blocks: differenceTable(result) },
    ...Object.entries(json.targets).map(([name, target]) => ({
      title: `Target ${labelText(name)}: ${target.model} (${target.provider})`,
      blocks: metricSections(target)
        .filter(({ blocks }) => blocks.length > 0)
        .flatMap(({ title, blocks }): ReportBlock[] => [{ kind: 'heading', text: title }, ...blocks]),
      isFolded: true,
    })),
  ];
}

function metricFromJson(json: LlmMetricResultJson): LlmMetricResult {
  return llmMetric(fieldsOf(json));
}

function differenceFromJson(json: LlmTargetDifferenceJson): LlmTargetDifference {
  const targetValues = json.target_values.map((value) => value ?? NaN) as unknown as readonly [number, number];
  return new LlmTargetDifference({ ...fieldsOf(json), targets: json.targets, targetValues });
}

/** Converts the keys of a metric to camelCase. A missing value is NaN. */
function fieldsOf({ null_quantile_95: nullQuantile, ...json }: LlmMetricResultJson): LlmMetricFields {
  const fields = Object.fromEntries(Object.entries(json).map(([name, value]) => [toCamelCase(name), value]));
  const pairs = json.pairs.map(({ p_value: pValue, undefined_reason: undefinedReason, value, ...pair }) => ({
    ...pair,
    pValue,
    undefinedReason,
    value: value ?? NaN,
  }));
  return { ...(fields as unknown as LlmMetricFields), nullQuantile, pairs, value: json.value ?? NaN, units: null };
}
