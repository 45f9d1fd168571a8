import type { PipelineRun } from './run-pipeline.ts';

/** A pipeline's run on the wire, as the command line prints it with `--json`; the transformed rows are not in it. */
export function pipelineRunToJson({ report, result }: PipelineRun): Record<string, unknown> {
  const { metadata, transformersApplied } = result;
  return {
    detector_report: report,
    transformed_rows: metadata.rows,
    transformers_applied: transformersApplied,
    columns_in: metadata.columnsIn,
    columns_out: metadata.columnsOut,
    steps: metadata.steps.map((step) => ({
      name: step.name,
      transformer: step.transformer,
      columns_dropped: step.columnsDropped,
      columns_changed: step.columnsChanged,
      weighs: step.weighs,
      warnings: step.warnings,
    })),
  };
}
