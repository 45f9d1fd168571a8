import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { expect } from 'chai';

import { doctorDocument } from '../../src/cli/commands/doctor.ts';
import { documentToText } from '../../src/document/document-to-text.ts';
import type { DoctorReport } from '../../src/integration/doctor.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { makeWages, WAGES } from '../helpers/wages.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** Whether to write the screens instead of comparing them; see CONTRIBUTING.md. */
const isWriting = process.env['EVENHAND_WRITE_SCREENS'] === '1';

const SCREENS = path.join(projectRoot, 'test/golden/terminal');

/** A command whose result is shown; the files of its arguments are in the working folder. */
type Shown = readonly [command: string, ...runs: (readonly string[])[]];

const TRAINING = ['--csv', 'wages.csv', ...WAGES, '--backend', 'cpu'];

const COMMANDS: readonly Shown[] = [
  ['sql'],
  [
    'validate',
    ['--csv', 'events.csv', '--y-pred', 'approved', '--sensitive', 'group'],
    ['--csv', 'events.csv', '--y-pred', 'approved', '--sensitive', 'group', '--sensitive', 'site', '--metric', 'demographic_parity_difference<=0.2', '--measures', 'selection_rate,count'], // prettier-ignore
  ],
  [
    'subgroups',
    ['--csv', 'events.csv', '--columns', 'group,site', '--y-pred', 'approved'],
    ['--csv', 'events.csv', '--columns', 'site', '--y-pred', 'approved', '--min-group-size', '100000'],
  ],
  ['run-pipeline', ['--config', 'workflow.yml', '--csv', 'wages.csv', '--backend', 'cpu']],
  ['pipeline', ['--config', 'workflow.yml', '--csv', 'wages.csv']],
  ['train-regularized', [...TRAINING, '--etas', '0,1', '--epochs', '1', '--threads', '1']],
  ['train-reductions', [...TRAINING, '--T', '2']],
  ['train-lagrangian', [...TRAINING, '--epochs', '1']],
  [
    'llm-eval',
    ['--config', 'llm.yml', '--metric', 'length_gap.gender', '--threshold', '0.001'],
    ['--config', 'llm.yml', '--dry-run'],
  ],
  [
    'monitor',
    ['--csv', 'events.csv', '--y-pred', 'approved', '--sensitive', 'group', '--look-every', '200'],
    ['--csv', 'events.csv', '--y-pred', 'approved', '--sensitive', 'site', '--limit', '0.3'],
  ],
  ['ab-test', ['--csv', 'arms.csv', '--arm', 'arm', '--outcome', 'approved', '--sensitive', 'group']],
  ['impact-ratio', ['--csv', 'people.csv', '--selected', 'selected', '--sex', 'sex', '--race-ethnicity', 'race']],
  ['model-card', ['result.json', '--name', 'Approvals']],
  ['verify', ['result.json', '--csv', 'events.csv'], ['changed.json']],
  ['keygen'],
  ['view'],
  ['serve'],
  ['worker'],
  ['predict', ['--model', 'model', '--csv', 'wages.csv', '--out-csv', 'decisions.csv', '--backend', 'cpu']],
  ['calibrate', ['--csv', 'scored.csv']],
  ['sample-data', ['berkeley']],
  ['init', ['wages.csv', '--yes', '--force', '--out', 'first.yml']],
  ['config check', ['--config', 'workflow.yml']],
  ['config schema'],
  ['backend install'],
  ['completion'],
];

/** The layouts of a result. Colours change nothing else, so that one layout shows them. */
const LAYOUTS = [
  [60, false],
  [100, true],
  [160, false],
] as const;

/** A report of doctor, which would otherwise depend on the machine. */
const DOCTOR: DoctorReport = {
  version: '1.2.3',
  node: '22.1.0',
  chosen: 'wasm',
  adapter: null,
  matmul_ms: 12.34,
  advice: 'This machine has a GPU that is not used.',
  numerics: [
    {
      op: 'matMul',
      name: 'sizes 1 to 64',
      error: 2e-7,
      tolerance: 1e-5,
      reads: 1,
      leaked: 0,
      ms: 1,
      passes: true,
      reason: null,
    },
    {
      op: 'softRates',
      name: 'means of large groups with many rows',
      error: 0.25,
      tolerance: 1e-5,
      reads: 1,
      leaked: 0,
      ms: 1,
      passes: false,
      reason: 'an error of 2.5e-1, more than 1.0e-5',
    },
  ],
  backends: [
    {
      name: 'node-gpu',
      available: false,
      reason: 'no NVIDIA driver is loaded (no /proc/driver/nvidia/version)',
      missing: [
        {
          what: 'no NVIDIA driver is loaded',
          mend: 'Install the driver:\nsudo apt-get install nvidia-driver-570-server\nThen restart the machine.',
        },
      ],
    },
    { name: 'wasm', available: true, reason: null, missing: [] },
  ],
};

/** Groups with wide characters, a long name, and a text from right to left. */
const GROUPS = ['女性', 'שלום', `long ${'name '.repeat(16).trim()}`];

describe('the screens of evenhand', () => {
  const folder = useTemporaryFolder();

  before(async function () {
    this.timeout(60_000);
    await makeWages(folder());
    await runCli(['train-lagrangian', ...TRAINING, '--epochs', '1', '--save-model', 'model', '--quiet'], { cwd: folder() }); // prettier-ignore
    for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(folder(), name), text);
    await runCli(['validate', '--csv', 'events.csv', '--y-pred', 'approved', '--sensitive', 'group', '--out', 'result.json'], { cwd: folder() }); // prettier-ignore
    const result = readFileSync(path.join(folder(), 'result.json'), 'utf8');
    writeFileSync(path.join(folder(), 'changed.json'), result.replace('"seed": 42', '"seed": 43'));
  });

  for (const [command, ...runs] of COMMANDS) {
    it(`${command}: the help and the result are those of test/golden/terminal`, async function () {
      this.timeout(60_000);
      const screens = [await helpScreens(command)];
      for (const args of runs) screens.push(await resultScreens([...command.split(' '), ...args]));
      compare(`${command.replace(' ', '-')}.txt`, screens.join(''));
    });
  }

  it('doctor: the help and the result are those of test/golden/terminal', async () => {
    const screens = [await helpScreens('doctor')];
    for (const [columns, colours] of LAYOUTS) {
      const text = documentToText(doctorDocument(DOCTOR, { all: true }), { width: columns, colours });
      screens.push(screenOf('evenhand doctor --numerics --all', columns, text));
    }
    compare('doctor.txt', screens.join(''));
  });

  it('are the list of commands without a command', async () => {
    const { stdout } = await runCli(['--help'], { terminal: { columns: 60, colours: false } });
    compare('evenhand.txt', screenOf('evenhand --help', 60, stdout));
    expect(['doctor', ...COMMANDS.map(([command]) => command.split(' ')[0])]).to.include.members(
      [...stdout.matchAll(/^ {2}([a-z]\S*)(?: {2,}.*)?$/gm)]
        .map(([, name]) => name)
        .filter((name) => name !== 'version'),
    );
  });

  async function helpScreens(command: string): Promise<string> {
    const screens = [];
    for (const columns of [60, 100]) {
      const { stdout } = await runCli([...command.split(' '), '--help'], { terminal: { columns, colours: false } });
      assertFits(stdout, columns);
      screens.push(screenOf(`evenhand ${command} --help`, columns, stdout));
    }
    return screens.join('');
  }

  /** Returns a result at three widths, and once with colours. */
  async function resultScreens(args: readonly string[]): Promise<string> {
    const screens = [];
    for (const [columns, colours] of LAYOUTS) {
      const { stdout, stderr } = await runCli(args, { cwd: folder(), terminal: { columns, colours } });
      expect(stdout, stderr).not.to.equal('');
      assertFits(stdout, columns);
      if (!colours) expect(stdout).not.to.include('\u001b');
      screens.push(screenOf(`evenhand ${args.join(' ')}`, columns, stdout));
    }
    return screens.join('');
  }
});

/** Checks that text is not wider than the terminal. Commands and long words are not broken, so that they can be copied. */
function assertFits(text: string, columns: number): void {
  const lines = stripVTControlCharacters(text).split('\n');
  const tooLong = lines.filter((line) => line.length > columns && !/^ *\$|^ {2}npx |^ {4,}|\S{40}/.test(line));
  expect(tooLong).to.deep.equal([]);
}

/** Returns a screen with its title. Times are masked, and the escape character is visible. */
function screenOf(title: string, columns: number, text: string): string {
  const shown = text
    .replaceAll('\u001b', '␛')
    .replaceAll(/\b\d+\.\d s\b/g, 'N s')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'N');
  return `=== ${title} (${String(columns)} columns)\n\n${shown}\n`;
}

function compare(name: string, text: string): void {
  const file = path.join(SCREENS, name);
  if (isWriting) {
    mkdirSync(SCREENS, { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file) ? readFileSync(file, 'utf8') : '').to.equal(text);
}

/** Returns rows that repeat with a fixed pattern. */
function csvOf(header: string, rows: number, row: (index: number) => readonly (string | number)[]): string {
  return `${header}\n${Array.from({ length: rows }, (_, index) => row(index).join(',')).join('\n')}\n`;
}

const FILES = {
  'workflow.yml': `sensitive: [gender]
features: [education, experience, union]
pipeline: [{ name: weigh, transformer: InstanceReweighting }]
training: { method: reductions, target_column: wage_above_median }
validation_threshold: 0.1
`,
  'llm.yml': `provider: local
counterfactual:
  dimensions: { gender: [woman, man] }
  template:
${['Lima', 'Oslo', 'Rome', 'Kyiv', 'Cairo'].map((city) => `    - Write a reference for a {gender} in ${city}.`).join('\n')}
evaluators: [counterfactual]
`,
  'events.csv': csvOf('approved,group,site,timestamp', 1500, (index) => {
    const group = index % 3;
    const limit = index < 600 || group === 0 ? 6 : 2;
    return [
      Number(Math.floor(index / 3) % 10 < limit),
      GROUPS[group] ?? '',
      Math.floor(index / 7) % 2,
      1_700_000_000 + 60 * index,
    ];
  }),
  'people.csv': csvOf('selected,sex,race', 900, (index) => [
    Number(Math.floor(index / 6) % 10 < (index % 2 === 0 ? 3 : 6)),
    index % 90 === 7 ? '' : index % 2 === 0 ? 'female' : 'male',
    GROUPS[index % 3] ?? '',
  ]),
  'arms.csv': csvOf('approved,group,arm', 1200, (index) => {
    const [group, isTreated] = [index % 3, Math.floor(index / 3) % 2 === 1];
    return [Number(Math.floor(index / 6) % 10 < (isTreated && group === 0 ? 2 : 6)), GROUPS[group] ?? '', isTreated ? 'treatment' : 'control']; // prettier-ignore
  }),
  'scored.csv': csvOf('score,y,g', 300, (index) => {
    const score = ((index * 37) % 100) / 100;
    return [score, Number(score > (((index * 53) % 100) / 100) ** 2), GROUPS[index % 2] ?? ''];
  }),
};
