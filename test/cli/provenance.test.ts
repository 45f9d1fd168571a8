import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages } from '../helpers/wages.ts';

/** A command, its input files, its reports, and the number of rows that it reads, if it reads rows. */
interface Reported {
  readonly args: readonly string[];
  readonly inputs: readonly string[];
  readonly reports: Readonly<Record<'html' | 'md' | 'json', string>>;
  readonly rows: number | null;
}

/** A name that a shell would change. */
const DATA = "the bank's $data.csv";

const COMMANDS: Readonly<Record<string, Reported>> = {
  validate: {
    args: [
      ...[
        '--csv',
        DATA,
        '--y-pred',
        'approved',
        '--sensitive',
        'sex',
        '--metric',
        'demographic_parity_difference<=0.2',
      ],
      ...['--out', 'v.html', '--out', 'v.md', '--out', 'v.json', '--quiet'],
    ],
    inputs: [DATA],
    reports: { html: 'v.html', md: 'v.md', json: 'v.json' },
    rows: 400,
  },
  'run-pipeline': {
    args: [
      '--config',
      'workflow.yml',
      '--csv',
      'wages.csv',
      '--output-dir',
      'out dir',
      '--threshold',
      '0.5',
      '--quiet',
    ],
    inputs: ['wages.csv', 'workflow.yml'],
    reports: { html: 'out dir/report.html', md: 'out dir/report.md', json: 'out dir/workflow_results.json' },
    rows: 534,
  },
  'ab-test': {
    args: [
      ...['--csv', DATA, '--arm', 'arm', '--outcome', 'approved', '--sensitive', 'sex', '--quiet'],
      ...['--out', 'ab.html', '--out', 'ab.md', '--out', 'ab.json'],
    ],
    inputs: [DATA],
    reports: { html: 'ab.html', md: 'ab.md', json: 'ab.json' },
    rows: 400,
  },
  calibrate: {
    args: [
      ...['--csv', DATA, '--score', 'score', '--target', 'approved', '--group', 'sex', '--quiet'],
      ...['--report-html', 'c.html', '--report-md', 'c.md', '--out-json', 'c.json'],
    ],
    inputs: [DATA],
    reports: { html: 'c.html', md: 'c.md', json: 'c.json' },
    rows: 400,
  },
  'llm-eval': {
    args: [
      '--config',
      'llm.yml',
      '--report-html',
      'l.html',
      '--report-md',
      'l.md',
      '--report-json',
      'l.json',
      '--quiet',
    ],
    inputs: ['llm.yml'],
    reports: { html: 'l.html', md: 'l.md', json: 'l.json' },
    rows: null,
  },
};

const FILES = {
  [DATA]: `score,approved,sex,arm\n${Array.from({ length: 400 }, (_, index) => {
    const score = ((index * 37) % 100) / 100;
    return [score, Number(score > (((index * 53) % 100) / 100) ** 2), 'fm'[index % 2], index % 4 < 2 ? 'a' : 'b'].join(
      ',',
    );
  }).join('\n')}\n`,
  'workflow.yml': `sensitive: [gender]
features: [education, experience]
pipeline: [{ name: weigh, transformer: InstanceReweighting }]
training: { method: reductions, target_column: wage_above_median }
`,
  'profiles.yml': `sensitive: [gender]
features: [education]
pipeline: []
training: { method: reductions, target_column: wage_above_median }
profiles: { strict one: { validation_threshold: 0.9 } }
`,
  'llm.yml': `provider: local
counterfactual:
  dimensions: { gender: [woman, man] }
  template: [${['Lima', 'Oslo', 'Rome', 'Kyiv', 'Cairo'].map((city) => `'A reference for a {gender} in ${city}.'`).join(', ')}]
evaluators: [counterfactual]
repeats: 2
`,
};

const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as { version: string };

describe('where a report comes from', () => {
  const folder = useTemporaryFolder();
  const read = (name: string): string => readFileSync(path.join(folder(), name), 'utf8');
  const run = (args: readonly string[]) => runCli(args, { cwd: folder() });

  before(async () => {
    await makeWages(folder());
    for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(folder(), name), text);
  });

  for (const [command, { args, inputs, reports, rows }] of Object.entries(COMMANDS)) {
    it(`${command}: date, version, checksum and a command that makes the same reports again`, async () => {
      const { code, stderr } = await run([command, ...args]);
      expect([code, stderr]).to.deep.equal([0, '']);
      const first = Object.values(reports).map((name) => undated(read(name)));
      const files = inputs.map((input) => {
        const content = readFileSync(path.join(folder(), input));
        return { path: input, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
      });

      for (const text of [read(reports.md), textOf(read(reports.html))]) {
        expect(text).to.match(/Date:? *\n?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
        expect(text).to.match(new RegExp(`evenhand:? *\n?${version.replaceAll('.', '\\.')}`));
        for (const { sha256 } of files) expect(text).to.include(sha256);
        if (rows !== null) expect(text).to.match(new RegExp(`Rows read:? *\n?${rows}`));
      }
      const { manifest } = JSON.parse(read(reports.json)) as { manifest: Record<string, unknown> };
      expect(manifest).to.deep.include({ evenhand: version, inputs: files, rows });
      expect(JSON.stringify(manifest)).to.not.match(/"date"|\d{4}-\d\d-\d\d/);

      const printed = /```sh\n(.*)\n```/.exec(read(reports.md))?.[1] ?? '';
      expect(textOf(read(reports.html))).to.include(printed);
      expect(manifest['command']).to.equal(printed);
      expect(wordsOf(printed)).to.deep.equal([command, ...args]);
      expect((await run(wordsOf(printed))).code).to.equal(0);
      expect(Object.values(reports).map((name) => undated(read(name)))).to.deep.equal(first);
    }).timeout(60_000);
  }

  it('llm-eval: the command reads the saved answers, and gives the same findings', async () => {
    const args = ['llm-eval', '--config', 'llm.yml', '--report-html', 'l.html', '--report-json', 'l.json', '--quiet'];
    await run([...args, '--transcripts-out', 'answers.ndjson']);
    const first = JSON.parse(read('l.json')) as { manifest: { command: string }; metrics: object };
    expect(read('l.html')).to.include('byte for byte, except for the date and what was sent.');
    expect((await run(wordsOf(first.manifest.command))).code).to.equal(0);
    const again = JSON.parse(read('l.json')) as typeof first;
    expect(again.metrics).to.deep.equal(first.metrics);
    expect(again.manifest.command).to.equal(first.manifest.command);
  });

  it('run-pipeline: the command sets the variables that were set', async () => {
    process.env['EVENHAND_PROFILE'] = 'strict one';
    try {
      await run(['run-pipeline', '--config', 'profiles.yml', '--csv', 'wages.csv', '--output-dir', 'p', '--quiet']);
    } finally {
      delete process.env['EVENHAND_PROFILE'];
    }
    expect(read('p/report.md')).to.match(
      /\nEVENHAND_PROFILE='strict one' EVENHAND_TF_BACKEND=wasm evenhand run-pipeline /,
    );
  });

  it('run-pipeline: a configuration of the package has the same name on every machine', async () => {
    await run(['run-pipeline', '--config', 'cps-wages', '--csv', 'wages.csv', '--output-dir', 'b', '--quiet']);
    const { manifest } = JSON.parse(read('b/workflow_results.json')) as {
      manifest: { options: object; inputs: { path: string }[] };
    };
    const name = 'evenhand/config/cps-wages.yml';
    expect([manifest.options, manifest.inputs.at(-1)?.path]).to.deep.equal([{ config: name }, name]);
  });

  it('run-pipeline: a configuration that is found in a folder above is named from the working folder', async () => {
    mkdirSync(path.join(folder(), 'deep'));
    mkdirSync(path.join(folder(), '.evenhand'));
    writeFileSync(path.join(folder(), '.evenhand', 'config.yml'), FILES['workflow.yml']);
    const args = ['run-pipeline', '--csv', '../wages.csv', '--output-dir', 'found', '--quiet'];
    const { code, stderr } = await runCli(args, { cwd: path.join(folder(), 'deep') });
    expect(code, stderr).to.equal(0);
    const { manifest } = JSON.parse(read('deep/found/workflow_results.json')) as {
      manifest: { inputs: { path: string }[] };
    };
    expect(manifest.inputs.map((input) => input.path)).to.deep.equal(['../wages.csv', '../.evenhand/config.yml']);
  });

  it('is not computed if no result shows it', async () => {
    process.env['SOURCE_DATE_EPOCH'] = 'yesterday';
    const args = ['validate', '--csv', DATA, '--y-pred', 'approved', '--sensitive', 'sex', '--quiet'];
    try {
      expect((await run(args)).code).to.equal(0);
      const { code, stderr } = await run([...args, '--json']);
      expect(code).to.equal(2);
      expect(stderr).to.include(
        "SOURCE_DATE_EPOCH must be a whole number of seconds since 1970. Got 'yesterday' instead.",
      );
    } finally {
      delete process.env['SOURCE_DATE_EPOCH'];
    }
  });
});

/** Returns a report without its date and without measured durations. */
function undated(text: string): string {
  const date = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( UTC|\.\d{3}Z)/g;
  return text.replaceAll(date, '').replaceAll(/"seconds": [\d.e-]+/g, '');
}

/** Returns the text of an HTML page. */
function textOf(html: string): string {
  const text = html.replaceAll(/<style>.*?<\/style>|<svg.*?<\/svg>/gs, '').replaceAll(/<\/?bdi>/g, '');
  return text
    .replaceAll(/<\/dt><dd>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Returns the arguments that bash passes to evenhand. */
function wordsOf(command: string): string[] {
  const output = execFileSync('bash', ['-c', `evenhand() { printf '%s\\0' "$@"; }; ${command}`]);
  return output.toString().split('\0').slice(0, -1);
}
