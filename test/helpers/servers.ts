import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The user `nobody`: servers refuse to run as root. */
export const NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups'];

/** The time that a server has to start. */
export const START_SECONDS = 60;

/** Resolves when a server accepts connections. */
export async function untilOpen(
  port: number,
  server: ChildProcess,
  log: () => string,
  seconds = START_SECONDS,
): Promise<void> {
  const signal = AbortSignal.timeout(1000 * seconds);
  while (!signal.aborted && server.exitCode === null) {
    const socket = createConnection(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`The server does not answer on port ${String(port)}.\n${log()}`);
}

/** Starts a program in its own process group, as `nobody` if the tests run as root, unless it may run as root. */
export function startServer(
  command: string,
  args: readonly string[],
  cwd: string,
  { asNobody = true, env = process.env } = {},
): { child: ChildProcess; log: () => string } {
  const isRoot = asNobody && process.getuid?.() === 0;
  const [program, rest] = isRoot ? ['setpriv', [...NOBODY, command, ...args]] : [command, args];
  const child = spawn(program, rest, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const add = (part: Buffer): void => {
    text = `${text}${String(part)}`.slice(-4000);
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  return { child, log: () => text };
}

/** Ends a server and all its processes, as a lost machine would. */
export async function killServer(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

/** Makes a folder whose files the user `nobody` may write. */
export function makeOpen(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65534:65534', folder]);
}
