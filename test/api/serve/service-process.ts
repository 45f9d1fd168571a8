import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import path from 'node:path';

const MAIN = path.resolve(import.meta.dirname, '../../../dist/cli/main.js');

/** The result of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of `evenhand serve`. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly port: number;
  readonly url: string;
  readonly ended: Promise<Ended>;
}

/** Additional environment variables; undefined removes a variable. */
type Environment = Readonly<Record<string, string | undefined>>;

const children = new Set<ChildProcess>();

/** Starts a command, `serve` by default; resolves when it ends. */
export function launch(
  args: readonly string[],
  env: Environment = {},
  command: 'serve' | 'worker' = 'serve',
): [ChildProcess, Promise<Ended>] {
  const { EVENHAND_API_KEYS: _, EVENHAND_LOG_FILE: __, EVENHAND_JSON_LOGS: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, command, ...args], {
    env: { ...inherited, EVENHAND_LOG_LEVEL: 'error', ...env },
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return [child, ended];
}

/** Starts a service on a free port and waits until it listens. */
export async function startService(args: readonly string[], env?: Environment): Promise<ServiceProcess> {
  const [child, ended] = launch(['--port', '0', '--json', ...args], env);
  const line = await firstLine(child, ended);
  return { child, ended, ...(JSON.parse(line) as { port: number; url: string }) };
}

/** Starts `evenhand worker` and waits until it takes tasks. */
export async function startWorker(args: readonly string[], env?: Environment): Promise<ChildProcess> {
  const [child, ended] = launch(['--json', ...args], env, 'worker');
  await firstLine(child, ended);
  return child;
}

function firstLine(child: ChildProcess, ended: Promise<Ended>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.includes('\n')) resolve(text);
    });
    void ended.then(({ code, stderr }) => {
      reject(new Error(`The command ended with ${String(code)}: ${stderr}`));
    });
  });
}

/** Ends the processes that a test has left. */
export function endServices(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Returns the IDs of the child processes of a process. */
export function childrenOf({ child }: ServiceProcess): number[] {
  const listed = execFileSync('pgrep', ['-P', String(child.pid)]).toString();
  return listed.trim().split('\n').map(Number);
}

/** An answer. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** Opens one persistent connection, on which the same worker answers every request. */
export interface Connection {
  readonly ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly close: () => void;
}

export function openConnection({ port }: { readonly port: number }): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask: Connection['ask'] = (method, location, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      httpRequest(
        {
          host: '127.0.0.1',
          port,
          method,
          path: location,
          agent,
          headers: { ...type, 'content-length': Buffer.byteLength(text), ...headers },
        },
        (response) => {
          let received = '';
          response.on('data', (data: Buffer) => (received += data.toString()));
          response.on('error', reject);
          response.on('end', () => {
            const isJson = String(response.headers['content-type']).includes('json');
            const json = isJson ? (JSON.parse(received) as Record<string, unknown>) : {};
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, json });
          });
        },
      )
        .on('error', reject)
        .end(text);
    });
  return {
    ask,
    close: () => {
      agent.destroy();
    },
  };
}

/** Opens a connection to each of two workers, identified by the header. */
export async function connectToBoth(service: ServiceProcess): Promise<ReadonlyMap<string, Connection>> {
  const found = new Map<string, Connection>();
  for (let tries = 0; found.size < 2 && tries < 20; tries++) {
    const connection = openConnection(service);
    const { headers } = await connection.ask('GET', '/health');
    const name = String(headers['x-evenhand-worker']);
    if (found.has(name)) connection.close();
    else found.set(name, connection);
  }
  return found;
}
