import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect } from 'chai';

import { logFairnessMetrics } from '../../../src/integration/tracking/index.ts';
import type { TrackingOptions } from '../../../src/integration/tracking/index.ts';
import { demographicParityDifference } from '../../../src/metrics/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { type Behaviour, MlflowStub, send } from '../../helpers/mlflow-stub.ts';
import { projectRoot } from '../../helpers/project-files.ts';

describe('tracking on a server that fails', () => {
  const RESULT = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
  const warnings = useLoggedWarnings();

  let server: MlflowStub;
  let address = '';
  beforeEach(async () => {
    server = new MlflowStub();
    address = await server.start();
  });
  afterEach(() => server.stop());

  /** Tracks on the fake server; returns the outcome and the time it took. */
  async function track(options: TrackingOptions = {}): Promise<{ logged: boolean; millis: number }> {
    const start = performance.now();
    const logged = await logFairnessMetrics(RESULT, { trackingUri: address, ...options });
    return { logged, millis: performance.now() - start };
  }

  /** Answers the first calls of a path in a given way, and then like MLflow. */
  function first(times: number, ending: string, behave: Behaviour): Behaviour {
    let left = times;
    return (request, response) =>
      request.path.split('?')[0]?.endsWith(ending) === true && left-- > 0 ? behave(request, response) : 'pass';
  }

  function status(code: number, headers: Record<string, string> = {}, body: unknown = {}): Behaviour {
    return (_request, response) => {
      send(response, code, body, headers);
      return undefined;
    };
  }

  const closes: Behaviour = (_request, response) => {
    response.socket?.destroy();
    return undefined;
  };
  const hangs: Behaviour = () => undefined;

  describe('a call that fails temporarily is repeated', () => {
    const PASSING: readonly (readonly [title: string, behave: Behaviour, options?: TrackingOptions])[] = [
      ['HTTP 500', status(500)],
      ['HTTP 502 with rubbish', (_request, response) => void response.writeHead(502).end('<html>')],
      ['HTTP 503', status(503)],
      ['HTTP 429', status(429)],
      ['a closed connection', closes],
      // The second call has the same limit, within which a busy machine must answer.
      ['no response in time', hangs, { timeoutMillis: 1000 }],
      [
        'a truncated response',
        (_request, response) => {
          response.writeHead(200, { 'content-length': '100' }).write('{"');
          setTimeout(() => response.socket?.destroy(), 20);
          return undefined;
        },
      ],
    ];
    for (const [title, behave, options] of PASSING) {
      it(title, async () => {
        server.behave = first(1, 'runs/log-batch', behave);
        const { logged, millis } = await track(options);
        expect(logged, warnings().join()).to.equal(true);
        expect(server.count('runs/log-batch')).to.equal(2);
        expect(server.runs.map((run) => run.status)).to.deep.equal(['FINISHED']);
        expect(millis).to.be.at.least(240);
      });
    }

    it('three times, after 250, 500 and 1000 milliseconds', async () => {
      server.behave = first(3, 'runs/log-batch', status(500));
      expect((await track()).logged).to.equal(true);
      const times = server.requests
        .filter(({ path: name }) => name.endsWith('log-batch'))
        .map(({ atMillis }) => atMillis);
      const waits = times.slice(1).map((time, position) => time - (times[position] as number));
      expect(waits).to.have.length(3);
      for (const [position, wait] of [250, 500, 1000].entries())
        expect(waits[position]).to.be.within(wait - 10, wait + 400);
    });

    it('not a fourth time; the run is marked as failed', async () => {
      server.behave = first(4, 'runs/log-batch', status(500));
      expect((await track()).logged).to.equal(false);
      expect(server.count('runs/log-batch')).to.equal(4);
      expect(warnings()).to.deep.equal(['MLflow tracking failed: the server answered HTTP 500']);
      expect(server.runs.map((run) => run.status)).to.deep.equal(['FAILED']);
    });

    const DATE = Date.UTC(1994, 10, 6, 8, 49, 36);
    for (const [form, headers] of Object.entries({
      seconds: { 'retry-after': '1' },
      'an HTTP date': { date: new Date(DATE).toUTCString(), 'retry-after': new Date(DATE + 1000).toUTCString() },
    })) {
      it(`after as long as Retry-After asks for, as ${form}`, async () => {
        server.behave = first(1, 'runs/log-batch', status(429, headers));
        expect((await track()).logged).to.equal(true);
        const [once = 0, again = 0] = server.requests
          .filter((request) => request.path.endsWith('log-batch'))
          .map(({ atMillis }) => atMillis);
        expect(again - once).to.be.within(990, 2000);
      });
    }

    it('but not beyond the total time limit, if Retry-After asks for more', async () => {
      server.behave = first(1, 'runs/log-batch', status(503, { 'retry-after': '9999' }));
      const { logged, millis } = await track({ totalTimeoutMillis: 400 });
      expect(logged).to.equal(false);
      expect(millis).to.be.below(1500);
      expect(warnings()[0]).to.include('the calls took longer than 0.4 s in total');
      expect(server.runs.map((run) => run.status)).to.deep.equal(['FAILED']);
    });

    it('not if it may have created a run', async () => {
      server.behave = first(1, 'runs/create', status(500));
      expect((await track()).logged).to.equal(false);
      expect(server.count('runs/create')).to.equal(1);
    });

    it('also a call that creates a run, if the server has certainly created none', async () => {
      server.behave = first(1, 'runs/create', status(503));
      expect((await track()).logged).to.equal(true);
      expect(server.runs).to.have.length(1);
    });

    it('if an experiment was created in spite of the error', async () => {
      server.behave = first(1, 'experiments/create', (request, response) => {
        server.experiments.push({ id: '7', name: String(request.json?.['name']), stage: 'active' });
        return status(500)(request, response);
      });
      expect((await track()).logged).to.equal(true);
      expect(server.runs[0]?.experimentId).to.equal('7');
    });
  });

  describe('a permanent failure is not repeated, and has a reason', () => {
    const html: Behaviour = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>hello</title>');
      return undefined;
    };
    const LASTING: readonly (readonly [title: string, behave: Behaviour, reason: RegExp])[] = [
      [
        'HTTP 400 with its reason',
        status(400, {}, { error_code: 'INVALID_PARAMETER_VALUE', message: 'bad\nname' }),
        /HTTP 400, INVALID_PARAMETER_VALUE: bad name$/,
      ],
      ['HTTP 401', status(401), /HTTP 401; check the credentials$/],
      ['HTTP 403', status(403), /HTTP 403; check the credentials$/],
      ['HTTP 404 of no API', (_request, response) => void response.writeHead(404).end('nothing here'), /HTTP 404$/],
      ['a page instead of a response', html, /not from MLflow \(HTTP 200 without JSON\)/],
      [
        'no content',
        (_request, response) => void response.writeHead(200).end(),
        /not from MLflow \(it has no experiment\.experiment_id\)/,
      ],
      ['a list', status(200, {}, [1]), /not from MLflow \(HTTP 200 without JSON\)/],
      [
        'an object with another content',
        status(200, {}, { experiment: { experiment_id: 5 } }),
        /it has no experiment\.experiment_id/,
      ],
      ['null', status(200, {}, { experiment: null }), /it has no experiment\.experiment_id/],
      [
        'a redirect',
        status(308, { location: 'https://mlflow.example.org/api?password=x' }),
        /redirects to https:\/\/mlflow\.example\.org \(HTTP 308\): name the final address$/,
      ],
      ['a long message, cut', status(400, {}, { message: 'x'.repeat(5000) }), /^.{1,400}…$/],
    ];
    for (const [title, behave, reason] of LASTING) {
      it(title, async () => {
        server.behave = behave;
        const { logged, millis } = await track();
        expect(logged).to.equal(false);
        expect(server.requests).to.have.length(1);
        expect(warnings()).to.have.length(1);
        expect(warnings()[0]).to.match(reason);
        expect(millis).to.be.below(1000);
      });
    }

    it('a run whose creation returns an invalid response', async () => {
      server.behave = first(1, 'runs/create', status(200, {}, { run: { info: {} } }));
      expect((await track()).logged).to.equal(false);
      expect(warnings()[0]).to.include('it has no run.info.run_id');
    });

    it('a deleted experiment, which stays deleted', async () => {
      server.experiments.push({ id: '1', name: 'old', stage: 'deleted' });
      expect((await track({ experiment: 'old' })).logged).to.equal(false);
      expect(warnings()[0]).to.include("the experiment 'old' is deleted");
      expect(server.requests).to.have.length(1);
    });

    it('a run that does not exist', async () => {
      expect((await track({ runId: 'nowhere' })).logged).to.equal(false);
      expect(warnings()[0]).to.match(/HTTP 404, RESOURCE_DOES_NOT_EXIST: Run not found$/);
    });

    it('an empty list of metrics', async () => {
      expect(await logFairnessMetrics([], { trackingUri: address })).to.equal(false);
      expect(await logFairnessMetrics({}, { trackingUri: address })).to.equal(false);
      expect(warnings()[0]).to.include('no metrics were given');
      expect(server.requests).to.deep.equal([]);
    });

    it('values that are not metrics, without throwing', async () => {
      for (const metrics of [null, 5, { a: 5 }, [undefined]]) {
        expect(await logFairnessMetrics(metrics as never, { trackingUri: address })).to.equal(false);
      }
      expect(warnings()).to.have.length(4);
    });
  });

  describe('tracking ends in bounded time', () => {
    it('if a server accepts connections and never answers', async () => {
      server.behave = hangs;
      const { logged, millis } = await track({ timeoutMillis: 300, totalTimeoutMillis: 1000 });
      expect(logged).to.equal(false);
      expect(millis).to.be.within(900, 2000);
    });

    it('if each answer is slow', async () => {
      server.behave = (_request, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => {
          clearInterval(timer);
        });
        return undefined;
      };
      const { logged, millis } = await track({ timeoutMillis: 200, totalTimeoutMillis: 700 });
      expect(logged).to.equal(false);
      expect(millis).to.be.within(600, 1700);
    });

    it('two seconds later if the server hangs after a run was created', async () => {
      server.behave = (request) =>
        request.path.includes('runs/log-batch') || request.path.includes('update') ? undefined : 'pass';
      const { logged, millis } = await track({ totalTimeoutMillis: 500 });
      expect(logged).to.equal(false);
      expect(millis).to.be.within(2400, 3500);
    });

    it('if the connection is refused', async () => {
      await server.stop();
      const { logged, millis } = await track();
      expect(logged).to.equal(false);
      expect(warnings()[0]).to.include('the server cannot be reached (ECONNREFUSED)');
      expect(millis).to.be.within(1700, 4000);
    });

    it('if the server speaks another protocol', async () => {
      const odd = createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2\r\n'));
      await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
      const { port } = odd.address() as AddressInfo;
      const { logged } = await track({ trackingUri: `http://127.0.0.1:${port}`, totalTimeoutMillis: 500 });
      odd.close();
      expect(logged).to.equal(false);
    });

    it('if it is stopped; the run is marked as killed', async () => {
      const stop = new AbortController();
      server.behave = first(1, 'runs/log-batch', () => {
        stop.abort();
        return undefined;
      });
      const { logged, millis } = await track({ signal: stop.signal });
      expect(logged).to.equal(false);
      expect(millis).to.be.below(1000);
      expect(warnings()[0]).to.match(/tracking was stopped$/);
      expect(server.runs.map((run) => run.status)).to.deep.equal(['KILLED']);
    });

    it('if it was stopped before it began', async () => {
      expect((await track({ signal: AbortSignal.abort() })).logged).to.equal(false);
      expect(server.requests).to.deep.equal([]);
    });

    it('and lets the process exit immediately afterwards', async () => {
      server.behave = hangs;
      const tracking = pathToFileURL(path.join(projectRoot, 'src/integration/tracking/index.ts')).href;
      const metrics = pathToFileURL(path.join(projectRoot, 'src/metrics/index.ts')).href;
      const code = `
      import { logFairnessMetrics } from '${tracking}';
      import { demographicParityDifference } from '${metrics}';
      const result = demographicParityDifference([1, 0], ['a', 'b'], { minGroupSize: 1 });
      const options = { trackingUri: '${address}', timeoutMillis: 100, totalTimeoutMillis: 300 };
      console.log(await logFairnessMetrics(result, options));
      const done = performance.now();
      process.on('exit', () => console.log(performance.now() - done));`;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
        cwd: projectRoot,
        timeout: 60_000,
      });
      let stdout = '';
      child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
      await once(child, 'close');
      const [logged, idle] = stdout.split('\n');
      expect(logged).to.equal('false');
      expect(Number(idle)).to.be.within(0, 500);
    });
  });
});
