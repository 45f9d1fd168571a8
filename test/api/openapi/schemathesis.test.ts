import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createApp } from '../../../src/api/app/create-app.ts';
import { createHttpServer } from '../../../src/api/serve/http-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

/** Schemathesis: a program in Python, which makes requests from the document, proper and improper ones. */
const PROGRAM = process.env['EVENHAND_SCHEMATHESIS'] ?? '';

const MIN_REQUESTS = 2000;

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/** How bodies are sent whose types Schemathesis does not know. */
const HOOKS = `import schemathesis

@schemathesis.serializer("application/x-ndjson", "text/tab-separated-values", "application/vnd.apache.parquet")
def plain(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()
`;

interface Run {
  readonly code: number | null;
  readonly output: string;
}

function run(args: readonly string[], cwd: string): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, args, {
      cwd,
      timeout: 540_000,
      env: { ...process.env, SCHEMATHESIS_HOOKS: 'hooks.py' },
    });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

describe('requests made from the OpenAPI document @slow', () => {
  const folder = useTemporaryFolder();

  it('are answered with documented statuses and bodies, and never by a fault of the service', async function () {
    if (PROGRAM === '') {
      console.log('      EVENHAND_SCHEMATHESIS names no executable of Schemathesis: not run');
      this.skip();
    }
    this.timeout(600_000);
    const app = createApp({ keys: [], threads: 1 });
    await app.ready();
    // The server of the service, since some answers are its own: to headers that are too large, say.
    const server = createHttpServer(app.callback());
    const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`;
    writeFileSync(path.join(folder(), 'hooks.py'), HOOKS);
    const record = path.join(folder(), 'requests.ndjson');
    try {
      const { code, output } = await run(
        [
          ...['run', `${url}/openapi.json`, '--checks', CHECKS.join(','), '--max-examples', '150', '--seed', '1'],
          ...['--phases', 'examples,coverage,fuzzing', '--continue-on-failure', '--no-shrink', '--no-color'],
          ...['--generation-database', 'none', '--report-ndjson-path', record, '--request-timeout', '60'],
        ],
        folder(),
      );
      expect(code, output.slice(-8000)).to.equal(0);
      const requests = readFileSync(record, 'utf8').match(/"status_code":\s*\d+/g) ?? [];
      console.log(`      ${String(requests.length)} requests were made`);
      expect(requests.length).to.be.at.least(MIN_REQUESTS);
    } finally {
      server.end();
      await app.close(1000);
    }
  });
});
