import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Job, RunJobOptions } from '../../../src/api/jobs/job.ts';

/** A table of 200 rows: half of each sex, of women 40 of 100 accepted and of men 60 of 100. */
export function decisionsCsv(): string {
  const rows = Array.from({ length: 200 }, (_, row) => {
    const sex = row < 100 ? 'f' : 'm';
    const accepted = row % 100 < (sex === 'f' ? 40 : 60) ? 1 : 0;
    return `${sex},${row % 2 === 0 ? 'a' : 'b'},${String(accepted)},${String((row * 7) % 3 === 0 ? 1 : 0)},${String(row % 17)}`;
  });
  return ['sex,race,accepted,repaid,age', ...rows, ''].join('\n');
}

/** Writes an upload into a spool folder, as a request would. */
export function spool(root: string, name: string, content: string | Buffer): string {
  const folder = mkdtempSync(path.join(root, 'spool-'));
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** An empty folder for what a run leaves, and options that hear nothing. */
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

/** A job of arrays. */
export function rowsJob(root: string, body: unknown): Job {
  return { kind: 'validate-rows', path: spool(root, 'body', JSON.stringify(body)), mostItems: 5_000_000 };
}

/** A workflow on {@link decisionsCsv}. */
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
