import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Job, RunJobOptions } from '../../../src/api/jobs/job.ts';

/** Writes a table of 200 rows: 100 women, of whom 40 are accepted, and 100 men, of whom 60 are accepted. */
export function decisionsCsv(): string {
  const rows = Array.from({ length: 200 }, (_, row) => {
    const sex = row < 100 ? 'f' : 'm';
    const accepted = row % 100 < (sex === 'f' ? 40 : 60) ? 1 : 0;
    return `${sex},${row % 2 === 0 ? 'a' : 'b'},${String(accepted)},${String((row * 7) % 3 === 0 ? 1 : 0)},${String(row % 17)}`;
  });
  return ['sex,race,accepted,repaid,age', ...rows, ''].join('\n');
}

/** Writes an upload into a spool folder, like a request. */
export function spool(root: string, name: string, content: string | Buffer): string {
  const folder = mkdtempSync(path.join(root, 'spool-'));
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Returns an empty folder for the files of a run, and options without listeners. */
export function runOptions(root: string, options: Partial<RunJobOptions> = {}): RunJobOptions {
  const folder = mkdtempSync(path.join(root, 'run-'));
  mkdirSync(folder, { recursive: true });
  return {
    folder,
    onProgress: () => undefined,
    onStart: () => undefined,
    signal: new AbortController().signal,
    ...options,
  };
}

/** Returns a job of arrays. */
export function rowsJob(root: string, body: unknown): Job {
  return { kind: 'validate-rows', path: spool(root, 'body', JSON.stringify(body)), maxItems: 5_000_000 };
}

/** Returns a workflow on {@link decisionsCsv}. */
export function workflowJob(root: string, fields: Readonly<Record<string, string>> = {}): Job {
  return { kind: 'workflow', path: spool(root, 'upload.csv', decisionsCsv()), config: WORKFLOW_CONFIG, fields };
}

export const WORKFLOW_CONFIG = `sensitive: [sex]
features: [age, race]
pipeline:
  - name: reweigh
    transformer: ReweighingTransformer
training:
  method: reductions
  target_column: accepted
  params: { T: 10 }
validation_threshold: 0.3
`;
