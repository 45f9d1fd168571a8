import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { freePort } from './mlflow-server.ts';
import { killServer, makeOpen, startServer, untilOpen } from './servers.ts';

/** A Redis server that runs for the tests, on a free port of this machine. It keeps its data when it is killed. */
export interface RunningRedis {
  readonly url: string;
  /** Ends the server without a warning, as a lost machine would. */
  readonly kill: () => Promise<void>;
  /** Starts the server again with its data, on the same port. */
  readonly start: () => Promise<void>;
  /** Stops the server from answering, as an overloaded machine would, until it is thawed. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Returns the commands that have changed data, as the server has written them to its disk. */
  readonly commands: () => string;
}

const isInstalled = spawnSync('redis-server', ['--version'], { timeout: 10_000 }).status === 0;

/**
 * Describes a suite that needs Redis, which is started before it and ended after it. If Redis is not installed, the
 * suite is skipped with the reason, or fails if EVENHAND_REQUIRE_ENGINES is 1.
 */
export function describeWithRedis(title: string, suite: (redis: () => RunningRedis) => void): void {
  describe(`${title}: Redis`, () => {
    if (!isInstalled) {
      it('needs Redis: redis-server is not on the PATH', function () {
        if (process.env['EVENHAND_REQUIRE_ENGINES'] === '1')
          throw new Error('EVENHAND_REQUIRE_ENGINES is 1, but redis-server is not on the PATH');
        this.skip();
      });
      return;
    }
    let child: ChildProcess | undefined;
    let folder = '';
    let port = 0;
    const start = async (): Promise<void> => {
      const settings = { port, bind: '127.0.0.1', appendonly: 'yes', appendfsync: 'always', save: '', dir: folder };
      const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
      const server = startServer('redis-server', args, folder);
      child = server.child;
      await untilOpen(port, child, server.log);
    };
    before(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'evenhand-redis-'));
      makeOpen(folder);
      port = await freePort();
      await start();
    });
    after(async () => {
      await killServer(child);
      rmSync(folder, { recursive: true, force: true });
    });
    const send = (signal: NodeJS.Signals) => (): void => {
      if (child?.pid !== undefined) process.kill(-child.pid, signal);
    };
    suite(() => ({
      url: `redis://127.0.0.1:${String(port)}`,
      kill: () => killServer(child),
      start,
      freeze: send('SIGSTOP'),
      thaw: send('SIGCONT'),
      commands: () => {
        const log = path.join(folder, 'appendonlydir');
        return readdirSync(log)
          .map((name) => readFileSync(path.join(log, name), 'latin1'))
          .join('');
      },
    }));
  });
}
