import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import type { FailureKind } from '../../../src/llm-evals/client/llm-client.ts';
import { createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';
import { parseLlmEvalConfig, runLlmEval } from '../../../src/llm-evals/index.ts';
import type { CommandInput } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { errorOf, PLANTED, PLANTED_ENV, problemOf } from './llm-clients.ts';

interface Settings {
  readonly commandInput?: CommandInput;
  readonly timeoutMillis?: number;
  readonly allowCode?: boolean;
}

function clientOf(command: readonly string[], settings: Settings = {}) {
  const { commandInput = 'text', timeoutMillis = 20_000, allowCode = true } = settings;
  const config = { provider: 'command', model: 'a-model', baseUrl: null, timeoutMillis, params: {} } as const;
  return createProviderClient({ ...config, command, commandInput }, { env: PLANTED_ENV, allowCode });
}

const node = (script: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  '-e',
  script,
  ...args,
];

/** Writes what the program reads. */
const ECHO = 'process.stdin.pipe(process.stdout)';

describe('the provider command', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  it('writes the prompt to the program, and returns its output without the last line break', async () => {
    const prompt = 'Say "hi"\n$HOME `id` ; ü 🐦\n';
    const completion = await clientOf(node(ECHO)).complete(prompt);
    expect(completion).to.deep.include({ text: prompt.slice(0, -1), finishReason: 'stop', usage: null, cached: false });
    expect(completion.latencyMillis).to.be.greaterThan(0);
    expect((await clientOf(node('console.log("a\\r\\n\\r")')).complete('x')).text).to.equal('a\r\n');
  });

  it('writes a JSON object if the configuration asks for it', async () => {
    const client = clientOf(node(ECHO), { commandInput: 'json' });
    const params = { system: 'S', max_tokens: 9, temperature: 0 };
    expect(JSON.parse((await client.complete('Hi', { params, repeat: 2 })).text)).to.deep.equal({
      prompt: 'Hi',
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Hi' },
      ],
      params: { max_tokens: 9, temperature: 0 },
      model: 'a-model',
      repeat: 2,
    });
    const messages = [{ role: 'user', content: 'A' }] as const;
    expect(JSON.parse((await client.complete('B', { messages })).text)).to.deep.include({ prompt: 'B', messages });
  });

  it('passes arguments without a shell', async () => {
    const script = 'process.stdout.write(process.argv.slice(1).join("|"))';
    const { text } = await clientOf(node(script, '$HOME', '; echo x', '*', '')).complete('Hi');
    expect(text).to.equal('$HOME|; echo x|*|');
  });

  it('accepts a program that does not read its input', async () => {
    const { text } = await clientOf(node('console.log("done"); process.exit(0)')).complete('x'.repeat(5_000_000));
    expect(text).to.equal('done');
  });

  it('does not run without permission, and starts nothing', async () => {
    const file = path.join(folder(), 'started');
    const command = node(`require("fs").writeFileSync(${JSON.stringify(file)}, "")`);
    const error = await errorOf(clientOf(command, { allowCode: false }).complete('Hi'));
    expect(error).to.be.instanceOf(ConfigValidationError);
    expect((error as ConfigValidationError).suggestion).to.include('set allowCode');
    expect(existsSync(file)).to.be.false;
  });

  type Case = readonly [title: string, command: readonly string[], kind: FailureKind, retryable: boolean, told: RegExp];
  const failures: readonly Case[] = [
    ['an exit code', node('process.exit(3)'), 'function', false, /ended with exit code 3\.$/],
    [
      'the last lines of its errors',
      node('for (let i = 0; i < 5; i++) console.error("line " + i); process.exitCode = 1'),
      'function',
      false,
      /exit code 1: line 2 \| line 3 \| line 4\.$/,
    ],
    [
      'errors without secrets',
      node(`console.error("wrong key ${PLANTED}"); process.exitCode = 1`),
      'function',
      false,
      /wrong key \[redacted\]/,
    ],
    ['a temporary failure', node('process.exit(75)'), 'function', true, /exit code 75/],
    ['a signal', node('process.kill(process.pid, "SIGKILL")'), 'function', false, /was ended by SIGKILL/],
    ['no such program', ['./no-such-program'], 'not_found', false, /there is no such program/],
    ['a file that is not executable', [import.meta.filename], 'not_found', false, /it is not executable/],
    ['bytes that are not UTF-8', node('process.stdout.write(Buffer.from([0x61, 0xe9]))'), 'malformed', false, /UTF-8/],
    [
      'endless output',
      node('const more = () => { while (process.stdout.write("x".repeat(65536))); process.stdout.once("drain", more) }; more()'),
      'malformed',
      false,
      /more than 8 MiB/,
    ],
    [
      'endless errors',
      node('for (let i = 0; i < 300; i++) console.error("y".repeat(10000)); console.error("the end"); process.exitCode = 1'),
      'function',
      false,
      /exit code 1: yyy/,
    ],
  ]; // prettier-ignore
  for (const [title, command, kind, isRetryable, told] of failures) {
    it(`reports ${title}`, async () => {
      const problem = await problemOf(clientOf(command).complete('Hi'));
      expect(problem).to.include({ kind, isRetryable, isFatal: kind === 'not_found', status: null });
      expect(problem.error.message).to.match(told);
      expect(problem.error.message.length).to.be.below(400);
      expect(problem.error.message).to.not.include(PLANTED);
    });
  }

  it('ends a program at the time limit with SIGTERM, and then with SIGKILL', async () => {
    const file = path.join(folder(), 'signals');
    const script = `
      const { appendFileSync } = require("fs");
      process.on("SIGTERM", () => appendFileSync(${JSON.stringify(file)}, "TERM "));
      appendFileSync(${JSON.stringify(file)}, process.pid + " ");
      setInterval(() => undefined, 1000);`;
    const start = performance.now();
    const problem = await problemOf(clientOf(node(script), { timeoutMillis: 1500 }).complete('Hi'));
    expect(problem).to.include({ kind: 'timeout', isRetryable: true });
    expect(performance.now() - start).to.be.within(3000, 12_000);
    const [pid, signal] = readFileSync(file, 'utf8').split(' ');
    expect(signal).to.equal('TERM');
    expect(await isGone(Number(pid))).to.be.true;
  });

  it('ends the programs that a program has started, too', async function () {
    if (process.platform === 'win32') {
      console.log('      skipped: Windows has no process groups');
      this.skip();
    }
    const file = path.join(folder(), 'child');
    const script = path.join(folder(), 'start.sh');
    writeFileSync(script, `sleep 300 & echo $! > ${JSON.stringify(file)}\nwait\n`);
    const problem = await problemOf(clientOf(['sh', script], { timeoutMillis: 1500 }).complete('Hi'));
    expect(problem.kind).to.equal('timeout');
    expect(await isGone(Number(readFileSync(file, 'utf8')))).to.be.true;
  });

  it('does not wait for a child process that keeps the output open', async function () {
    if (process.platform === 'win32') {
      console.log('      skipped: Windows has no sh');
      this.skip();
    }
    const start = performance.now();
    const { text } = await clientOf(['sh', '-c', 'sleep 30 & echo done']).complete('Hi');
    expect(text).to.equal('done');
    expect(performance.now() - start).to.be.below(15_000);
  });

  it('ends a program if the request is cancelled', async () => {
    const controller = new AbortController();
    const work = problemOf(
      clientOf(node('setInterval(() => undefined, 1000)')).complete('Hi', { signal: controller.signal }),
    );
    setTimeout(() => {
      controller.abort(new Error(PLANTED));
    }, 300);
    const problem = await work;
    expect(problem).to.include({ kind: 'cancelled', isRetryable: false });
    expect(problem.error.message).to.not.include(PLANTED);
  });
});

describe('cached answers of a program', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  it('are reported, because the program may have changed since', async () => {
    const program = path.join(folder(), 'product.mjs');
    writeFileSync(program, 'console.log("old")');
    const config = parseLlmEvalConfig({
      provider: 'command',
      command: [process.execPath, program],
      cacheDir: path.join(folder(), 'cache'),
      evaluators: ['refusal'],
      promptTemplates: { one: 'A question?', two: 'Another question?' },
    });
    const first = await runLlmEval(config, { allowCode: true });
    expect(first.warnings.join()).to.not.include('cache');

    writeFileSync(program, 'console.log("new")');
    const second = await runLlmEval(config, { allowCode: true });
    expect(second.transcripts.map(({ text }) => text)).to.deep.equal(['old', 'old']);
    expect(second.warnings.join()).to.match(
      /^2 of 2 answers are from the cache in '.*cache', so that no request was sent for them\. If your program has changed/,
    );
  });
});

/** Returns whether a process ends within two seconds. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    if (hasEnded(pid)) return true;
    await delay(100);
  }
  return false;
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // In a container without an init process, nobody collects the exit status of an orphan: it stays a zombie (Z).
    return process.platform === 'linux' && /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
