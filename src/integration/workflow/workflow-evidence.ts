import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { manifestOf, type Provenance, type ReportManifest } from '../../document/provenance.ts';
import { hashInputFile } from '../../io/checksum.ts';
import { pipelineConfigToJson } from '../../pipeline/config/pipeline-config-json.ts';
import type { Column, Table } from '../../table/index.ts';
import type { KindStatistics } from '../measure-attributes.ts';
import {
  contentHash,
  type EvidenceChecksums,
  limitedStatistics,
  manifestChecksum,
  resultsChecksum,
  type StatisticsJson,
  statisticsToJson,
} from '../report-evidence.ts';
import type { WorkflowFindings } from '../workflow-result.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { LeftOutRows } from './workflow-rows.ts';

/** The name of the file with the manifest of a workflow. */
export const MANIFEST_FILE = 'manifest.json';
/** The name of the file with the order of the rows. */
export const ORDER_FILE = 'row_order.parquet';
/** The name of the file with the results. */
export const RESULTS_FILE = 'workflow_results.json';

/** The statistics of the held-out rows for both models, from which the metrics are computed again. */
export interface WorkflowStatistics<Statistics> {
  readonly baseline: Statistics;
  readonly final: Statistics;
}

/** The rows of a workflow, in an order that depends only on their values. */
export interface RowFingerprint {
  readonly rows: number;
  /** The SHA-256 of the sorted values of each column. */
  readonly columns: readonly { readonly name: string; readonly sha256: string }[];
  /** The SHA-256 of the sorted rows. */
  readonly sha256: string;
}

/** A manifest from which the folder of a workflow can be verified. */
export interface WorkflowManifest extends ReportManifest {
  /** The date of the reports; null without provenance. */
  readonly date: string | null;
  /** What differs if the command is repeated; null if nothing does. */
  readonly varies: string | null;
  /** What determines the results, together with the rows. */
  readonly request: WorkflowRequest;
  /** null if there are too many numbers; the results can then only be checked with the data. */
  readonly statistics: WorkflowStatistics<StatisticsJson> | null;
  /** The rows of each group that were left out and kept, by attribute. */
  readonly left_out: Readonly<Record<string, LeftOutJson>>;
  readonly data: RowFingerprint;
  /** The SHA-256 of every other file of the folder, by its path. */
  readonly files: Readonly<Record<string, string>>;
  readonly sha256: EvidenceChecksums;
}

/** The configuration and the options of a workflow. */
interface WorkflowRequest {
  readonly config: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The rows of each group that were left out and kept. */
export interface LeftOutJson {
  readonly labels: readonly string[];
  readonly dropped: readonly number[];
  readonly kept: readonly number[];
}

/** What a manifest is made of. */
export interface WorkflowEvidence {
  readonly findings: WorkflowFindings;
  /** The rows as they were given. */
  readonly given: Table;
  readonly options: FilledWorkflowOptions;
  readonly statistics: WorkflowStatistics<readonly KindStatistics[]>;
  readonly leftOut: Readonly<Record<string, LeftOutRows>>;
  readonly provenance: Provenance | undefined;
}

/** A verdict with its manifest, as it is written. */
export interface WorkflowEvidenceFile {
  readonly passed: boolean | null;
  /** The gate, for the statement of a signature. */
  readonly gates: readonly Readonly<Record<string, unknown>>[];
  readonly manifest: WorkflowManifest;
}

/**
 * Returns the content of the manifest of a folder whose other files are written.
 * @param results the results, as they are written
 */
export async function workflowEvidence(
  folder: string,
  results: object,
  evidence: WorkflowEvidence,
  data: RowFingerprint,
): Promise<WorkflowEvidenceFile> {
  const { findings, options, provenance } = evidence;
  const json = {
    baseline: statisticsToJson(evidence.statistics.baseline),
    final: statisticsToJson(evidence.statistics.final),
  };
  const isSmall = limitedStatistics([...json.baseline, ...json.final]) !== null;
  const { date, varies = null } = provenance ?? {};
  const origin = provenance ?? {
    command: 'executeWorkflow',
    options: {},
    inputs: [],
    rows: data.rows,
    date: new Date(0),
  };
  const own: Omit<WorkflowManifest, 'sha256'> = {
    ...manifestOf(origin),
    date: date?.toISOString() ?? null,
    varies,
    request: { config: pipelineConfigToJson(findings.config), options: optionsToJson(options) },
    statistics: isSmall ? json : null,
    left_out: leftOutToJson(evidence.leftOut),
    data,
    files: await hashFolder(folder),
  };
  const parts = { results: resultsChecksum(results), statistics: statisticsHash(json) };
  const manifest = { ...own, sha256: { ...parts, manifest: manifestChecksum(own, parts) } };
  return { ...verdictOf(findings), manifest };
}

/** Returns the verdict of a workflow in the form of the verdicts of `validate`. */
export function verdictOf({
  validation,
}: Pick<WorkflowFindings, 'validation'>): Omit<WorkflowEvidenceFile, 'manifest'> {
  const { passed, metric, attribute, threshold, verdict } = validation;
  const gates = passed === null ? [] : [{ metric, comparator: verdict.comparator, threshold, attribute, passed }];
  return { passed, gates };
}

/** Returns the SHA-256 of the statistics of both models. */
export function statisticsHash({ baseline, final }: WorkflowStatistics<StatisticsJson>): string {
  return contentHash([...baseline, ...final]);
}

/** Returns the counts of left-out rows as JSON. */
export function leftOutToJson(leftOut: Readonly<Record<string, LeftOutRows>>): Record<string, LeftOutJson> {
  return Object.fromEntries(
    Object.entries(leftOut).map(([name, { labels, dropped, kept }]) => [
      name,
      { labels, dropped: [...dropped], kept: [...kept] },
    ]),
  );
}

function optionsToJson(options: FilledWorkflowOptions): Record<string, unknown> {
  const { classWeight, decisionThreshold, randomState, trainSize, minGroupSize, backend = null } = options;
  return { classWeight, decisionThreshold, randomState, trainSize, minGroupSize, backend };
}

/** Returns the SHA-256 of all files in a folder and its subfolders, by path with slashes, in the order of the paths. */
export async function hashFolder(folder: string): Promise<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const paths = entries.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)));
  const hashed = paths.map(async (name) => {
    const { sha256 } = await hashInputFile(path.join(folder, name));
    return [name.replaceAll(path.sep, '/'), sha256 ?? 'not a regular file'] as const;
  });
  return Object.fromEntries((await Promise.all(hashed)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The values of a column as ranks of their texts, so that rows are compared quickly. */
interface RankedColumn {
  /** [rows] */
  readonly ranks: Int32Array;
  /** The distinct texts, ascending, each with its number of rows. */
  readonly texts: readonly (readonly [text: string, rows: number])[];
}

/**
 * Describes rows without their order, and returns the position of each row among the sorted rows. Equal rows may swap
 * positions, because they are the same for every step of a workflow.
 * @param names the columns to use, in this order
 * @returns `positions`: for each row, its position among the sorted rows
 */
export function fingerprintRows(
  table: Table,
  names: readonly string[] = table.columnNames,
): { readonly fingerprint: RowFingerprint; readonly positions: Int32Array } {
  const columns = names.map((name) => rankColumn(table.column(name), table.rowCount));
  const sorted = Int32Array.from({ length: table.rowCount }, (_, row) => row).sort((a, b) => {
    for (const { ranks } of columns) {
      const difference = (ranks[a] as number) - (ranks[b] as number);
      if (difference !== 0) return difference;
    }
    return a - b;
  });
  const positions = new Int32Array(sorted.length);
  sorted.forEach((row, position) => (positions[row] = position));
  const hash = createHash('sha256');
  const described = columns.map(({ ranks, texts }, index) => {
    hash.update(Int32Array.from(sorted, (row) => ranks[row] as number));
    return { name: names[index] as string, sha256: createHash('sha256').update(JSON.stringify(texts)).digest('hex') };
  });
  return { fingerprint: { rows: table.rowCount, columns: described, sha256: hash.digest('hex') }, positions };
}

function rankColumn(column: Column, rowCount: number): RankedColumn {
  const textAt =
    column.kind === 'numeric'
      ? (row: number): string => (Number.isNaN(column.values[row]) ? '' : String(column.values[row]))
      : (row: number): string => column.labels[column.codes[row] as number] ?? '';
  const counts = new Map<string, number>();
  const own = Array.from({ length: rowCount }, (_, row) => textAt(row));
  for (const text of own) counts.set(text, (counts.get(text) ?? 0) + 1);
  const texts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const rankOf = new Map(texts.map(([text], rank) => [text, rank]));
  return { ranks: Int32Array.from(own, (text) => rankOf.get(text) as number), texts };
}
