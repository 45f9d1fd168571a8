import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder(), name);
  writeFileSync(file, lines.length === 0 ? '' : `${lines.join('\n')}\n`);
  return file;
}

const decisions = (): string =>
  write('decisions.csv', ['sex,p,y', ...Array<string>(40).fill('f,1,1'), ...Array<string>(40).fill('m,0,1')]);
const training = (): string =>
  write('training.csv', [
    'sex,x,y',
    ...Array.from({ length: 400 }, (_, row) => `${row % 2 ? 'f' : 'm'},${row % 7},${Number(row % 7 > 3)}`),
  ]);

/** Invalid calls and the error of each. */
const cases: [title: string, args: () => string[], pattern: RegExp][] = [
  [
    'a missing file',
    () => ['validate', '--csv', 'none.csv', '--y-pred', 'p', '--sensitive', 'sex'],
    /none\.csv': there is no such file\. Check the path/,
  ],
  [
    'an empty file',
    () => ['validate', '--csv', write('empty.csv', []), '--y-pred', 'p', '--sensitive', 'sex'],
    /the file is empty\. Export it again/,
  ],
  [
    'a ragged CSV',
    () => ['validate', '--csv', write('ragged.csv', ['sex,p', 'f,1', 'm']), '--y-pred', 'p', '--sensitive', 'sex'],
    /line 3: it has 1 field where the header has 2\. Fix the line/,
  ],
  [
    'an unknown column',
    () => ['validate', '--csv', decisions(), '--y-pred', 'q', '--sensitive', 'sexx'],
    /has no column '(q|sexx)'\. (Did you mean|The columns are)/,
  ],
  [
    'a title above the header',
    () => [
      ...['validate', '--csv', write('title.csv', ['Bericht 2026,,', 'sex,p,y', 'f,1,0', 'm,0,1'])],
      ...['--y-pred', 'p', '--sensitive', 'sex'],
    ],
    /The columns are 'Bericht 2026'.* If it is a title and the header is in a later line, remove the lines above the header\./,
  ],
  [
    'a file without --csv',
    () => ['validate', 'my rows.csv', '--y-pred', 'p', '--sensitive', 'sex'],
    /too many arguments.* Write --csv 'my rows\.csv'\. Run/,
  ],
  [
    'a name with spaces without quotes',
    () => ['validate', '--csv', decisions(), '--y-pred', 'was', 'it', 'granted', '--sensitive', 'sex'],
    /too many arguments.* Put a name with spaces in quotes: --y-pred 'was it granted'\. Run/,
  ],
  [
    'two values of an option that can be repeated',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', 'region'],
    /too many arguments.* For several values, repeat the option: --sensitive sex --sensitive region\. Put a name with spaces in quotes: --sensitive 'sex region'\. Run/,
  ],
  [
    'an unknown column near a known one',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sexx'],
    /has no column 'sexx'\. Did you mean 'sex'\?/,
  ],
  [
    'text in a numeric column',
    () => [
      'validate',
      '--csv',
      write('text.csv', ['sex,p,y', 'f,1,2', 'm,two,3']),
      '--y-true',
      'y',
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--metric',
      'mae_parity_difference',
    ],
    /Column 'p' should hold numbers, but row 2 holds 'two'\. Correct the value/,
  ],
  [
    'text for decisions',
    () => ['validate', '--csv', write('labels.csv', ['sex,p', 'f,yes', 'm,no']), '--y-pred', 'p', '--sensitive', 'sex'],
    /Column 'p' must be 0 or 1, but holds 'yes' in row 1\. Name the label that counts as positive/,
  ],
  [
    'scores for decisions',
    () => ['validate', '--csv', write('scores.csv', ['sex,p', 'f,1', 'm,0.5']), '--y-pred', 'p', '--sensitive', 'sex'],
    /must be 0 or 1, but holds 0\.5 in row 2/,
  ],
  [
    'a positive label that does not occur',
    () => [
      'validate',
      '--csv',
      write('labels.csv', ['sex,p', 'f,yes', 'm,no']),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--positive-label',
      'Yes',
    ],
    /holds the positive label 'Yes' in column 'p'\. Did you mean 'yes'\? The labels of 'p' are 'no', 'yes'/,
  ],
  [
    'predictions all missing',
    () => ['validate', '--csv', write('missing.csv', ['sex,p', 'f,', 'm,']), '--y-pred', 'p', '--sensitive', 'sex'],
    /All 2 rows lack a prediction/,
  ],
  [
    'one column as decisions and as true labels',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--y-true', 'p', '--sensitive', 'sex'],
    /One column is used for the decisions or scores and for the true labels, so no decision could be wrong: change --y-true, or --y-pred or --score/,
  ],
  [
    'a column of groups without a value',
    () => {
      const file = write('no-groups.csv', ['sex,region,p', ...Array.from({ length: 60 }, (_, row) => `,${row % 2 ? 'n' : 's'},1`)]);
      return ['validate', '--csv', file, '--y-pred', 'p', '--sensitive', 'region', '--sensitive', 'sex'];
    },
    /All 60 rows lack a group in column 'sex', so nothing can be measured\./,
  ], // prettier-ignore
  [
    'an intersection without a value',
    () => {
      const file = write('half-groups.csv', ['sex,region,p', ...Array.from({ length: 60 }, (_, row) => (row % 2 ? ',n,1' : 'f,,1'))]);
      return ['validate', '--csv', file, '--y-pred', 'p', '--sensitive', 'sex,region'];
    },
    /All 60 rows lack a group in columns 'sex' and 'region', so nothing can be measured\./,
  ], // prettier-ignore
  [
    'one column as decisions and as a control feature',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--control', 'p'],
    /One column is used for the decisions or scores and as a control feature, .*: change --control, or --y-pred or --score/,
  ],
  [
    'one column as decisions and as a sensitive attribute',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex,p'],
    /One column is used for the decisions or scores and as a sensitive attribute, .*: change --sensitive, or --y-pred or --score/,
  ],
  [
    'one column as true labels and as a sensitive attribute',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--y-true', 'sex', '--sensitive', 'sex'],
    /One column is used for the true labels and as a sensitive attribute, .*: change --sensitive or --y-true\./,
  ],
  [
    'a threshold without its metric',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--threshold', '0.1'],
    /A threshold needs a metric: add --metric/,
  ],
  [
    'a metric without true labels',
    () => [
      'validate',
      '--csv',
      decisions(),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--metric',
      'equalized_odds_difference',
    ],
    /needs true labels\. Name their column/,
  ],
  [
    'an unknown metric',
    () => [
      'validate',
      '--csv',
      decisions(),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--metric',
      'demografic_parity_difference',
    ],
    /Did you mean 'demographic_parity_difference'/,
  ],
  [
    'decisions and scores at once',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--score', 'p', '--sensitive', 'sex'],
    /either decisions \(--y-pred\) or scores/,
  ],
  [
    'missing options',
    () => ['validate', '--y-pred', 'p'],
    /Missing: --csv \(or --counts or --sql\) and --sensitive\. See the examples/,
  ],
  [
    'an unknown option',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitve', 'sex'],
    /unknown option '--sensitve' \(Did you mean --sensitive\?\)/,
  ],
  [
    'the start of an option',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--positive', '1'],
    /unknown option '--positive' \(Did you mean --positive-label\?\)/,
  ],
  [
    'a metric that is not like any other',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--metric', 'dp'],
    /There is no metric named 'dp'\. .*, and \d+ more\. The section "The metrics" of docs\/measuring\.md explains all/,
  ],
  ['an unknown command', () => ['validat'], /unknown command 'validat' \(Did you mean validate\?\)/],
  [
    'text for a number',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--min-group-size', 'few'],
    /'few' is not a number/,
  ],
  [
    'a fraction for a count',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--min-group-size', '2.5'],
    /--min-group-size must be a whole number; got 2\.5/,
  ],
  [
    'a report in an unknown format',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--out', 'report.doc'],
    /End the name in \.html, \.md, \.json, \.csv, \.tsv or \.parquet/,
  ],
  [
    'a report under a file',
    () => [
      'validate',
      '--csv',
      decisions(),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--out',
      path.join(decisions(), 'report.md'),
    ],
    /Cannot write '.*report\.md': a part of the path is a file\. Choose a path/,
  ],
  [
    'a report at the path of a folder',
    () => {
      mkdirSync(path.join(folder(), 'taken.md'), { recursive: true });
      return [
        'validate',
        '--csv',
        decisions(),
        '--y-pred',
        'p',
        '--sensitive',
        'sex',
        '--out',
        path.join(folder(), 'taken.md'),
      ];
    },
    /Cannot write '.*taken\.md': it is a folder/,
  ],
  [
    'training with one group',
    () => ['train-regularized', '--csv', write('one.csv', ['sex,x,y', 'f,1,0', 'f,2,1']), '--sensitive', 'sex'],
    /one group only \('f'\); a fairness constraint needs at least two/,
  ],
  [
    'a target of three values',
    () => [
      'train-regularized',
      '--csv',
      write('three.csv', ['sex,x,y', 'f,1,a', 'm,2,b', 'm,3,c']),
      '--sensitive',
      'sex',
    ],
    /has 3 values \('a', 'b', 'c'\), but training needs two\. Set the label that counts as positive/,
  ],
  [
    'a plot in an unknown format',
    () => ['train-regularized', '--csv', training(), '--sensitive', 'sex', '--out-plot', 'p.jpg'],
    /Use the extension \.svg, \.png or \.html/,
  ],
  [
    'points under a file',
    () => [
      'train-regularized',
      '--csv',
      training(),
      '--sensitive',
      'sex',
      '--out-json',
      path.join(training(), 'p.json'),
    ],
    /a part of the path is a file/,
  ],
  [
    'an unknown backend',
    () => ['train-regularized', '--csv', training(), '--sensitive', 'sex', '--backend', 'gpu'],
    /--backend must be one of auto, node-gpu, .*; got 'gpu'/,
  ],
  [
    'an unknown penalty',
    () => ['train-regularized', '--csv', training(), '--sensitive', 'sex', '--penalty', 'gap'],
    /--penalty must be one of covariance, .*; got 'gap'/,
  ],
  [
    'a positive label that the true labels never hold',
    () => [
      ...['validate', '--csv', write('two-codings.csv', ['sex,p,y', 'f,1,yes', 'm,0,no'])],
      ...['--y-pred', 'p', '--y-true', 'y', '--sensitive', 'sex', '--positive-label', '1'],
    ],
    /No row of '.*' holds the positive label '1' in column 'y'\. The labels of 'y' are 'no', 'yes'/,
  ],
  [
    'a column name that occurs twice in the header',
    () => [
      'validate',
      '--csv',
      write('twice.csv', ['sex,p,P', 'f,1,0', 'm,0,1']),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
    ],
    /more than one column 'p'/,
  ],
  [
    'an infinite weight',
    () => [
      ...['validate', '--csv', write('weights.csv', ['sex,p,w', 'f,1,1.5', 'm,0,inf']), '--y-pred', 'p'],
      ...['--sensitive', 'sex', '--sample-weight', 'w'],
    ],
    /Column 'w' should hold finite numbers, but row 2 holds 'inf'/,
  ],
  [
    'a comparator without a threshold',
    () => ['validate', '--csv', decisions(), '--y-pred', 'p', '--sensitive', 'sex', '--comparator', '<'],
    /A comparator needs a threshold/,
  ],
  [
    '--sensitive twice in training, which would make the first a feature',
    () => ['train-regularized', '--csv', training(), '--sensitive', 'sex', '--sensitive', 'x'],
    /Give it once; a comma-separated list intersects several columns/,
  ],
  [
    'outputs inside one another',
    () => [
      ...['train-regularized', '--csv', training(), '--sensitive', 'sex'],
      ...['--save-model', path.join(folder(), 'm'), '--out-json', path.join(folder(), 'm/points.json')],
    ],
    /overlap\. Give each output its own path/,
  ],
  ['an empty output path', () => ['sample-data', 'berkeley', '--out', ''], /Cannot write '': the path is empty/],
  ['an unknown sample', () => ['sample-data', 'berkly'], /Did you mean 'berkeley'/],
];

describe('errors on the command line', () => {
  for (const [title, args, pattern] of cases) {
    it(`prints one clear line for ${title}, with exit code 2 and an empty stdout`, async () => {
      const { code, stdout, stderr } = await runCli(args(), { cwd: folder() });
      expect(stderr).to.match(pattern);
      expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
      expect(stderr).to.not.match(/\n {4}at |Error:|undefined/);
      expect(stdout).to.equal('');
      expect(code).to.equal(2);
    });
  }

  it('leave no incomplete files', () => {
    expect(readdirSync(folder()).filter((name) => /\.tmp$|report|p\.(json|jpg)/.test(name))).to.deep.equal([]);
  });

  it('are avoided for a target of three values by a positive label', async () => {
    const rows = Array.from(
      { length: 400 },
      (_, row) => `${row % 2 ? 'f' : 'm'},${row % 9},${['a', 'b', 'c'][row % 3] ?? ''}`,
    );
    const file = write('three-named.csv', ['sex,x,y', ...rows]);
    const { code, stdout } = await runCli([
      'train-regularized',
      '--csv',
      file,
      '--sensitive',
      'sex',
      '--positive-label',
      'b',
      '--etas',
      '0',
      '--epochs',
      '1',
    ]);
    expect(stdout).to.include("'y' = 'b' as positive");
    expect(code).to.equal(0);
  });
});
