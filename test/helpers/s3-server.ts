import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { freePort } from './mlflow-server.ts';
import { killServer, untilOpen } from './servers.ts';

/** An S3 service for the tests, on a free port of this machine. */
export interface RunningS3 {
  /** The environment variables with which it is used. */
  readonly env: Readonly<Record<string, string>>;
  /** Stores an object in the bucket `data`. */
  readonly put: (key: string, content: string | Uint8Array) => Promise<void>;
  /** Ends the server without a warning. */
  readonly kill: () => Promise<void>;
}

const PYTHON = process.env['EVENHAND_PYTHON'] ?? 'python3';

/** The credentials, which nothing may show. */
export const S3_SECRETS = {
  AWS_ACCESS_KEY_ID: 'AKIAHUSHHUSHHUSHHUSH',
  AWS_SECRET_ACCESS_KEY: "hush'secret/of+the;tests--",
  AWS_SESSION_TOKEN: 'hush-token=/',
} as const;

/** Prints the path of DuckDB's extension, and fails if a module is missing that the server needs. */
const FIND = `
import flask, moto.server
from importlib.metadata import files
print(next(file.locate() for file in files("duckdb-extension-httpfs") if file.name == "httpfs.duckdb_extension"))
`;

/**
 * Describes a suite that needs an S3 service, which is started before it and ended after it, and DuckDB's extension
 * httpfs. Without these Python packages the suite is skipped with the reason, or fails if EVENHAND_REQUIRE_S3 is 1.
 */
export function describeWithS3(title: string, suite: (s3: () => RunningS3) => void): void {
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', FIND], { encoding: 'utf8', timeout: 60_000 });
  describe(`${title}: S3`, () => {
    if (status !== 0) {
      const reason = `'${PYTHON}' (EVENHAND_PYTHON) lacks moto[server] or duckdb-extension-httpfs: ${stderr.trim().split('\n').at(-1) ?? ''}`;
      it(`needs ${reason}`, function () {
        if (process.env['EVENHAND_REQUIRE_S3'] === '1') throw new Error(`EVENHAND_REQUIRE_S3 is 1, but ${reason}`);
        this.skip();
      });
      return;
    }
    let folder = '';
    let child: ChildProcess | undefined;
    let address = '';
    before(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'evenhand-s3-'));
      const port = await freePort();
      address = `http://127.0.0.1:${String(port)}`;
      const args = ['-c', 'from moto.server import main; main()', '-H', '127.0.0.1', '-p', String(port)];
      child = spawn(PYTHON, args, { cwd: folder, detached: true, stdio: 'ignore' });
      await untilOpen(port, child, () => '');
      await put('', '');
    });
    after(async () => {
      await killServer(child);
      rmSync(folder, { recursive: true, force: true });
    });
    const put = async (key: string, content: string | Uint8Array): Promise<void> => {
      const url = `${address}/data/${key.split('/').map(encodeURIComponent).join('/')}`;
      const response = await fetch(url, { method: 'PUT', body: Buffer.from(content) });
      if (!response.ok) throw new Error(`HTTP ${String(response.status)}: ${await response.text()}`);
    };
    suite(() => ({
      env: {
        ...S3_SECRETS,
        AWS_REGION: 'eu-north-1',
        AWS_ENDPOINT_URL: address,
        EVENHAND_DUCKDB_HTTPFS: stdout.trim(),
      },
      put,
      kill: () => killServer(child),
    }));
  });
}
