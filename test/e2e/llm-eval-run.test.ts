import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { type LlmServer, startLlmServer } from '../helpers/llm-server.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

const KEY = 'sk-proj-planted0A1b2C3d4E5f6G7h8';

describe('evenhand llm-eval with realistic servers', function () {
  this.timeout(240_000);
  const folder = useTemporaryFolder();
  let server: LlmServer | undefined;

  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const pathOf = (name: string): string => path.join(folder(), name);
  const env = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY };
  const recordsIn = (file: string): { key: string; text: string | null }[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as { key: string; text: string | null })
      : [];

  /** 200 prompts with ten repeats each. */
  function configure(provider: 'openai' | 'anthropic', baseUrl: string, more = ''): string {
    const file = pathOf(`${provider}.yml`);
    const templates = Array.from({ length: 100 }, (_, index) => `    - In task ${String(index)}, advise a {gender}.`);
    writeFileSync(
      file,
      `provider: ${provider}
model: some-model
base_url: ${baseUrl}
cache_dir: ${pathOf(`${provider}-cache`)}
evaluators: [counterfactual]
concurrency: 8
repeats: 10
counterfactual:
  dimensions:
    gender: [woman, man]
  template:
${templates.join('\n')}
${more}`,
    );
    return file;
  }

  it('resumes after being killed during 2,000 requests, and has each answer once @slow', async () => {
    server = await startLlmServer({ key: KEY, delayMillis: 5 });
    const config = configure('openai', server.baseUrl);
    const plan = await runCli(['llm-eval', '--config', config, '--dry-run', '--json'], { cwd: folder(), env });
    const { request_count: count } = JSON.parse(plan.stdout) as { request_count: number };
    expect(server.requests).to.have.length(0);
    expect(count).to.equal(2000);
    const transcript = pathOf('answers.ndjson');
    const args = ['llm-eval', '--config', config, '--live', '--transcripts-out', transcript, '--no-with-ci', '--json'];
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: folder(),
      env: { ...process.env, ...env },
      timeout: 200_000,
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    while (server.requests.length < 900) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGKILL');
    await ended;
    const kept = recordsIn(transcript);
    const served = server.requests.length;
    expect(kept.length).to.be.within(served - 9, served);
    const again = await runCli([...args, '--resume'], { cwd: folder(), env });
    expect(again.code).to.equal(0);
    const records = recordsIn(transcript);
    expect(records).to.have.length(2000);
    expect(new Set(records.map(({ key }) => key)).size).to.equal(2000);
    expect(records.every(({ text }) => text !== null)).to.equal(true);
    // Only requests that were running when it was killed may be repeated.
    expect(server.requests.length).to.be.within(2000, 2000 + 8);
    expect(server.maxConcurrent).to.be.at.most(8);
    const { actual } = JSON.parse(again.stdout) as { actual: { requests: number; cached: number } };
    expect(actual.cached + actual.requests).to.equal(2000);
    console.log(`      killed after ${String(kept.length)} answers; ${String(server.requests.length)} requests in all`);
  });

  for (const provider of ['openai', 'anthropic'] as const) {
    it(`does not show the key of ${provider} in files, standard output or logs${provider === 'openai' ? '' : ' @slow'}`, async () => {
      server = await startLlmServer({
        key: KEY,
        otherwise: (_, index) => {
          if (index % 4 === 1) return { kind: 'error', status: 400, echoesKey: true };
          return index % 4 === 2 ? { kind: 'answer', text: `x-api-key: ${KEY}` } : { kind: 'answer', echoesKey: true };
        },
      });
      const config = configure(provider, server.baseUrl, 'max_requests_per_run: 60\n');
      const outputs = [
        '--transcripts-out',
        'a.ndjson',
        '--report-md',
        'r.md',
        '--report-html',
        'r.html',
        '--report-json',
        'r.json',
        '--junit',
        'r.xml',
      ];
      const log = { EVENHAND_LOG_FILE: pathOf(`${provider}.log`), EVENHAND_LOG_LEVEL: 'debug' };
      const named = outputs.map((name) => (name.startsWith('--') ? name : pathOf(`${provider}-${name}`)));
      const run = await runCli(['llm-eval', '--config', config, '--live', '--verbose', ...named], {
        cwd: folder(),
        env: { ...env, ...log },
      });
      expect(run.code).to.equal(1);
      server.setBehaviour({ key: KEY, otherwise: { kind: 'error', status: 401, echoesKey: true } });
      const refused = await runCli(['llm-eval', '--config', config, '--live', '--verbose', '--json'], {
        cwd: folder(),
        env: { ...env, ...log },
      });
      expect(refused.code).to.equal(3);
      const files = readdirSync(folder(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.length).to.be.above(20);
      const texts = files.map(({ parentPath, name }) => name + readFileSync(path.join(parentPath, name), 'utf8'));
      for (const text of [run.stdout, run.stderr, refused.stdout, refused.stderr, ...texts]) {
        expect(text.includes(KEY)).to.equal(false);
        expect(text.includes(KEY.slice(8))).to.equal(false);
      }
    });
  }
});
