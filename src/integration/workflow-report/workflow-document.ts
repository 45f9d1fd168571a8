import { VERSION } from '../../internal/version.ts';
import { formatPercent } from '../../metrics/metric-markdown.ts';
import type { ReportBlock, ReportDocument } from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { capital } from '../html/metric-charts.ts';
import { tableCount } from '../html/report-numbers.ts';
import type { WorkflowFindings } from '../workflow/workflow-result.ts';
import { calibrationBlocks } from './calibration-section.ts';
import { changeBlocks, levelOf } from './change-table.ts';
import { groupSections } from './group-section.ts';
import { methodWords, stepWords } from './method-words.ts';
import { HOW_TO_READ } from './reading.ts';
import { stepSummary } from './step-summary.ts';
import { tradeOffBlocks } from './trade-off-section.ts';
import { trainingBlocks } from './training-facts.ts';
import { cost, workflowVerdict } from './verdict-words.ts';

/** What a workflow found, in the order a reader needs it: the verdict, what changed, each step, each attribute. */
export function workflowDocument(findings: WorkflowFindings): ReportDocument {
  return {
    title: 'Fairness workflow',
    subject: subjectOf(findings),
    verdict: workflowVerdict(findings),
    sections: [
      { title: 'What changed', blocks: [...changeBlocks(findings), ...warningBlocks(findings.warnings)] },
      { title: 'Baseline (Step 1)', blocks: [{ kind: 'facts', facts: stepSummary(findings.baselineMetrics) }] },
      { title: 'Pipeline and training (Step 2)', blocks: trainingBlocks(findings) },
      { title: 'Final (Step 3)', blocks: [{ kind: 'facts', facts: stepSummary(findings.finalMetrics) }] },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(findings) }] },
      ...groupSections(findings),
      { title: 'Accuracy against unfairness', blocks: tradeOffBlocks(findings) },
      { title: 'Calibration', blocks: calibrationBlocks(findings) },
      { title: 'How to read this', blocks: [{ kind: 'list', items: HOW_TO_READ }] },
    ],
    made: madeOf(findings),
  };
}

function subjectOf({ config, split, finalMetrics }: WorkflowFindings): string {
  const target = config.training === undefined ? '' : `${labelText(config.training.targetColumn)} `;
  const sizes = `${tableCount(split.train.length)} rows trained on, ${tableCount(split.test.length)} held out`;
  return `${target}by ${listed(Object.keys(finalMetrics.attributes))}; ${sizes}`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings.map(capital)) }];
}

function priceOf({ config, baselineMetrics, finalMetrics }: WorkflowFindings): string[] {
  return [
    ...config.pipeline.map(stepWords),
    ...(config.training === undefined ? [] : [methodWords(config.training.method)]),
    cost(baselineMetrics, finalMetrics),
    'A gap can close because a group gains or because another one loses: the Change columns below say which.',
    'Only the rates named here were compared, and only by the attributes named here. Other rates and other groups may have moved the other way.',
  ].filter((item) => item !== '');
}

function madeOf(findings: WorkflowFindings): [name: string, value: string][] {
  const { finalMetrics, seed, config } = findings;
  const methods = Object.values(finalMetrics.attributes).flatMap((results) =>
    Object.values(results).flatMap(({ ciMethod }) => ciMethod ?? []),
  );
  return [
    ['evenhand', VERSION],
    ['Seed', String(seed)],
    ['Metrics', Object.keys(finalMetrics.metrics).join(', ') || 'none'],
    ['Interval level', methods.length === 0 ? 'none' : formatPercent(levelOf(finalMetrics))],
    ['Interval method', [...new Set(methods)].join(', ') || 'none'],
    ['Sensitive attributes', listed(config.sensitive)],
    ['Crossings', listed(config.intersections.map((names) => names.join(' x ')))],
  ];
}
