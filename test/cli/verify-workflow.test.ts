import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import type { ReportVerification } from '../../src/integration/verify-report.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-return, @typescript-eslint/restrict-plus-operands -- results are changed in any place */

const CONFIG = `
sensitive: [sex, region]
intersections: [[sex, region]]
features: [income, age]
pipeline:
  - { name: repair, transformer: DisparateImpactRemover, params: { features: [income] } }
training:
  method: reductions
  target_column: bought
  params: { T: 3 }
validation_threshold: 0.3
`;

/** 640 rows of 160 customers. Some rows have no target, and some rows are the same. */
function rows(): string[] {
  return Array.from({ length: 640 }, (_, row) => {
    const customer = row >> 2;
    const sex = customer % 3 === 0 ? 'f' : 'm';
    const income = ((customer * 7919) % 97) + (row % 4 < 2 ? 0 : 0.5);
    const bought = row % 80 === 7 ? '' : Number(income + ((row * 31) % 40) > (sex === 'f' ? 75 : 60));
    return [customer, sex, ['north', 'south'][(customer >> 1) % 2], income, (customer * 13) % 40, bought].join();
  });
}

const HEADER = 'customer,sex,region,income,age,bought';
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** RFC 8785 for values without fractions that need more than JavaScript's own notation: sorted names, no spaces. */
function canonical(value: any): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

/** Rounds fractions to 12 digits, as the format of checksums of statistics says. */
function rounded(value: any): any {
  const short = (_: string, one: any): any =>
    typeof one === 'number' && !Number.isInteger(one) ? Number(one.toPrecision(12)) : one;
  return JSON.parse(JSON.stringify(value, short));
}

/** Returns the names of the checks that failed, with the places that differ. */
function failures({ checks }: ReportVerification): Record<string, string[]> {
  const failed = checks.filter(({ passed }) => passed === false);
  return Object.fromEntries(failed.map(({ name, differences }) => [name, differences.map(({ where }) => where)]));
}

const judged = (results: any): any => results.final_metrics.attributes.sex.demographic_parity_difference;
const counts = (evidence: any, model: string): number[] =>
  evidence.manifest.statistics[model][0].attributes[0].stats.counts;

/** Changes of the results and of the manifest, with the check that must fail and a place that it must name. */
type Change = readonly [what: string, change: (results: any, evidence: any) => void, check: string, where: RegExp];
const CHANGES: readonly Change[] = [
  ['a final value', (results) => (judged(results).value += 1e-6), 'results', /^final_metrics\.attributes\.sex\.demographic_parity_difference\.value$/], // prettier-ignore
  ['a value of the baseline', (results) => (results.baseline_metrics.metrics.equalized_odds_difference.value = 0.5), 'results', /^baseline_metrics\.metrics\.equalized_odds_difference\.value$/], // prettier-ignore
  ['the lower end of an interval', (results) => (judged(results).ci[0] += 0.01), 'results', /ci\.0$/],
  ['the upper end of an interval', (results) => (judged(results).ci[1] -= 0.01), 'results', /ci\.1$/],
  ['a rate of a group', (results) => (judged(results).per_group.f.selection_rate = 0.5), 'results', /per_group\.f/],
  ['the clusters of a group', (results) => (judged(results).n_clusters.f += 1), 'results', /n_clusters\.f$/],
  ['the accuracy', (results) => (results.final_metrics.accuracy += 0.01), 'results', /^final_metrics\.accuracy$/],
  ['the interval of the accuracy', (results) => (results.final_metrics.accuracy_ci[0] += 0.01), 'results', /accuracy_ci\.0$/], // prettier-ignore
  ['the number of held-out rows', (results) => (results.final_metrics.n += 1), 'results', /^final_metrics\.n$/],
  ['the rows of the split', (results) => (results.split.n_train += 1), 'results', /^split\.n_train$/],
  ['the excluded rows', (results) => (results.split.n_dropped = 0), 'results', /^split\.n_dropped$/],
  ['the verdict', (results) => (results.validation.passed = !results.validation.passed), 'results', /^validation\.passed$/], // prettier-ignore
  [
    'the message of the verdict',
    (results) => (results.validation.message = 'fine'),
    'results',
    /^validation\.message$/,
  ],
  ['the threshold', (results) => (results.validation.threshold = 0.9), 'results', /^validation\.threshold$/],
  ['the improvement', (results) => (results.validation.improvement_percent = -99), 'results', /improvement_percent$/],
  [
    'the judged attribute',
    (results) => (results.validation.attribute = 'region'),
    'results',
    /^validation\.attribute$/,
  ],
  [
    'the configuration',
    (results) => (results.config.training.params.T = 50),
    'results',
    /^config\.training\.params\.T$/,
  ],
  ['the seed', (results) => (results.seed = 7), 'results', /^seed$/],
  ['a point of the chart', (results) => (results.trade_off[0].unfairness = 0), 'results', /^trade_off\.0\.unfairness$/],
  ['the verdict of the manifest', (_, evidence) => (evidence.passed = !evidence.passed), 'results', /^passed$/],
  ['a count of the baseline', (_, evidence) => (counts(evidence, 'baseline')[0] = 0), 'results', /^baseline_metrics/],
  ['a count of the final model', (_, evidence) => (counts(evidence, 'final')[3] = 0), 'results', /^final_metrics/],
  ['the smallest group', (_, evidence) => (evidence.manifest.request.options.minGroupSize = 60), 'results', /^validation\.attribute$/], // prettier-ignore
  ['the threshold of the request', (_, evidence) => (evidence.manifest.request.config.validation_threshold = 0.9), 'results', /validation\.threshold/], // prettier-ignore
  ['the rows that were left out', (_, evidence) => (evidence.manifest.left_out.sex.kept[0] -= 3), 'results', /^split/],
  ['the command', (_, evidence) => (evidence.manifest.command = 'evenhand'), 'checksums', /manifest$/],
  ['the version', (_, evidence) => (evidence.manifest.evenhand = '99.0.0'), 'checksums', /manifest$/],
  [
    'the checksum of the data',
    (_, evidence) => (evidence.manifest.inputs[0].sha256 = sha256('x')),
    'checksums',
    /manifest$/,
  ],
  ['the checksum of a column', (_, evidence) => (evidence.manifest.data.columns[0].sha256 = sha256('x')), 'checksums', /manifest$/], // prettier-ignore
];

describe('evenhand verify of the folder of a workflow', function () {
  const folder = useTemporaryFolder();
  const inFolder = (...names: string[]): string => path.join(folder(), ...names);
  const write = (name: string, lines: readonly string[]): string => {
    writeFileSync(inFolder(name), [HEADER, ...lines].join('\n'));
    return inFolder(name);
  };
  const verify = async (...args: string[]): Promise<ReportVerification & { readonly code: number | null }> => {
    const { code, stdout, stderr } = await runCli(['verify', ...args, '--json']);
    expect(stderr).to.equal('');
    return { ...(JSON.parse(stdout) as ReportVerification), code };
  };
  const run = async (out: string, ...more: string[]): Promise<void> => {
    const args = ['--config', 'c.yml', '--csv', 'rows.csv', '--output-dir', out, '--quiet', '--min-group-size', '10'];
    const { code, stderr } = await runCli(['run-pipeline', ...args, ...more], { cwd: folder() });
    expect([0, 1], stderr).to.include(code);
  };
  /** A copy of the folder that may be changed. */
  const copy = (): string => {
    rmSync(inFolder('copy'), { recursive: true, force: true });
    cpSync(inFolder('out'), inFolder('copy'), { recursive: true });
    return inFolder('copy');
  };
  const read = (...names: string[]): any => JSON.parse(readFileSync(inFolder(...names), 'utf8'));
  /** Replaces all checksums, as a forger would. */
  const forge = (results: any, evidence: any): void => {
    const { manifest } = evidence;
    const { manifest: _, ...body } = results;
    const text = JSON.stringify(results);
    writeFileSync(inFolder('copy/workflow_results.json'), text);
    manifest.files['workflow_results.json'] = sha256(text);
    const { sha256: __, ...own } = manifest;
    const parts = {
      results: sha256(canonical(body)),
      statistics: sha256(canonical(rounded([...own.statistics.baseline, ...own.statistics.final]))),
    };
    manifest.sha256 = { ...parts, manifest: sha256(canonical({ ...own, statistics: null, sha256: parts })) };
    writeFileSync(inFolder('copy/manifest.json'), JSON.stringify(evidence));
  };

  before(async () => {
    write('rows.csv', rows());
    writeFileSync(inFolder('c.yml'), `${CONFIG}cluster: customer\n`);
    await run('out');
  });

  it('finds nothing in an untouched folder, with and without the data', async () => {
    for (const args of [[], ['--counts-only'], ['--csv', inFolder('rows.csv')]]) {
      const { passed, code, checks } = await verify(inFolder('out'), ...args);
      expect([passed, code], JSON.stringify(checks)).to.deep.equal([true, 0]);
      const names = ['files', 'checksums', 'results', ...(args[0] === '--csv' ? ['data', 'model', 'page'] : [])];
      const made = checks.filter((one) => one.passed !== null);
      expect(made.map(({ name }) => name)).to.deep.equal(names);
      const unchecked = checks.filter((one) => one.passed === null);
      expect(unchecked.map(({ name }) => name)).to.deep.equal([...(args[0] === '--csv' ? [] : ['data']), 'provenance']);
    }
  });

  it('the order of rows and the format of the file change nothing', async () => {
    const shuffled = write('shuffled.csv', rows().reverse());
    await runDuckDb(`COPY (SELECT age, * EXCLUDE (age) FROM '${shuffled}' ORDER BY hash(customer, income)) TO '${inFolder('rows.parquet')}'`); // prettier-ignore
    for (const data of [shuffled, inFolder('rows.parquet')]) {
      const { passed, checks } = await verify(inFolder('out'), '--csv', data);
      expect(passed, JSON.stringify(checks)).to.equal(true);
    }
  });

  it(`has ${String(CHANGES.length)} kinds of changes to find`, () => {
    expect(new Set(CHANGES.map(([what]) => what)).size)
      .to.equal(CHANGES.length)
      .and.to.be.at.least(12);
  });

  for (const [what, change, check, where] of CHANGES) {
    it(`names ${what}${check === 'results' ? ', also if all checksums are replaced' : ''}`, async () => {
      copy();
      const [results, evidence] = [read('out', 'workflow_results.json'), read('out', 'manifest.json')];
      change(results, evidence);
      writeFileSync(inFolder('copy/workflow_results.json'), JSON.stringify(results));
      writeFileSync(inFolder('copy/manifest.json'), JSON.stringify(evidence));
      const found = await verify(inFolder('copy'));
      const failed = failures(found);
      expect(found.code).to.equal(1);
      expect(Object.keys(failed)).to.include(check);
      expect(
        failed[check]?.some((place) => where.test(place)),
        JSON.stringify(failed),
      ).to.equal(true);
      if (check !== 'results') return;
      forge(results, evidence);
      const forged = failures(await verify(inFolder('copy')));
      expect(Object.keys(forged)).to.deep.equal(['results']);
      expect(
        forged['results']?.some((place) => where.test(place)),
        JSON.stringify(forged),
      ).to.equal(true);
    });
  }

  it('an untouched folder keeps its checksums if they are computed again', async () => {
    copy();
    const [results, evidence] = [read('out', 'workflow_results.json'), read('out', 'manifest.json')];
    forge(results, evidence);
    const { passed, checks } = await verify(inFolder('copy'));
    expect(passed, JSON.stringify(checks)).to.equal(true);
    const { results: body, statistics } = read('out', 'manifest.json').manifest.sha256;
    expect(evidence.manifest.sha256).to.include({ results: body, statistics });
  });

  const FILES: readonly (readonly [what: string, change: (copied: string) => void, name: string])[] = [
    [
      'a changed model',
      (copied) => {
        appendFileSync(path.join(copied, 'model/model.json'), ' ');
      },
      'model/model.json',
    ],
    [
      'a changed pipeline',
      (copied) => {
        appendFileSync(path.join(copied, 'pipeline.json'), ' ');
      },
      'pipeline.json',
    ],
    ['changed rows', (copied) => { appendFileSync(path.join(copied, 'transformed_data.parquet'), 'x'); }, 'transformed_data.parquet'], // prettier-ignore
    [
      'a changed report',
      (copied) => {
        appendFileSync(path.join(copied, 'report.md'), 'All is well.');
      },
      'report.md',
    ],
    [
      'a missing report',
      (copied) => {
        rmSync(path.join(copied, 'report.html'));
      },
      'report.html',
    ],
    [
      'missing results',
      (copied) => {
        rmSync(path.join(copied, 'workflow_results.json'));
      },
      'workflow_results.json',
    ],
    [
      'an added file',
      (copied) => {
        writeFileSync(path.join(copied, 'notes.txt'), 'x');
      },
      'notes.txt',
    ],
    [
      'an added file of the model',
      (copied) => {
        writeFileSync(path.join(copied, 'model/x.bin'), 'x');
      },
      'model/x.bin',
    ],
    [
      'a renamed file',
      (copied) => {
        renameSync(path.join(copied, 'report.md'), path.join(copied, 'r.md'));
      },
      'r.md',
    ],
  ];
  for (const [what, change, name] of FILES) {
    it(`names ${what}`, async () => {
      change(copy());
      const found = await verify(inFolder('copy'));
      expect(found.code).to.equal(1);
      expect(failures(found)['files']).to.include(name);
      expect(found.checks[0]?.message).to.contain(name);
    });
  }

  describe('with the data', () => {
    const DATA: readonly (readonly [what: string, change: (lines: string[]) => void, where: RegExp])[] = [
      ['a target', (lines) => (lines[1] = (lines[1] as string).replace(/[01]$/, (y) => String(1 - Number(y)))), /^values of column 'bought'$/], // prettier-ignore
      ['a feature', (lines) => (lines[1] = (lines[1] as string).replace(/,(\d+),([01])$/, ',99,$2')), /^values of column 'age'$/], // prettier-ignore
      ['the group of rows', (lines) => (lines[1] = (lines[1] as string).replace(',f,', ',m,')), /^rows of group 'f' of 'sex'$/], // prettier-ignore
      [
        'a new group',
        (lines) => (lines[1] = (lines[1] as string).replace(',f,', ',x,')),
        /^rows of group 'x' of 'sex'$/,
      ],
      ['a row that is left out', (lines) => lines.splice(1, 1), /^rows of the data$/],
      ['a row that is repeated', (lines) => lines.push(lines[1] as string), /^rows of the data$/],
      [
        'values that two rows exchange',
        (lines) => {
          const [a, b] = [lines[1]?.split(',') ?? [], lines[90]?.split(',') ?? []];
          [a[3], b[3]] = [b[3] as string, a[3] as string];
          [lines[1], lines[90]] = [a.join(), b.join()];
        },
        /^rows$/,
      ],
    ];
    for (const [what, change, where] of DATA) {
      it(`names ${what}`, async () => {
        const lines = rows();
        change(lines);
        const found = await verify(inFolder('out'), '--csv', write('other.csv', lines));
        const failed = failures(found);
        expect([found.code, Object.keys(failed)]).to.deep.equal([1, ['data']]);
        expect(
          failed['data']?.some((place) => where.test(place)),
          failed['data']?.join('\n'),
        ).to.equal(true);
      });
    }

    it('names a column that the data lack', async () => {
      await runDuckDb(`COPY (SELECT * EXCLUDE (age) FROM '${inFolder('rows.csv')}') TO '${inFolder('less.csv')}'`);
      expect(failures(await verify(inFolder('out'), '--csv', inFolder('less.csv')))).to.deep.equal({ data: ["column 'age'"] }); // prettier-ignore
    });

    it('finds results that were invented together with their statistics, which only the data can show', async () => {
      copy();
      writeFileSync(inFolder('c.yml'), `${CONFIG}cluster: customer\n`);
      write(
        'rows.csv',
        rows().map((line, row) => (row % 9 === 0 ? line.replace(/[01]$/, '1') : line)),
      );
      await run('invented');
      write('rows.csv', rows());
      const invented = read('invented', 'manifest.json');
      const evidence = read('out', 'manifest.json');
      evidence.manifest.statistics = invented.manifest.statistics;
      [evidence.passed, evidence.gates] = [invented.passed, invented.gates];
      forge({ ...read('invented', 'workflow_results.json') }, evidence);
      expect(failures(await verify(inFolder('copy')))).to.deep.equal({});
      const failed = failures(await verify(inFolder('copy'), '--csv', inFolder('rows.csv')));
      expect(failed['data']?.some((place) => /^baseline model: counts of group '[fm]'/.test(place)), JSON.stringify(failed)).to.equal(true); // prettier-ignore
    });

    for (const [name, change] of [
      ['model/weights.bin', (bytes) => bytes.writeFloatLE(bytes.readFloatLE(0) * 1.01 + 0.01, 0)],
      ['pipeline.json', (bytes) => bytes.write('9', bytes.lastIndexOf(Buffer.from('0.')))],
    ] as readonly (readonly [string, (bytes: Buffer) => void])[]) {
      it(`finds that ${name} was changed, with a checksum that was replaced`, async () => {
        const bytes = readFileSync(path.join(copy(), name));
        change(bytes);
        writeFileSync(inFolder('copy', name), bytes);
        const evidence = read('out', 'manifest.json');
        evidence.manifest.files[name] = sha256(bytes);
        forge(read('out', 'workflow_results.json'), evidence);
        expect(failures(await verify(inFolder('copy')))).to.deep.equal({});
        const failed = failures(await verify(inFolder('copy'), '--csv', inFolder('rows.csv')));
        expect(Object.keys(failed)).to.deep.equal(['model']);
        expect(failed['model']?.[0]).to.contain(name);
      });
    }

    it('finds a report that shows other results, with a checksum that was replaced', async () => {
      copy();
      const text = readFileSync(inFolder('copy/report.html'), 'utf8').replace('</main>', '<p>Checked.</p></main>');
      writeFileSync(inFolder('copy/report.html'), text);
      const evidence = read('out', 'manifest.json');
      evidence.manifest.files['report.html'] = sha256(text);
      forge(read('out', 'workflow_results.json'), evidence);
      expect(failures(await verify(inFolder('copy')))).to.deep.equal({});
      expect(failures(await verify(inFolder('copy'), '--csv', inFolder('rows.csv')))).to.deep.equal({ page: ['report.html'] }); // prettier-ignore
    });
  });

  for (const [name, changes] of [
    ['without clusters', ''],
    ['with strata', 'cluster: customer\nstrata: region\n'],
    ['of scores', 'fairness_metric: roc_auc_difference\n'],
  ] as const) {
    it(`verifies a workflow ${name}`, async () => {
      writeFileSync(inFolder('c.yml'), CONFIG + changes);
      await run('more');
      const { passed, checks } = await verify(inFolder('more'), '--csv', inFolder('rows.csv'));
      expect(passed, JSON.stringify(checks)).to.equal(true);
    });
  }

  it('verifies a workflow of numbers', async () => {
    const numbers = CONFIG.replace('target_column: bought', 'target_column: age').replace('[income, age]', '[income]');
    writeFileSync(inFolder('c.yml'), `${numbers.replace('{ T: 3 }', '{ upper_bound: 900 }').replace('0.3', '9')}fairness_metric: mae_parity_difference\ncluster: customer\n`); // prettier-ignore
    await run('numbers');
    const { passed, checks } = await verify(inFolder('numbers'), '--csv', inFolder('rows.csv'));
    expect(passed, JSON.stringify(checks)).to.equal(true);
    const results = read('numbers', 'workflow_results.json');
    results.final_metrics.mean_absolute_error += 0.1;
    writeFileSync(inFolder('numbers/workflow_results.json'), JSON.stringify(results));
    expect(failures(await verify(inFolder('numbers')))['results']).to.deep.equal(['final_metrics.mean_absolute_error']);
  });

  it('accepts the key of the author of a signed folder, and no other; no file may change afterwards', async () => {
    writeFileSync(inFolder('c.yml'), CONFIG);
    for (const name of ['audit', 'other']) await runCli(['keygen', '--out', inFolder(name)]);
    await run('signed', '--sign', inFolder('audit.pem'));
    const key = (name: string): string[] => ['--key', inFolder(`${name}.pub.pem`)];
    expect((await verify(inFolder('signed'), ...key('audit'))).passed).to.equal(true);
    expect(failures(await verify(inFolder('signed'), ...key('other')))).to.have.keys('signature');
    const statement = JSON.parse(Buffer.from(read('signed', 'manifest.json.dsse.json').payload, 'base64').toString());
    expect(statement.predicate.result).to.equal(read('signed', 'manifest.json').passed === true ? 'PASSED' : 'FAILED');
    expect(statement.subject[0]).to.deep.equal({ name: 'manifest.json', digest: { sha256: sha256(readFileSync(inFolder('signed/manifest.json'))) } }); // prettier-ignore
    // A signed folder may be replaced, as others.
    await run('signed', '--sign', inFolder('audit.pem'));
    cpSync(inFolder('signed/manifest.json.dsse.json'), inFolder('out/manifest.json.dsse.json'));
    expect(failures(await verify(inFolder('out'), ...key('audit')))).to.have.keys('signature');
    const { code, stderr } = await runCli(['run-pipeline', '--config', 'c.yml', '--csv', 'rows.csv', '--sign', 'audit.pem'], { cwd: folder() }); // prettier-ignore
    expect([code, stderr]).to.satisfy(([rc, text]: [number, string]) => rc === 2 && text.includes('Add --output-dir'));
  });

  it('rejects a folder that is not of a workflow', async () => {
    for (const [content, message] of [
      ['{}', /is not the folder of a workflow/],
      ['', /is not the folder of a workflow/],
    ] as const) {
      writeFileSync(inFolder('copy/manifest.json'), content);
      const { code, stderr } = await runCli(['verify', inFolder('copy')]);
      expect([code, stderr.trimEnd()]).to.satisfy(([rc, text]: [number, string]) => rc === 2 && message.test(text));
    }
    rmSync(inFolder('copy/manifest.json'));
    expect((await runCli(['verify', inFolder('copy')])).stderr).to.match(/cannot read '.*manifest\.json'/);
  });
});
