import { assertKnownOptions } from '../../internal/known-options.ts';
import type { TrackingOutcome, WorkflowFindings } from '../workflow/workflow-result.ts';
import { trackRun } from './track-run.ts';
import { ARTIFACT_TRACKING_OPTION_NAMES, type ArtifactTrackingOptions } from './tracking-options.ts';
import { addWorkflow } from './workflow-entries.ts';

/**
 * Puts a workflow into a run on an MLflow tracking server: its configuration,
 * seed and split as parameters; `baseline.*` and `final.*` of the held-out rows,
 * `improvement_percent` and `passed` (1 or 0; missing without a threshold) as
 * metrics; the verdict and warnings as tags; files, where the server takes them.
 *
 * `final.m` is the worst value over attributes, and `final.attribute.m` with its
 * interval and groups that of one attribute, by the names that
 * {@link logFairnessMetrics} gives. Nothing is thrown, and what is said there of
 * servers that fail holds here.
 * @returns whether everything was logged
 */
export async function logWorkflowResults(
  findings: WorkflowFindings,
  options: ArtifactTrackingOptions = {},
): Promise<boolean> {
  assertKnownOptions('logWorkflowResults', options, ARTIFACT_TRACKING_OPTION_NAMES);
  const { logged } = await trackWorkflow(findings, options);
  return logged;
}

/** {@link logWorkflowResults} with the run's identifier and page, or the reason why there is none. */
export async function trackWorkflow(
  findings: WorkflowFindings,
  options: ArtifactTrackingOptions = {},
): Promise<TrackingOutcome> {
  return trackRun((entries) => {
    addWorkflow(entries, findings, options.prefix ?? '');
  }, options);
}
