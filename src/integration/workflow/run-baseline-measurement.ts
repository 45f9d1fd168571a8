import { assertKnownOptions } from '../../internal/known-options.ts';
import {
  type PipelineConfigInput,
  parsePipelineConfig,
  runDetectors,
  type DetectorReport,
} from '../../pipeline/index.ts';
import { Table, type TableSource } from '../../table/index.ts';
import { measureBaseline } from './baseline.ts';
import { describeSplit, splitWorkflow } from './split-workflow.ts';
import { BASELINE_OPTION_NAMES, type BaselineOptions, fillWorkflowOptions } from './workflow-options.ts';
import type { WorkflowMetrics, WorkflowSplit } from './workflow-result.ts';
import { readWorkflowRows } from './workflow-rows.ts';

/** What stands before any mitigation. */
export interface BaselineMeasurement {
  /** What the detectors find in the data. */
  readonly detectorReport: DetectorReport;
  /** An unconstrained model on held-out rows; null for a configuration without a training section. */
  readonly baselineMetrics: WorkflowMetrics | null;
  /** The partition that it was measured on; null without a training section. */
  readonly split: WorkflowSplit | null;
  readonly warnings: readonly string[];
}

/**
 * Step 1 of a workflow by itself: what the detectors find in the data, and,
 * where the configuration says how to train, how even the decisions of an
 * unconstrained model are: logistic regression, or linear regression where the
 * metric is one of numbers. The split, the encoding and the model are those of
 * `executeWorkflow` with the same options.
 * @throws {ConfigValidationError} for a configuration with faults
 * @throws {DataValidationError} for data that cannot be learned from
 * @throws {ValueError} for an unknown metric or a value out of range
 * @example
 * ```ts
 * import { runBaselineMeasurement, sampleData } from 'evenhand';
 *
 * const { baselineMetrics, split } = await runBaselineMeasurement(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median' },
 *     fairnessMetric: 'demographic_parity_difference',
 *   },
 *   sampleData('cps-wages'),
 *   { trainSize: 0.75 },
 * );
 * console.log(split?.test.length, Object.keys(baselineMetrics?.metrics ?? {}));
 * // 133 [ 'demographic_parity_difference', 'equalized_odds_difference' ]
 * ```
 */
export async function runBaselineMeasurement(
  config: PipelineConfigInput,
  data: TableSource,
  options: BaselineOptions = {},
): Promise<BaselineMeasurement> {
  assertKnownOptions('runBaselineMeasurement', options, BASELINE_OPTION_NAMES);
  const parsed = parsePipelineConfig(config);
  const filled = fillWorkflowOptions(options);
  const { signal, onProgress } = filled;
  signal?.throwIfAborted();
  const table = Table.from(data);
  const detectorReport = await runDetectors(table, parsed, { signal, onProgress });
  if (parsed.training === undefined) {
    return Object.freeze({ detectorReport, baselineMetrics: null, split: null, warnings: Object.freeze([]) });
  }
  const rows = readWorkflowRows(parsed, table);
  const split = splitWorkflow(rows, filled);
  const { metrics, warnings } = await measureBaseline(rows, split, filled);
  return Object.freeze({
    detectorReport,
    baselineMetrics: metrics,
    split: describeSplit(split, rows, filled),
    warnings: Object.freeze([...rows.warnings, ...warnings]),
  });
}
