import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { useTemporaryFolder } from './run-cli.ts';

/** The Python interpreter that may have MLflow. */
const PYTHON = process.env['EVENHAND_PYTHON'] ?? 'python3';

/** The time limit for the start. A server takes some seconds, or longer on a busy machine. */
const START_LIMIT_MILLIS = 180_000;

/** Imports the skinny package, which the full one includes, and a module that only a server needs. */
const FIND_VERSION = `
from importlib.metadata import version
for name in ("flask", "flask-cors", "sqlalchemy", "alembic", "aiohttp", "pandas"):
    version(name)
print(version("mlflow-skinny"))
`;

/** Returns the version of MLflow; undefined if Python has none that can run a server. */
function mlflowVersion(): string | undefined {
  const { status, stdout } = spawnSync(PYTHON, ['-c', FIND_VERSION], { encoding: 'utf8', timeout: 30_000 });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * Describes a suite that needs a real MLflow tracking server, which is started before it and ended after it. Without
 * MLflow the suite is skipped with the reason, or fails if MLflow is required.
 */
export function describeWithMlflow(title: string, suite: (address: () => string) => void): void {
  const version = mlflowVersion();
  if (version === undefined) {
    describe(title, () => {
      it(`needs MLflow: '${PYTHON}' (EVENHAND_PYTHON) has no MLflow server`, function () {
        if (process.env['EVENHAND_REQUIRE_MLFLOW'] === '1') {
          throw new Error(`EVENHAND_REQUIRE_MLFLOW is 1, but '${PYTHON}' has no MLflow server`);
        }
        this.skip();
      });
    });
    return;
  }
  describe(`${title} (MLflow ${version})`, () => {
    suite(useMlflowServer());
  });
}

function useMlflowServer(): () => string {
  const folder = useTemporaryFolder();
  let address = '';
  let server: ChildProcess | undefined;
  before(async function () {
    this.timeout(START_LIMIT_MILLIS + 10_000);
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    server = startServer(folder(), port);
    await untilHealthy(address, server);
  });
  after(async () => {
    if (server?.pid === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    // The server starts child processes, so its process group is killed.
    process.kill(-server.pid, 'SIGKILL');
    await ended;
  });
  return () => address;
}

function startServer(folder: string, port: number): ChildProcess {
  const store = path.join(folder, 'artifacts');
  mkdirSync(store);
  const { MLFLOW_TRACKING_URI: _, ...environment } = process.env;
  const uri = `sqlite:///${path.join(folder, 'mlflow.db')}`;
  const where = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
  const stores = ['--backend-store-uri', uri, '--artifacts-destination', store];
  return spawn(PYTHON, ['-m', 'mlflow', 'server', ...where, ...stores], {
    cwd: folder,
    detached: true,
    // Only tracking is needed: no job workers, and no telemetry.
    env: {
      ...environment,
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false',
      MLFLOW_DISABLE_TELEMETRY: 'true',
      DO_NOT_TRACK: 'true',
    },
    stdio: 'ignore',
  });
}

async function untilHealthy(address: string, server: ChildProcess): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < START_LIMIT_MILLIS) {
    if (server.exitCode !== null) throw new Error(`the MLflow server ended with ${server.exitCode}`);
    const health = await fetch(`${address}/health`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    if (health?.ok === true) return;
    await sleep(200);
  }
  throw new Error(`the MLflow server did not start within ${START_LIMIT_MILLIS / 1000} s`);
}

/** Returns a port of this machine that nothing uses. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
