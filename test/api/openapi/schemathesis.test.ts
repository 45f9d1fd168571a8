import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createApp } from '../../../src/api/app/create-app.ts';
import { createHttpServer } from '../../../src/api/serve/http-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { listenerOf } from '../../helpers/service.ts';

/** Schemathesis, a Python program that generates valid and invalid requests from the document. */
const PROGRAM = process.env['EVENHAND_SCHEMATHESIS'] ?? '';

const MIN_REQUESTS = 5000;

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/** Serializers for media types that Schemathesis does not know. */
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
      timeout: 900_000,
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

describe('requests generated from the OpenAPI document @study', () => {
  const folder = useTemporaryFolder();

  it('are answered with documented statuses and bodies, and never by an internal error', async function () {
    if (PROGRAM === '') {
      console.log('      EVENHAND_SCHEMATHESIS names no executable of Schemathesis: not run');
      this.skip();
    }
    this.timeout(960_000);
    const app = createApp({ keys: [], threads: 1 });
    await app.ready();
    // The real server is used, because it answers some requests itself, for example if headers are too large.
    const server = createHttpServer(listenerOf(app));
    const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`;
    writeFileSync(path.join(folder(), 'hooks.py'), HOOKS);
    const record = path.join(folder(), 'requests.ndjson');
    try {
      const { code, output } = await run(
        [
          ...['run', `${url}/openapi.json`, '--checks', CHECKS.join(','), '--max-examples', '150', '--seed', '1'],
          ...['--phases', 'examples,coverage,fuzzing,stateful', '--continue-on-failure', '--no-shrink', '--no-color'],
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
