import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { logFairnessMetrics } from '../../../src/integration/tracking/index.ts';
import { demographicParityDifference } from '../../../src/metrics/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { type Behaviour, MlflowStub } from '../../helpers/mlflow-stub.ts';

const MEBIBYTE = 2 ** 20;
const RESULT = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });

describe('a response of a tracking server', () => {
  const warnings = useLoggedWarnings();
  let server: MlflowStub;
  let address = '';
  beforeEach(async () => {
    server = new MlflowStub();
    address = await server.start();
  });
  afterEach(() => server.stop());

  /** Tracks on a server with a given behaviour for batches. */
  async function track(behave: Behaviour): Promise<boolean> {
    server.behave = (request, response) =>
      request.path.endsWith('runs/log-batch') ? behave(request, response) : 'pass';
    return logFairnessMetrics(RESULT, { trackingUri: address, totalTimeoutMillis: 8000 });
  }

  /** Returns a JSON object with the given number of bytes. */
  function padded(bytes: number): Buffer {
    return Buffer.from(`{${' '.repeat(bytes - 2)}}`);
  }

  function answers(body: Buffer, headers: Record<string, string> = {}, status = 200): Behaviour {
    return (_request, response) => void response.writeHead(status, headers).end(body);
  }

  it('is read completely up to 1 MiB, including characters split over two chunks', async () => {
    expect(await track(answers(padded(MEBIBYTE))), warnings().join()).to.equal(true);
    const text = Buffer.from(JSON.stringify({ message: 'é' }));
    const halves: Behaviour = (_request, response) => {
      response.writeHead(400).write(text.subarray(0, -3));
      setTimeout(() => response.end(text.subarray(-3)), 50);
      return undefined;
    };
    await track(halves);
    expect(warnings()).to.deep.equal(['MLflow tracking failed: the server answered HTTP 400, é']);
  });

  const LONG: readonly (readonly [title: string, behave: Behaviour])[] = [
    ['one byte more than 1 MiB', answers(padded(MEBIBYTE + 1))],
    ['a response that is short until it is decompressed', answers(gzipSync(padded(4 * MEBIBYTE)), { 'content-encoding': 'gzip' })],
    ['a failure, which would otherwise be repeated', answers(padded(2 * MEBIBYTE), {}, 503)],
  ]; // prettier-ignore
  for (const [title, behave] of LONG) {
    it(`is rejected if it is longer, without retries: ${title}`, async () => {
      expect(await track(behave)).to.equal(false);
      expect(warnings()).to.deep.equal(['MLflow tracking failed: the response is longer than 1 MiB']);
      expect(server.count('runs/log-batch')).to.equal(1);
      expect(server.runs.map((run) => run.status)).to.deep.equal(['FAILED']);
    });
  }

  it('is abandoned early if it never ends', async () => {
    let sent = 0;
    let isClosed = false;
    const endless: Behaviour = (_request, response) => {
      const chunk = Buffer.alloc(MEBIBYTE, 32);
      response.on('close', () => (isClosed = true));
      const send = (): void => {
        if (isClosed || sent > 200 * MEBIBYTE) return;
        sent += chunk.length;
        if (response.write(chunk)) setImmediate(send);
        else response.once('drain', send);
      };
      response.writeHead(200);
      send();
      return undefined;
    };
    expect(await track(endless)).to.equal(false);
    expect(warnings()).to.deep.equal(['MLflow tracking failed: the response is longer than 1 MiB']);
    expect(server.count('runs/log-batch')).to.equal(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isClosed).to.equal(true);
    expect(sent).to.be.below(50 * MEBIBYTE);
  });
});
