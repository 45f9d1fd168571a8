import { existsSync, mkdtempSync, readFileSync } from 'node:fs';

import { expect } from 'chai';

import { createJobRunner } from '../../../src/api/jobs/create-job-runner.ts';
import { inheritedEnvironment, providerEnvironment } from '../../../src/api/jobs/service-environment.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { startLlmServer } from '../../helpers/llm-server.ts';
import { startService } from '../serve/service-process.ts';

const PLANTED = {
  OPENAI_API_KEY: 'a-key-of-openai-0123',
  ANTHROPIC_API_KEY: 'a-key-of-anthropic-0123',
  EVENHAND_LLM_API_KEY: 'a-key-of-a-server-0123',
  EVENHAND_API_KEYS: 'a-key-of-the-service-0123',
  MLFLOW_TRACKING_URI: 'https://user:password@mlflow.example.org',
  MLFLOW_TRACKING_TOKEN: 'a-token-0123456789',
  WANDB_API_KEY: 'a-key-of-wandb-0123',
  AWS_SECRET_ACCESS_KEY: 'a-secret-0123456789',
  DATABASE_URL: 'postgres://user:password@db/x',
};

describe('the environment of workers and threads', () => {
  const folder = useTemporaryFolder();

  it('contains what they use, and no other key or address', () => {
    const used = {
      PATH: '/bin',
      HOME: '/root',
      TMPDIR: '/tmp',
      TZ: 'UTC',
      NODE_OPTIONS: '',
      EVENHAND_LOG_LEVEL: 'info',
    };
    expect(inheritedEnvironment({ ...used, ...PLANTED, unset: undefined })).to.deep.equal(used);
  });

  it('contains the key of the provider that the configuration names, and of no other', () => {
    expect(providerEnvironment('{"provider":"openai"}', PLANTED)).to.deep.equal({
      OPENAI_API_KEY: PLANTED.OPENAI_API_KEY,
    });
    expect(providerEnvironment('provider: bedrock', { ...PLANTED, AWS_REGION: 'us-east-1' })).to.deep.equal({
      AWS_SECRET_ACCESS_KEY: PLANTED.AWS_SECRET_ACCESS_KEY,
      AWS_REGION: 'us-east-1',
    });
    expect(providerEnvironment('provider: local', PLANTED)).to.deep.equal({});
  });

  it('a worker process does not inherit keys and addresses', async function () {
    this.timeout(60_000);
    if (!existsSync('/proc/self/environ')) {
      console.log('      skipped: this system has no /proc');
      this.skip();
    }
    const service = await startService(['--workers', '2'], PLANTED);
    const pid = String(service.child.pid);
    const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const environments = workers.map((worker) => readFileSync(`/proc/${worker}/environ`, 'utf8'));
    service.child.kill('SIGTERM');
    await service.ended;
    expect(workers.length).to.be.at.least(2);
    for (const environment of environments) {
      expect(environment).to.include('PATH=');
      for (const name of Object.keys(PLANTED)) expect(environment, name).to.not.include(`${name}=`);
    }
  });

  it('a job that uses a provider gets its key, although threads do not inherit it', async function () {
    this.timeout(60_000);
    const server = await startLlmServer({});
    const before = { ...process.env };
    Object.assign(process.env, PLANTED, { OPENAI_BASE_URL: server.baseUrl, EVENHAND_LLM_ALLOW_LIVE: '1' });
    const runner = createJobRunner({ threads: 1, queue: 4 });
    const ask = (provider: object) =>
      runner.run(
        {
          kind: 'llm-eval',
          body: JSON.stringify({
            model: 'm',
            evaluators: ['refusal'],
            prompt_templates: { a: 'How do I ask?' },
            ...provider,
          }),
          llmFolder: null,
        },
        {
          folder: mkdtempSync(`${folder()}/run-`),
          signal: new AbortController().signal,
          onProgress: () => undefined,
          onStart: () => undefined,
        },
      );
    try {
      await ask({ provider: 'openai', base_url: server.baseUrl });
      expect(server.requests[0]?.headers['authorization']).to.equal(`Bearer ${PLANTED.OPENAI_API_KEY}`);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
      Object.assign(process.env, before);
      await runner.close();
      await server.close();
    }
  });
});
