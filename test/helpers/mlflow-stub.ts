import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The body as JSON; null if it is not JSON. */
  readonly json: Record<string, unknown> | null;
  /** The arrival time in milliseconds of a monotonic clock. */
  readonly atMillis: number;
}

/** Answers a request instead of the fake server; 'pass' lets it answer like MLflow. */
export type Behaviour = (request: SeenRequest, response: ServerResponse) => 'pass' | undefined;

interface StoredEntry {
  readonly key: string;
  readonly value: unknown;
}

/** A run as the fake server stores it. */
export interface StoredRun {
  readonly id: string;
  readonly name: string;
  readonly experimentId: string;
  readonly startTime: unknown;
  status: string;
  endTime: unknown;
  readonly metrics: (StoredEntry & { readonly timestamp: number; readonly step: number })[];
  readonly params: StoredEntry[];
  readonly tags: StoredEntry[];
}

/**
 * A fake MLflow tracking server in memory, with the limits and rules of MLflow 3.17 (mlflow/utils/validation.py) that
 * are relevant here.
 */
export class MlflowStub {
  readonly requests: SeenRequest[] = [];
  readonly experiments: { readonly id: string; readonly name: string; stage: string }[] = [];
  readonly runs: StoredRun[] = [];
  readonly artifacts = new Map<string, Buffer>();
  behave: Behaviour = () => 'pass';
  artifactScheme = 'mlflow-artifacts:';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const request = seen(incoming, Buffer.concat(chunks));
        this.requests.push(request);
        if (this.behave(request, response) === 'pass') this.#answer(request, response);
      });
      incoming.on('error', () => undefined);
    });
  }

  /** Listens on a free port of the loopback interface; returns the address. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Returns how often an API call was made. */
  count(ending: string): number {
    return this.requests.filter(({ path }) => path.split('?')[0]?.endsWith(ending)).length;
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    const url = new URL(request.path, 'http://localhost');
    const [, call] = /\/api\/2\.0\/mlflow\/(.*)$/.exec(url.pathname) ?? [];
    const [, artifact] = /\/api\/2\.0\/mlflow-artifacts\/artifacts\/(.*)$/.exec(url.pathname) ?? [];
    if (artifact !== undefined && request.method === 'PUT') {
      const name = decodeURIComponent(artifact);
      if (/[#%\\]|\.\./.test(name)) {
        fail(response, 400, 'INVALID_PARAMETER_VALUE', 'Invalid path');
        return;
      }
      this.artifacts.set(name, request.bytes);
      response.writeHead(200).end();
    } else if (`${request.method} ${call}` in this.#calls) {
      this.#calls[`${request.method} ${call}`]?.(request.json ?? {}, url, response);
    } else {
      response.writeHead(404).end('<html>Not Found</html>');
    }
  }

  readonly #calls: Record<string, (body: Record<string, unknown>, url: URL, response: ServerResponse) => void> = {
    'GET experiments/get-by-name': (_body, url, response) => {
      const name = url.searchParams.get('experiment_name');
      const found = this.experiments.find((experiment) => experiment.name === name);
      if (found === undefined) fail(response, 404, 'RESOURCE_DOES_NOT_EXIST', `Could not find experiment ${name}`);
      else
        send(response, 200, {
          experiment: { experiment_id: found.id, name: found.name, lifecycle_stage: found.stage },
        });
    },
    'POST experiments/create': ({ name }, _url, response) => {
      if (this.experiments.some((experiment) => experiment.name === name)) {
        fail(response, 400, 'RESOURCE_ALREADY_EXISTS', `Experiment(name=${String(name)}) already exists`);
        return;
      }
      const id = String(this.experiments.length + 1);
      this.experiments.push({ id, name: String(name), stage: 'active' });
      send(response, 200, { experiment_id: id });
    },
    'POST runs/create': (body, _url, response) => {
      const id = `run${this.runs.length + 1}`;
      const run: StoredRun = {
        id,
        name: 'run_name' in body ? String(body['run_name']) : 'merry-gnu-1',
        experimentId: String(body['experiment_id']),
        startTime: body['start_time'],
        status: 'RUNNING',
        endTime: undefined,
        metrics: [],
        params: [],
        tags: [],
      };
      this.runs.push(run);
      send(response, 200, this.#shown(run));
    },
    'GET runs/get': (_body, url, response) => {
      const found = this.runs.find(({ id }) => id === url.searchParams.get('run_id'));
      if (found === undefined) fail(response, 404, 'RESOURCE_DOES_NOT_EXIST', 'Run not found');
      else send(response, 200, this.#shown(found));
    },
    'POST runs/log-batch': (body, _url, response) => {
      const run = this.runs.find(({ id }) => id === body['run_id']);
      const reason = run === undefined ? 'no such run' : problemOf(body);
      if (run === undefined || reason !== undefined) {
        fail(response, 400, 'INVALID_PARAMETER_VALUE', reason ?? '');
        return;
      }
      run.metrics.push(...(body['metrics'] as StoredRun['metrics']));
      run.params.push(...(body['params'] as StoredEntry[]));
      run.tags.push(...(body['tags'] as StoredEntry[]));
      send(response, 200, {});
    },
    'POST runs/update': (body, _url, response) => {
      const run = this.runs.find(({ id }) => id === body['run_id']);
      if (run !== undefined) {
        run.status = String(body['status']);
        run.endTime = body['end_time'];
      }
      send(response, 200, {});
    },
  };

  #shown({ id, experimentId, status }: StoredRun): unknown {
    const artifact_uri = `${this.artifactScheme}/${experimentId}/${id}/artifacts`;
    return {
      run: { info: { run_id: id, experiment_id: experimentId, status, artifact_uri, lifecycle_stage: 'active' } },
    };
  }
}

/** Sends JSON. */
export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, error_code: string, message: string): void {
  send(response, status, { error_code, message });
}

/** Returns the reason why MLflow would reject a batch; undefined if it would accept it. */
function problemOf(body: Record<string, unknown>): string | undefined {
  const [metrics, params, tags] = ['metrics', 'params', 'tags'].map((kind) => body[kind] as StoredEntry[]) as [
    StoredEntry[],
    StoredEntry[],
    StoredEntry[],
  ];
  const all = [...metrics, ...params, ...tags];
  if (metrics.length > 1000 || params.length > 100 || tags.length > 100 || all.length > 1000) return 'too many entries';
  if (JSON.stringify(body).length > 1e6) return 'too many bytes';
  if (new Set(params.map(({ key }) => key)).size < params.length) return 'a duplicate param';
  if (metrics.some(({ value }) => typeof value !== 'number')) return 'a metric is not a number';
  if (params.some(({ value }) => String(value).length > 6000)) return 'a long param';
  if (tags.some(({ value }) => String(value).length > 8000)) return 'a long tag';
  const bad = all.find(({ key }) => !isKey(key));
  return bad === undefined ? undefined : `a bad key: ${bad.key}`;
}

/** Returns whether a key matches Python's `^[/\w.\- :]*$`, is a normalized path, and has at most 250 characters. */
function isKey(key: string): boolean {
  const isNormal =
    key.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !key.startsWith('..');
  return /^[/\p{L}\p{N}_.\- :]+$/u.test(key) && isNormal && key.length <= 250;
}

function seen(incoming: IncomingMessage, bytes: Buffer): SeenRequest {
  const { method = '', url = '', headers } = incoming;
  const isJson = headers['content-type'] === 'application/json';
  const json = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : null;
  return { method, path: url, headers, bytes, json, atMillis: performance.now() };
}
