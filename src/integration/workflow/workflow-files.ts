import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { withManifest } from '../../document/provenance.ts';
import { writeFileAtomic, writeFolderAtomic } from '../../io/atomic-write.ts';
import { writeParquet } from '../../io/write-parquet.ts';
import { savePipeline, withWeights } from '../../pipeline/index.ts';
import { Table } from '../../table/index.ts';
import type { FeatureSpec } from '../../training/data/feature-encoder.ts';
import { holdsOnlyModel } from '../../training/models/model-card.ts';
import { type ModelDescription, saveModel } from '../../training/models/save-model.ts';
import { toJsonText } from '../../training/models/write-layers.ts';
import { MODEL_PIPELINE_FILE } from '../predict-file.ts';
import { workflowDocument } from '../workflow-report/workflow-document.ts';
import { workflowToJson } from '../workflow-report/workflow-to-json.ts';
import type { WorkflowMetrics, WorkflowResult } from '../workflow-result.ts';
import {
  fingerprintRows,
  MANIFEST_FILE,
  ORDER_FILE,
  RESULTS_FILE,
  type WorkflowEvidence,
  workflowEvidence,
} from './workflow-evidence.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** The names of files and folders in the output of a workflow. */
const RESULTS = RESULTS_FILE;
const DATA = 'transformed_data.parquet';
const MODEL = 'model';
const PIPELINE = 'pipeline.json';
const REPORTS = ['report.md', 'report.html'] as const;

/** The parts of a workflow that are written. */
type WrittenWorkflow = Omit<WorkflowResult, 'artifacts'>;

/** A workflow with its rows, the features of its model, and where it comes from. */
interface WorkflowOutput {
  readonly workflow: WrittenWorkflow;
  readonly rows: WorkflowRows;
  readonly features: readonly FeatureSpec[] | undefined;
  readonly evidence: WorkflowEvidence;
}

/**
 * Writes the output of a workflow to a folder. If writing fails, no partial output remains.
 * @returns the names of the files and folders in the output folder
 */
export async function writeWorkflow(
  outputDir: string,
  { workflow, rows, features, evidence }: WorkflowOutput,
): Promise<string[]> {
  const { given, provenance } = evidence;
  const report = { ...workflowDocument(workflow), provenance };
  const html = await documentToHtml(report);
  const results = workflowToJson(workflow);
  const { fingerprint, positions } = fingerprintRows(given);
  await writeFolderAtomic(
    outputDir,
    async (folder) => {
      const file = (name: string): string => path.join(folder, name);
      await writeFileAtomic(file(RESULTS), toJsonText(withManifest(results, provenance)));
      await writeParquet(file(DATA), withWeights(workflow.transformedData, workflow.sampleWeight));
      await savePipeline(workflow.pipeline, file(PIPELINE));
      await saveModel(workflow.model, file(MODEL), {
        features,
        ...stepsBeforeModel(workflow),
        ...describe(workflow, rows),
      });
      await writeFileAtomic(file('report.md'), documentToMarkdown(report));
      await writeFileAtomic(file('report.html'), html);
      await writeParquet(file(ORDER_FILE), Table.from({ position: positions }));
      // The last file, because it names all others.
      await writeFileAtomic(
        file(MANIFEST_FILE),
        toJsonText(await workflowEvidence(folder, results, evidence, fingerprint)),
      );
    },
    holdsOnlyWorkflow,
  );
  return [RESULTS, DATA, MODEL, PIPELINE, ...REPORTS, ORDER_FILE, MANIFEST_FILE];
}

/**
 * Returns the pipeline steps that change values. Rows must go through these steps before prediction. Steps that only
 * set weights or drop columns are not needed for prediction.
 */
function stepsBeforeModel({
  pipeline,
  pipelineMetadata,
}: WrittenWorkflow): Pick<ModelDescription, 'attachments' | 'notes'> {
  const changing = pipelineMetadata.steps.filter(({ columnsChanged }) => columnsChanged.length > 0);
  if (changing.length === 0) return {};
  const json = pipeline.toJSON();
  const steps = json.steps.filter(({ name }) => changing.some((step) => step.name === name));
  return {
    attachments: { [MODEL_PIPELINE_FILE]: `${JSON.stringify({ ...json, steps }, undefined, 2)}\n` },
    notes: [`Rows must be transformed by ${MODEL_PIPELINE_FILE} before prediction; evenhand predict does this.`],
  };
}

/** Returns whether a folder is empty or holds only the output of a workflow, so that it may be replaced. */
export function holdsOnlyWorkflow(folder: string): boolean {
  try {
    const names = readdirSync(folder);
    if (names.length === 0) return true;
    const known: readonly string[] = [
      RESULTS,
      DATA,
      MODEL,
      PIPELINE,
      ...REPORTS,
      ORDER_FILE,
      MANIFEST_FILE,
      `${MANIFEST_FILE}.dsse.json`,
    ];
    const model = path.join(folder, MODEL);
    return (
      names.includes(RESULTS) &&
      names.every((name) => known.includes(name)) &&
      (!existsSync(model) || holdsOnlyModel(model))
    );
  } catch {
    return false;
  }
}

function describe(
  { split, finalMetrics, config, decisionThreshold }: WrittenWorkflow,
  { positiveLabel, training }: WorkflowRows,
): ModelDescription {
  return {
    data: {
      target: training.targetColumn,
      positiveLabel,
      sensitive: config.sensitive,
      naValues: config.naValues ?? null,
      nTrain: split.train.length,
      nTest: split.test.length,
      nDropped: split.nDropped,
    },
    metrics: [cardMetrics(finalMetrics)],
    decisionThreshold,
  };
}

/** Returns the entry of the held-out rows in the model card. */
function cardMetrics({ n, accuracy, meanAbsoluteError, metrics }: WorkflowMetrics): Record<string, unknown> {
  const values = Object.values(metrics).map(
    ({ metric, value }) => [metric, Number.isNaN(value) ? null : value] as const,
  );
  return {
    rows: 'test',
    n,
    ...(accuracy === null ? { mean_absolute_error: meanAbsoluteError } : { accuracy }),
    ...Object.fromEntries(values),
  };
}
