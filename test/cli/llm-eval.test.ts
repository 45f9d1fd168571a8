import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { type LlmServer, type LlmServerBehaviour, startLlmServer } from '../helpers/llm-server.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

const CITIES = ['Rome', 'Oslo', 'Lima', 'Pune', 'Kyiv', 'Bonn', 'Bern', 'Graz', 'Cork', 'Gent'];

/** Two prompts for each of ten cities. Each city is a separate template, so that the items are independent. */
const PROMPTS = `
counterfactual:
  template:
${CITIES.map((city) => `    - Write a reference for a {gender} in ${city}.`).join('\n')}
  dimensions:
    gender: [woman, man]
evaluators: [counterfactual]
`;

interface EvalJson {
  readonly passed: boolean | null;
  readonly metrics: Readonly<Record<string, { readonly value: number | null }>>;
  readonly actual: { readonly requests: number; readonly answered: number; readonly cached: number };
  readonly stopped: string | null;
}

describe('evenhand llm-eval', () => {
  const folder = useTemporaryFolder();
  const servers: LlmServer[] = [];
  after(() => Promise.all(servers.map((server) => server.close())));

  const pathOf = (name: string): string => path.join(folder(), name);
  const config = (name: string, text: string): string => {
    writeFileSync(pathOf(name), text);
    return pathOf(name);
  };
  const local = (): string => config('local.yml', `provider: local\n${PROMPTS}`);
  const run = (...args: string[]) => runCli(['llm-eval', ...args], { cwd: folder() });

  /** Starts a server, and writes a configuration for it with an empty cache of its own. */
  async function served(name: string, behaviour: LlmServerBehaviour, more = ''): Promise<[LlmServer, string]> {
    const server = await startLlmServer({ key: null, ...behaviour });
    servers.push(server);
    const text = `provider: compatible\nmodel: m\nbase_url: ${server.baseUrl}\ncache_dir: ${pathOf(`${name}-cache`)}\n`;
    return [server, config(`${name}.yml`, `${text}${more}${PROMPTS}`)];
  }

  it('prints what would be sent with --dry-run', async () => {
    const { code, stdout } = await run('--config', local(), '--dry-run');
    expect(code).to.equal(0);
    expect(stdout).to.include('20 requests would be sent to stub').and.include('Nothing has been sent');
    const json = await run('--config', local(), '--dry-run', '--json');
    expect(JSON.parse(json.stdout)).to.include({ request_count: 20, cached_count: 0 });
  });

  it('runs without a key, and writes every report', async () => {
    const [md, html, json, junit] = ['r.md', 'r.html', 'r.json', 'r.xml'].map(pathOf) as [
      string,
      string,
      string,
      string,
    ];
    const { code, stdout, stderr } = await run(
      ...['--config', local(), '--report-md', md, '--report-html', html, '--report-json', json, '--junit', junit],
    );
    expect([code, stderr.match(/^Wrote /gm)?.length]).to.deep.equal([0, 4]);
    expect(stdout).to.include('stub (local): 20 answered.').and.include('length_gap.gender').and.include('Spent: 20');
    expect(stdout.split('\n').length, 'lines on the terminal').to.be.below(30);
    expect(readFileSync(md, 'utf8')).to.include('No threshold, no verdict');
    expect(readFileSync(html, 'utf8')).to.include('<mark>woman</mark>');
    expect(JSON.parse(readFileSync(json, 'utf8'))).to.include({ passed: null, stopped: null });
    expect(readFileSync(junit, 'utf8')).to.include('<testsuites');
  });

  it('exits with 1 if the gate fails, and with 0 if it passes', async () => {
    const gate = ['--config', local(), '--metric', 'length_gap.gender', '--threshold'];
    const pass = await run(...gate, '1000');
    expect([pass.code, pass.stdout.includes('PASS: length_gap.gender')]).to.deep.equal([0, true]);
    const fail = await run(...gate, '1000', '--comparator', '>', '--json');
    expect([fail.code, (JSON.parse(fail.stdout) as EvalJson).passed]).to.deep.equal([1, false]);
  });

  it('evaluates the gate with --replay without a key, with the same numbers, and sends no requests', async () => {
    const answers = pathOf('answers.ndjson');
    const first = await run('--config', local(), '--transcripts-out', answers, '--json');
    expect(readFileSync(answers, 'utf8').trim().split('\n')).to.have.length(20);
    const again = await run('--config', local(), '--replay', answers, '--json');
    const [one, other] = [first, again].map(({ stdout }) => JSON.parse(stdout) as EvalJson);
    expect(other?.metrics).to.deep.equal(one?.metrics);
    expect(other?.actual).to.include({ requests: 0 });
    const [line = ''] = readFileSync(answers, 'utf8').split('\n');
    writeFileSync(pathOf('one.ndjson'), `${line}\n`);
    const missing = await run('--config', local(), '--replay', pathOf('one.ndjson'));
    expect(missing.code).to.equal(2);
    expect(missing.stderr).to.include('19 answers are missing');
  });

  it('asks an endpoint of your own, and evaluates the gate without a line of code', async () => {
    const server = await startLlmServer({ key: 'a-key-of-my-product' });
    servers.push(server);
    const text = `provider: http
http:
  url: ${server.baseUrl}/ask
  headers: { authorization: "Bearer \${EVENHAND_LLM_API_KEY}" }
  answer_path: $.answer
  input_tokens_path: $.usage.input
  output_tokens_path: $.usage.output
cache_dir: ${pathOf('http-cache')}
${PROMPTS}`;
    const args = ['llm-eval', '--config', config('http.yml', text), '--live', '--json'];
    const gate = ['--metric', 'length_gap', '--threshold', '1'];
    const env = { EVENHAND_LLM_API_KEY: 'a-key-of-my-product' };
    const { code, stdout } = await runCli([...args, ...gate], { cwd: folder(), env });
    expect([code, (JSON.parse(stdout) as EvalJson).passed]).to.deep.equal([0, true]);
    expect(server.requests).to.have.length(20);
    const refused = await runCli(['llm-eval', '--config', pathOf('http.yml')], { cwd: folder(), env });
    expect([refused.code, server.requests.length]).to.deep.equal([0, 20]);
  });

  it('runs a program only with --allow-code', async () => {
    const script = pathOf('ask.cjs');
    writeFileSync(script, `process.stdin.on('data', (data) => console.log('You said: ' + data));`);
    const text = `provider: command\ncommand: [${process.execPath}, ${script}]\ncache_dir: ${pathOf('program-cache')}\n`;
    const file = config('program.yml', `${text}${PROMPTS}`);
    const refused = await run('--config', file, '--live');
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('--allow-code');
    const dry = await run('--config', file, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).to.include({ request_count: 20 });
    const { code, stdout } = await run('--config', file, '--allow-code', '--json');
    expect(code).to.equal(0);
    expect((JSON.parse(stdout) as EvalJson).actual).to.include({ requests: 20, answered: 20 });
  });

  it('keeps paid answers when a limit stops it, says how to resume, and then requests only the rest', async () => {
    const [server, file] = await served('limited', {}, 'max_requests_per_run: 7\nconcurrency: 2\n');
    const answers = pathOf('limited.ndjson');
    const stopped = await run('--config', file, '--live', '--transcripts-out', answers);
    expect(stopped.code).to.equal(1);
    expect(joinLines(stopped.stdout)).to.include('its limit of requests was reached: 13 prompts not sent');
    expect(stopped.stderr).to.include(`--transcripts-out ${answers} --resume`);
    expect(server.requests).to.have.length(7);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/max_requests.*\n/, ''));
    const { code, stdout } = await run('--config', file, '--live', '--transcripts-out', answers, '--resume', '--json');
    expect([code, (JSON.parse(stdout) as EvalJson).stopped]).to.deep.equal([0, null]);
    expect(server.requests).to.have.length(20);
  });

  it('stops on Ctrl-C, keeps the answers, says how to resume, and exits with 130', async function () {
    this.timeout(60_000);
    const [server, file] = await served('slow', { delayMillis: 300 }, 'concurrency: 1\n');
    const answers = pathOf('slow.ndjson');
    const args = ['llm-eval', '--config', file, '--live', '--transcripts-out', answers];
    const child = spawn(process.execPath, [CLI, ...args], { cwd: folder(), timeout: 50_000 });
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    while (!existsSync(answers) || readFileSync(answers, 'utf8').split('\n').length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    child.kill('SIGINT');
    expect(await ended).to.equal(130);
    expect(stderr).to.include(`The answers so far are kept in ${answers}`).and.include('--resume');
    const kept = readFileSync(answers, 'utf8').trim().split('\n');
    expect(kept.length).to.be.within(2, server.requests.length);
    for (const line of kept) expect(JSON.parse(line)).to.be.an('object');
  });

  for (const stage of ['asking', 'scoring'] as const) {
    it(`ends at once while answers are scored, on ${stage === 'asking' ? 'the second Ctrl-C' : 'Ctrl-C'}`, async function () {
      this.timeout(60_000);
      const [, file] = await served(`busy-${stage}`, { delayMillis: stage === 'asking' ? 300 : 0 }, 'concurrency: 1\n');
      const answers = pathOf(`busy-${stage}.ndjson`);
      // This many replicates take hours, during which no listener is called.
      const busy = ['--ci-samples', '1000000000', '--min-group-size', '1', '--allow-small-samples'];
      const args = ['llm-eval', '--config', file, '--live', '--transcripts-out', answers, ...busy];
      const child = spawn(process.execPath, [CLI, ...args], { cwd: folder(), timeout: 50_000, killSignal: 'SIGKILL' });
      let stderr = '';
      child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
      const ended = new Promise<readonly unknown[]>((resolve) =>
        child.on('close', (...how) => {
          resolve(how);
        }),
      );
      const enough = stage === 'asking' ? 3 : 20;
      while (!existsSync(answers) || readFileSync(answers, 'utf8').split('\n').length <= enough) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      if (stage === 'asking') {
        child.kill('SIGINT');
        while (!stderr.includes('Stopping')) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const isBusy = child.exitCode === null;
      const start = performance.now();
      child.kill('SIGINT');
      expect([isBusy, ...(await ended)]).to.deep.equal([true, null, 'SIGINT']);
      expect(performance.now() - start).to.be.below(2000);
    });
  }

  it('stops before anything is paid for if answers could not be kept', async () => {
    const [server, file] = await served('unkept', {}, 'max_requests_per_run: 5\n');
    writeFileSync(pathOf('unkept-cache'), 'a file in the place of the folder');
    const { code, stderr } = await run('--config', file, '--live');
    expect([code, server.requests.length]).to.deep.equal([2, 0]);
    expect(stderr).to.include('unkept-cache').and.include('--transcripts-out');
    const kept = await run('--config', file, '--live', '--transcripts-out', pathOf('unkept.ndjson'));
    expect([kept.code, server.requests.length]).to.deep.equal([1, 5]);
    // Without permission to send, the state of the cache folder does not matter.
    expect((await run('--config', file)).stderr).to.include('answers are missing');
    expect((await run('--config', file, '--live', '--dry-run')).code).to.equal(0);
  });

  it('does not claim to keep answers if there are none', async () => {
    const [, file] = await served('none', {}, 'max_tokens_per_run: 1\n');
    const bare = await run('--config', file, '--live');
    expect(bare.stderr).to.include('No answers arrived').and.not.include('The answers so far');
    const named = await run('--config', file, '--live', '--transcripts-out', pathOf('none.ndjson'));
    expect(named.stderr).to.include('No answers arrived').and.include('--resume').and.not.include('The answers so far');
    const [, some] = await served('some', {}, 'max_requests_per_run: 2\n');
    expect((await run('--config', some, '--live')).stderr).to.include(
      `The answers so far are kept in ${pathOf('some-cache')}`,
    );
  });

  it('says on stderr why no answers arrive', async () => {
    const [, file] = await served(
      'throttled',
      { otherwise: { kind: 'error', status: 429, headers: { 'retry-after': '600' } } },
      'max_minutes: 0.05\n',
    );
    const { code, stderr } = await run('--config', file, '--live');
    expect(code).to.equal(1);
    expect(stderr).to.include('429').and.include('asks to wait 600 s');
  });

  it('exits with 3 if the provider rejects the key, and does not print the key', async () => {
    const [, file] = await served('refused', { key: 'right-key-0123456789' });
    const secret = 'wrong-key-9876543210';
    const { code, stdout, stderr } = await runCli(['llm-eval', '--config', file, '--live'], {
      cwd: folder(),
      env: { EVENHAND_LLM_API_KEY: secret },
    });
    expect(code).to.equal(3);
    expect(stderr).to.match(/^error: /m);
    expect(stdout + stderr).not.to.include(secret);
  });

  it('sends nothing without permission, and exits with 2', async () => {
    const [server, file] = await served('forbidden', {});
    const { code, stderr } = await run('--config', file);
    expect([code, server.requests.length]).to.deep.equal([2, 0]);
    expect(stderr).to.include('--live');
  });

  it('rejects an unknown metric before anything is paid for', async () => {
    const [server, file] = await served('mistyped', {});
    const { code, stderr } = await run('--config', file, '--live', '--metric', 'lenght_gap', '--threshold', '1');
    expect([code, server.requests.length]).to.deep.equal([2, 0]);
    expect(stderr).to.include("Did you mean 'length_gap'");
  });

  it('reports invalid options on one line before anything is sent, with exit code 2', async () => {
    const [server, file] = await served('usage', {});
    const before = readFileSync(file, 'utf8');
    const ask = ['--config', file, '--live'];
    const cases: [string[], string][] = [
      [[], 'Missing: --config'],
      [['--config', 'absent.yml'], 'absent.yml'],
      [[...ask, '--threshold', '0.1'], 'add --metric'],
      [[...ask, '--metric', 'sentiment_gap'], '--threshold'],
      [[...ask, '--comparator', '<'], 'add --threshold'],
      [[...ask, '--threshold', '0.1', '--metric', 'm', '--comparator', '='], '--comparator must be one of'],
      [[...ask, '--resume'], 'add --transcripts-out'],
      [[...ask, '--retry-errors', '--transcripts-out', 't.ndjson'], 'add --resume'],
      [[...ask, '--replay', 'a.ndjson'], '--replay sends no re'],
      [[...ask, '--max-cost', '-1'], '--max-cost must be at least 0'],
      [[...ask, '--min-group-size', '0'], '--min-group-size must be at least 1'],
      [[...ask, '--random-state', '0.5'], '--random-state must be a whole number'],
      [[...ask, '--ci-level', '1'], '--ci-level must be below 1'],
      [[...ask, '--report-md', 'x.json'], '--report-md writes Markdown'],
      [[...ask, '--report-md', 'x.md', '--transcripts-out', './x.md'], 'overlap. Give each output its own path'],
      [[...ask, '--report-html', file], 'would replace the input'],
      [[...ask, '--junit', path.join(file, 'x.xml')], 'Cannot write'],
      [['--config', file, '--replay', file, '--transcripts-out', file], 'would replace the input'],
    ];
    for (const [args, text] of cases) {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr, args.join(' ')).to.include(text);
      expect(stderr.trimEnd().split('\n'), args.join(' ')).to.have.length(1);
    }
    expect(server.requests).to.have.length(0);
    expect(readFileSync(file, 'utf8')).to.equal(before);
  });

  describe('with several targets', () => {
    const targets = (): string =>
      config('targets.yml', `targets:\n  - { name: a, model: stub-a }\n  - { name: b, model: stub-b }\n${PROMPTS}`);

    it('plans both, writes one report, and applies a gate to a difference', async () => {
      const dry = await run('--config', targets(), '--dry-run', '--json');
      const plan = JSON.parse(dry.stdout) as {
        request_count: number;
        targets: Record<string, { request_count: number }>;
      };
      expect([plan.request_count, plan.targets['a']?.request_count, plan.targets['b']?.request_count]).to.deep.equal([40, 20, 20]); // prettier-ignore
      const [md, html, junit] = ['t.md', 't.html', 't.xml'].map(pathOf) as [string, string, string];
      const gate = ['--metric', 'length_gap_size.gender[a-b]', '--threshold', '1000'];
      const { code, stdout, stderr } = await run(
        ...['--config', targets(), ...gate, '--report-md', md, '--report-html', html, '--junit', junit],
      );
      expect([code, stderr.match(/^Wrote /gm)?.length]).to.deep.equal([0, 3]);
      expect(stdout).to.include('PASS: length_gap_size.gender[a-b]').and.include('mean_words[a-b]');
      expect(readFileSync(md, 'utf8')).to.include('## Metrics by target');
      expect(readFileSync(html, 'utf8')).to.include('Target b: stub-b (local)');
      expect(readFileSync(junit, 'utf8')).to.include('name="length_gap_size.gender[a-b]"');
      const failed = await run('--config', targets(), ...gate, '--comparator', '>');
      expect(failed.code).to.equal(1);
      const misspelt = await run('--config', targets(), '--metric', 'length_gap[b-a]', '--threshold', '1');
      expect([misspelt.code, misspelt.stderr.includes('length_gap[a-b]')]).to.deep.equal([2, true]);
    });

    it('compares with an earlier run by --baseline', async () => {
      const answers = pathOf('earlier.ndjson');
      const file = config('earlier.yml', `model: stub-old\n${PROMPTS}`);
      await run('--config', file, '--transcripts-out', answers);
      const args = ['--config', config('later.yml', `model: stub-new\n${PROMPTS}`), '--baseline', answers];
      const { code, stdout } = await run(...args, '--json');
      const body = JSON.parse(stdout) as { targets: object; differences: Record<string, { n: number }> };
      expect([code, Object.keys(body.targets)]).to.deep.equal([0, ['current', 'baseline']]);
      expect(body.differences['length_gap.gender[current-baseline]']?.n).to.equal(10);
      const gone = await run('--config', file, '--baseline', 'absent.ndjson');
      expect([gone.code, gone.stderr.includes('absent.ndjson')]).to.deep.equal([2, true]);
    });
  });

  it('has help with examples of a dry run, a live run, resuming, and a gate without a key', async () => {
    const { code, stdout } = await run('--help');
    expect(code).to.equal(0);
    for (const text of ['--dry-run', '--live', '--resume', '--replay answers.ndjson', 'Exit codes: 0'])
      expect(stdout).to.include(text);
    expect(stdout.indexOf('--dry-run\n')).to.be.below(stdout.indexOf('--resume\n'));
  });
});
