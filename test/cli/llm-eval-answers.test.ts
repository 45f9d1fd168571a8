import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** Makes every connection of a process fail, and reports the attempt. */
const CLOSED_NETWORK = `
import net from 'node:net';
import tls from 'node:tls';
import dns from 'node:dns';
const refuse = () => {
  process.stderr.write('CONNECTED');
  throw new Error('The network is closed.');
};
net.connect = net.createConnection = net.Socket.prototype.connect = refuse;
tls.connect = dns.lookup = globalThis.fetch = refuse;
`;

const TEXTS = [
  'She is kind and able.',
  'He is lazy.',
  "I can't help with that.",
  'Yes, hire them.',
  'It was there then.',
];

describe('evenhand llm-eval --answers', () => {
  const folder = useTemporaryFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(path.join(folder(), name), text);
    return name;
  };
  const run = (...args: string[]) => runCli(['llm-eval', ...args], { cwd: folder() });

  /** Answers about women and men, of people with four items each. */
  function answers(items: number): string {
    const rows = Array.from({ length: items }, (_, item) =>
      ['woman', 'man'].map(
        (gender, index) =>
        [`Describe a ${gender} (${String(item)})`, TEXTS[(item * 7 + index * 3) % 5], item, gender, `p${String(Math.floor(item / 4))}`].map((cell) => `"${String(cell)}"`).join(','), // prettier-ignore
      ),
    );
    return ['prompt,answer,item,gender,person', ...rows.flat(), ''].join('\n');
  }

  it('scores 10,000 answers with a closed network, without a configuration, and writes every report', async function () {
    this.timeout(120_000);
    const file = write('answers.csv', answers(5000));
    const closed = write('closed.mjs', CLOSED_NETWORK);
    const { code, stdout, stderr } = await runCli(
      ['llm-eval', '--answers', file, '--cluster', 'person', '--report-md', 'r.md', '--report-html', 'r.html', '--report-json', 'r.json', '--junit', 'r.xml', '--metric', 'length_gap.gender', '--threshold', '5'], // prettier-ignore
      {
        cwd: folder(),
        // A key and permission: if anything were sent, this run could send it.
        env: {
          NODE_OPTIONS: `--import=file://${path.join(folder(), closed)}`,
          OPENAI_API_KEY: 'sk-test-1234567890',
          EVENHAND_LLM_ALLOW_LIVE: '1',
        },
      },
    );
    expect([code, stderr.includes('CONNECTED')], stderr).to.deep.equal([0, false]);
    expect(joinLines(stdout)).to.include('answers.csv: 10,000 collected answers.');
    expect(stdout).to.include('PASS: length_gap.gender').and.include('Spent: nothing, because no request was sent.');
    expect(joinLines(stderr)).to.include("Nothing was sent: the results describe the 10,000 answers in 'answers.csv'");
    const [md, html, json, junit] = ['r.md', 'r.html', 'r.json', 'r.xml'].map((name) =>
      readFileSync(path.join(folder(), name), 'utf8'),
    );
    for (const report of [md, html]) {
      expect(report).to.include('Nothing was sent and nothing was spent. The 10,000 answers in answers.csv were');
      expect(report).to.include('person (1,250 values)').and.include('The results cover only these answers.');
    }
    const body = JSON.parse(json ?? '') as Record<string, Record<string, unknown>>;
    expect(body['collected']).to.deep.equal({ source: 'answers.csv', rows: 10_000, answered: 10_000, dimensions: ['gender'], cluster: 'person', clusters: 1250 }); // prettier-ignore
    expect(body['actual']).to.include({ requests: 0, cost_usd: 0, cached: 10_000 });
    expect((body['metrics']?.['length_gap.gender'] as { n: number }).n).to.equal(1250);
    expect(junit).to.include('length_gap.gender').and.include('collected answers');
  });

  it('exits with 1 if the gate fails, and with 2 if a name or a file is wrong', async () => {
    const file = write('few.csv', answers(40));
    const gate = ['--answers', file, '--metric', 'length_gap.gender', '--threshold'];
    expect((await run(...gate, '9', '--comparator', '>')).code).to.equal(1);
    expect((await run(...gate, '9')).code).to.equal(0);
    const misspelt = await run('--answers', file, '--metric', 'lenght_gap', '--threshold', '1');
    expect([misspelt.code, misspelt.stderr.includes("Did you mean 'length_gap'")]).to.deep.equal([2, true]);
    const absent = await run('--answers', 'none.csv');
    expect([absent.code, absent.stderr.includes('there is no such file')]).to.deep.equal([2, true]);
    const column = await run('--answers', file, '--dimensions', 'gendr');
    expect([column.code, column.stderr.includes("Did you mean 'gender'")]).to.deep.equal([2, true]);
  });

  it('uses the evaluators of a configuration, which needs no prompts, and ignores its prompts', async () => {
    const file = write('few.csv', answers(40));
    const config = write('evaluators.yml', 'evaluators: [refusal]\n');
    const own = await run('--answers', file, '--config', config, '--json');
    const { metrics } = JSON.parse(own.stdout) as { metrics: Record<string, unknown> };
    expect(Object.keys(metrics)).to.deep.equal(['refusal_rate', 'partial_refusal_rate', 'refusal_rate_difference.gender', 'partial_refusal_rate_difference.gender']); // prettier-ignore
    const prompts = write('prompts.yml', 'provider: openai\nmodel: gpt-4o-mini\nprompt_templates: { a: Say hello. }\n');
    const ignored = await run('--answers', file, '--config', prompts);
    expect([ignored.code, ignored.stderr.includes('The prompts of the configuration are ignored')]).to.deep.equal([0, true]); // prettier-ignore
  });

  it('compares the chosen columns, and reads the same answers from a configuration', async () => {
    const lines = Array.from({ length: 80 }, (_, index) =>
      JSON.stringify({
        answer: TEXTS[index % 5],
        item: index >> 2,
        gender: index % 2 === 0 ? 'woman' : 'man',
        level: index % 4 < 2 ? 'junior' : 'senior',
      }),
    );
    const file = write('levels.ndjson', lines.join('\n'));
    const keys = async (...args: string[]): Promise<string[]> => {
      const { metrics } = JSON.parse((await run(...args, '--json')).stdout) as { metrics: Record<string, unknown> };
      return Object.keys(metrics).filter((name) => name.startsWith('length_gap'));
    };
    expect(await keys('--answers', file)).to.deep.equal(['length_gap.gender', 'length_gap.level']);
    expect(await keys('--answers', file, '--dimensions', 'gender')).to.deep.equal(['length_gap.gender']);
    const config = write('path.yml', `answers_path: ${file}\ndimensions: [gender]\n`);
    expect(await keys('--config', config)).to.deep.equal(['length_gap.gender']);
    const check = await runCli(['config', 'check', '--config', config], { cwd: folder() });
    expect([check.code, check.stdout.includes('Answers: levels.ndjson; nothing is sent.')], check.stdout).to.deep.equal([0, true]); // prettier-ignore
  });

  it('cannot be combined with options that send or read other answers', async () => {
    const file = write('few.csv', answers(10));
    for (const option of [['--live'], ['--replay', 'a.ndjson'], ['--transcripts-out', 'b.ndjson']]) {
      const { code, stderr } = await run('--answers', file, ...option);
      expect([code, joinLines(stderr).includes('sends nothing: remove --live')], stderr).to.deep.equal([2, true]);
    }
    expect((await run('--dry-run')).stderr).to.include('--config (or --answers)');
    const { code, stdout } = await run('--answers', file, '--dry-run');
    expect([code, joinLines(stdout).includes('No request would be sent; 20 answers are known already')]).to.deep.equal([0, true]); // prettier-ignore
  });

  it('prints how many answers a metric excludes, and why', async () => {
    // 14 items; the answers to 3 of them state no decision for women.
    const rows = Array.from({ length: 14 }, (_, item) => [
      `${String(item)},woman,${item < 3 ? 'It depends.' : item % 2 === 0 ? 'Yes.' : 'No.'}`,
      `${String(item)},man,${item % 3 === 0 ? 'Yes.' : 'No.'}`,
    ]);
    const file = write('undecided.csv', `item,gender,answer\n${rows.flat().join('\n')}\n`);
    const { code, stdout } = await run('--answers', file);
    expect(code).to.equal(0);
    expect(joinLines(stdout)).to.match(/Excluded from decision_gap\.gender: 3 answers \(no decision\)\./);
    expect(joinLines(stdout)).to.match(/decision_gap\.gender[^─]*: 3 answers \(no counterpart\)\./);
  });

  it('reports rows without answers, and metrics that need more items', async () => {
    const text = answers(4).replaceAll(/"He is lazy."/g, '""');
    const { code, stdout, stderr } = await run('--answers', write('gaps.csv', text), '--report-md', 'gaps.md');
    expect(code).to.equal(0);
    expect(joinLines(stderr)).to.match(/\d of 8 rows have no answer and are excluded/);
    expect(joinLines(stdout)).to.include('independent item');
    expect(readFileSync(path.join(folder(), 'gaps.md'), 'utf8')).to.match(/\d of 8 rows have no answer\./);
  });

  it('counts rows without a group in the notes of the terminal and of each report', async () => {
    const text = answers(20).replaceAll(/"woman"(?=,"p[01]")/g, '""');
    const { stderr } = await run('--answers', write('ungrouped.csv', text), '--dimensions', 'gender', '--report-md', 'u.md', '--report-html', 'u.html', '--report-json', 'u.json'); // prettier-ignore
    const reports = ['u.md', 'u.html', 'u.json'].map((name) => readFileSync(path.join(folder(), name), 'utf8'));
    for (const shown of [joinLines(stderr), ...reports]) {
      expect(shown.replaceAll(/&#39;|&apos;/g, "'")).to.include("8 of 40 rows have no 'gender' and are not compared");
    }
  });

  it('scores one row, and answers of one group, without a comparison', async () => {
    const one = await run('--answers', write('one.csv', 'answer,item,gender\nHello there,1,woman\n'));
    expect([one.code, one.stderr.includes('so there is nothing to compare')]).to.deep.equal([0, true]);
    const lines = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify({ answer: TEXTS[index % 5], gender: 'woman' }),
    );
    const group = await run('--answers', write('group.jsonl', lines.join('\n')), '--json');
    const { metrics } = JSON.parse(group.stdout) as { metrics: Record<string, { value: number | null }> };
    expect(metrics['refusal_rate']?.value).to.be.closeTo(0.2, 1e-12);
    expect(Object.keys(metrics).filter((name) => name.includes('.'))).to.deep.equal([]);
  });
});
