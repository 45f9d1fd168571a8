import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { LocalRuns, type LocalRunsOptions } from '../../../src/api/runs/local-runs.ts';
import type { RunRecord, RunRequest } from '../../../src/api/runs/runs.ts';
import { ResultStore } from '../../../src/api/store/index.ts';
import { FakeRunner } from './fake-runner.ts';

/** Logged entries, without pino. */
export interface Logged {
  readonly level: 'warn' | 'error';
  readonly fields: { readonly err?: unknown; readonly runId?: string };
  readonly text: string;
}

/** Lets all pending work finish, including file operations. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Waits for a condition, at most ten seconds. */
export async function eventually(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
  if (!holds()) throw new Error(`it never came to ${String(holds)}`);
}

/** Creates a logger that records what it gets. */
export function createRecorder() {
  const logged: Logged[] = [];
  const log = (level: Logged['level']) => (fields: Logged['fields'], text: string) => {
    logged.push({ level, fields, text });
  };
  const ignore = (): void => undefined;
  const logger = { warn: log('warn'), error: log('error'), info: ignore } as unknown as LocalRunsOptions['logger'];
  return { logged, logger };
}

/** Creates runs with a fake runner and a fake clock, in a new folder. */
export function createFixture(root: string, options: Partial<LocalRunsOptions> = {}) {
  const folder = mkdtempSync(path.join(root, 'runs-'));
  const filesFolder = path.join(folder, 'files');
  const inputs = path.join(folder, 'inputs');
  mkdirSync(inputs);
  const runner = new FakeRunner();
  const store = options.store ?? new ResultStore<RunRecord>({ capacity: 3 });
  const { logged, logger } = createRecorder();
  let now = Date.UTC(2024, 0, 1);
  let ids = 0;
  let uploads = 0;
  const runs = new LocalRuns({
    store,
    runner,
    filesFolder,
    clock: () => now,
    createId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    logger,
    ...options,
  });
  const request = (changes: Partial<RunRequest> = {}): RunRequest => ({
    endpoint: '/pipeline',
    job: { kind: 'pipeline', path: 'upload.csv', config: 'a: 1', fields: {} },
    inputFolder: null,
    idempotency: null,
    ...changes,
  });
  return {
    runs,
    runner,
    store,
    logged,
    filesFolder,
    request,
    /** Creates a folder with an upload. */
    upload: () => {
      const input = path.join(inputs, `upload-${String(++uploads)}`);
      mkdirSync(input);
      writeFileSync(path.join(input, 'upload.csv'), 'a,b\n1,2\n');
      return input;
    },
    uploadsLeft: () => readdirSync(inputs),
    foldersLeft: () => (existsSync(filesFolder) ? readdirSync(filesFolder).sort() : []),
    /** Submits a run and returns its ID and its job. */
    begin: async (changes: Partial<RunRequest> = {}) => {
      const { runId } = await runs.submit(request(changes));
      return { runId, job: runner.of(runId) };
    },
    /** Writes a file like a job. */
    leaveFile: (runId: string, name = 'report.md') => {
      writeFileSync(path.join(filesFolder, runId, name), 'left');
    },
    pass: (millis: number) => {
      now += millis;
    },
    now: () => new Date(now).toISOString(),
  };
}

/** The runs under test and their environment. */
export type Fixture = ReturnType<typeof createFixture>;
