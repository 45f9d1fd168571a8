import { createHash, generateKeyPairSync, verify as verifyBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import type { ReportVerification } from '../../src/integration/verify-report.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-argument, @typescript-eslint/restrict-plus-operands -- reports are changed in any place */

const folder = useTemporaryFolder();
const inFolder = (name: string): string => path.join(folder(), name);

/** Rows of two sexes and three regions: a decision, a true label, and a few gaps. */
function rows(): string[] {
  return Array.from({ length: 900 }, (_, row) => {
    const sex = row % 3 === 0 ? 'f' : 'm';
    const decision = row % 50 === 0 ? '' : Number((row * 7919) % 100 < (sex === 'f' ? 42 : 55));
    return [
      sex,
      ['north', 'south', 'west'][row % 7 > 4 ? 2 : row % 2],
      decision,
      Number((row * 104729) % 100 < 50),
    ].join();
  });
}

function write(name: string, lines: readonly string[]): string {
  writeFileSync(inFolder(name), ['sex,region,p,y', ...lines].join('\n'));
  return inFolder(name);
}

const ARGS = ['--y-pred', 'p', '--y-true', 'y', '--sensitive', 'sex', '--sensitive', 'region', '--with-p-value', '--metric', 'demographic_parity_difference<=0.1', '--metric', 'demographic_parity_ratio>=0.8']; // prettier-ignore

/** Writes a report, and returns its path. */
async function report(name = 'report.json', lines = rows(), more: readonly string[] = []): Promise<string> {
  const csv = write('rows.csv', lines);
  await runCli(['validate', '--csv', csv, ...ARGS, '--out', inFolder(name), ...more]);
  return inFolder(name);
}

async function verify(...args: string[]): Promise<ReportVerification & { readonly code: number | null }> {
  const { code, stdout } = await runCli(['verify', ...args, '--json']);
  return { ...(JSON.parse(stdout) as ReportVerification), code };
}

/** Returns the names of the checks that failed, with the places that differ. */
function failures({ checks }: ReportVerification): Record<string, string[]> {
  const failed = checks.filter(({ passed }) => passed === false);
  return Object.fromEntries(failed.map(({ name, differences }) => [name, differences.map(({ where }) => where)]));
}

/** RFC 8785 for values without fractions that need more than JavaScript's own notation: sorted names, no spaces. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join()}}`;
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Replaces the checksums of a changed report, as a forger would. The statistics hold whole numbers only. */
function forge(body: any): void {
  const { manifest, ...results } = body;
  const { sha256: _, ...own } = manifest;
  const parts = { results: sha256(canonical(results)), statistics: sha256(canonical(own.statistics)) };
  manifest.sha256 = { ...parts, manifest: sha256(canonical({ ...own, statistics: null, sha256: parts })) };
}

const dp = (body: any): any => body.attributes.sex.metrics.demographic_parity_difference;
const counts = (body: any): number[] => body.manifest.statistics[0].attributes[0].stats.counts;

/** Each change, with the checks that must fail and a place that they must name. */
const CHANGES: readonly (readonly [what: string, change: (body: any) => void, check: string, where: RegExp])[] = [
  ['a digit of a value', (body) => (dp(body).value += 0.01), 'results', /^attributes\.sex\.metrics\.demographic_parity_difference\.value$/], // prettier-ignore
  ['the last digits of a value', (body) => (dp(body).value += 1e-7), 'results', /difference\.value$/],
  ['the lower end of an interval', (body) => (dp(body).ci[0] = 0), 'results', /difference\.ci\.0$/],
  ['the upper end of an interval', (body) => (dp(body).ci[1] -= 0.02), 'results', /difference\.ci\.1$/],
  ['the level of an interval', (body) => (dp(body).ci_level = 0.99), 'results', /ci_level$/],
  ['a p-value', (body) => (dp(body).p_value = 0.2), 'results', /difference\.p_value$/],
  ['the rows of a group', (body) => (dp(body).n_per_group.f += 1), 'results', /n_per_group\.f$/],
  ['a rate of a group', (body) => (dp(body).per_group.f.selection_rate = 0.5), 'results', /per_group\.f\.selection_rate$/], // prettier-ignore
  ['an interval of a group', (body) => (dp(body).per_group_ci.f.selection_rate[0] = 0), 'results', /per_group_ci\.f/],
  ['the groups of the gap', (body) => ([dp(body).first, dp(body).second] = ['f', 'm']), 'results', /first$/],
  [
    'the detectable difference',
    (body) => (dp(body).minimum_detectable_gap = 0.01),
    'results',
    /minimum_detectable_gap$/,
  ],
  ['the rows with missing values', (body) => (dp(body).n_dropped = 0), 'results', /n_dropped$/],
  ['a warning', (body) => dp(body).warnings.push('all is well'), 'results', /warnings\.\d+$/],
  ['the verdict', (body) => (body.passed = true), 'results', /^passed$/],
  [
    'the verdict of an attribute',
    (body) => (body.attributes.sex.passed = true),
    'results',
    /^attributes\.sex\.passed$/,
  ],
  ['whether a gate passed', (body) => (body.gates[0].passed = true), 'results', /^gates\.0\.passed$/],
  ['the status of a gate', (body) => (body.gates[0].status = 'pass'), 'results', /^gates\.0\.status$/],
  ['the message of a gate', (body) => (body.gates[0].message = 'fine'), 'results', /^gates\.0\.message$/],
  ['the threshold of a gate', (body) => (body.gates[0].threshold = 0.5), 'results', /^gates\.0\.threshold$/],
  ['the comparator of a gate', (body) => (body.gates[0].comparator = '>='), 'results', /^gates\.0\.comparator$/],
  ['a gate that is left out', (body) => body.gates.shift(), 'results', /^gates\.\d/],
  ['a metric that is left out', (body) => delete body.attributes.sex.metrics.equalized_odds_difference, 'results', /equalized_odds_difference$/], // prettier-ignore
  ['a metric that is added', (body) => (body.attributes.sex.metrics.more = dp(body)), 'results', /metrics\.more$/],
  ['an attribute that is left out', (body) => delete body.attributes.region, 'results', /^attributes\.region$/],
  ['the name of an attribute', (body) => { body.attributes.age = body.attributes.sex; delete body.attributes.sex; }, 'results', /^attributes\.sex$/], // prettier-ignore
  ['the seed of the request', (body) => (body.manifest.request.seed = 7), 'checksums', /manifest$/],
  ['the smallest group of the request', (body) => (body.manifest.request.minGroupSize = 400), 'results', /./],
  ['a gate of the request', (body) => (body.manifest.request.gates = [{ metric: 'demographic_parity_difference', threshold: 0.9, comparator: '<=' }]), 'results', /gates/], // prettier-ignore
  ['an option', (body) => (body.manifest.options.seed = 7), 'checksums', /manifest$/],
  ['the command', (body) => (body.manifest.command = 'evenhand validate'), 'checksums', /manifest$/],
  ['the version', (body) => (body.manifest.evenhand = '99.0.0'), 'checksums', /manifest$/],
  ['the checksum of the data', (body) => (body.manifest.inputs[0].sha256 = sha256('x')), 'checksums', /manifest$/],
  ['the name of the data', (body) => (body.manifest.inputs[0].path = 'other.csv'), 'checksums', /manifest$/],
  ['the number of rows read', (body) => (body.manifest.rows = 901), 'checksums', /manifest$/],
  ['a count', (body) => (counts(body)[0] = (counts(body)[0] as number) + 5), 'results', /n_per_group\.f$/],
  ['two counts', (body) => ([counts(body)[0], counts(body)[1]] = [counts(body)[1] as number, counts(body)[0] as number]), 'checksums', /statistics$/], // prettier-ignore
  ['the label of a group', (body) => (body.manifest.statistics[0].attributes[0].stats.labels[0] = 'x'), 'results', /per_group\.(f|x)/], // prettier-ignore
  ['a group that is left out of the statistics', (body) => body.manifest.statistics[0].attributes[0].stats.labels.pop(), 'results', /^$/], // prettier-ignore
  ['the missing rows of the statistics', (body) => (body.manifest.statistics[0].attributes[0].stats.n_dropped = 0), 'results', /n_dropped$/], // prettier-ignore
  [
    'the checksum of the results',
    (body) => (body.manifest.sha256.results = sha256('x')),
    'checksums',
    /sha256\.results$/,
  ],
  ['the checksum of the statistics', (body) => (body.manifest.sha256.statistics = sha256('x')), 'checksums', /sha256\.statistics$/], // prettier-ignore
  ['the checksum of the manifest', (body) => (body.manifest.sha256.manifest = sha256('x')), 'checksums', /sha256\.manifest$/], // prettier-ignore
];

describe('evenhand verify', () => {
  it('finds nothing in an untouched report, with and without the data', async () => {
    const file = await report();
    for (const args of [[], ['--counts-only'], ['--csv', inFolder('rows.csv')]]) {
      const { passed, code, checks } = await verify(file, ...args);
      expect([passed, code], JSON.stringify(checks)).to.deep.equal([true, 0]);
    }
  });

  it(`has ${String(CHANGES.length)} kinds of changes to find`, () => {
    expect(new Set(CHANGES.map(([what]) => what)).size)
      .to.equal(CHANGES.length)
      .and.to.be.at.least(40);
  });

  for (const [what, change, check, where] of CHANGES) {
    it(`names ${what}`, async () => {
      const body = JSON.parse(readFileSync(await report(), 'utf8'));
      change(body);
      writeFileSync(inFolder('changed.json'), JSON.stringify(body));
      const found = await verify(inFolder('changed.json'));
      const failed = failures(found);
      expect(found.code).to.equal(1);
      expect(Object.keys(failed)).to.include('checksums').and.to.include(check);
      if (where.source !== '^$') expect(failed[check]?.some((place) => where.test(place)), JSON.stringify(failed)).to.equal(true); // prettier-ignore
    });
  }

  for (const [what, change, check, where] of CHANGES.filter(([, , name]) => name === 'results')) {
    it(`names ${what} also if all checksums are replaced`, async () => {
      const body = JSON.parse(readFileSync(await report(), 'utf8'));
      change(body);
      forge(body);
      writeFileSync(inFolder('forged.json'), JSON.stringify(body));
      const failed = failures(await verify(inFolder('forged.json')));
      expect(Object.keys(failed)).to.deep.equal([check]);
      if (where.source !== '^$') expect(failed[check]?.some((place) => where.test(place))).to.equal(true);
    });
  }

  it('an untouched report keeps its checksums if they are computed again', async () => {
    const text = readFileSync(await report(), 'utf8');
    const body = JSON.parse(text);
    forge(body);
    expect(body).to.deep.equal(JSON.parse(text));
  });

  describe('with the data', () => {
    const DATA: readonly (readonly [string, (lines: string[]) => void, RegExp])[] = [
      ['a decision', (lines) => (lines[1] = (lines[1] as string).replace(/,([01]),/, (_, p: string) => `,${String(1 - Number(p))},`)), /^counts of group 'm', true label \d, decision \d$/], // prettier-ignore
      ['a true label', (lines) => (lines[1] = (lines[1] as string).replace(/[01]$/, (y) => String(1 - Number(y)))), /^counts of group 'm'/], // prettier-ignore
      ['the group of a row', (lines) => (lines[1] = (lines[1] as string).replace('m,', 'f,')), /^counts of group 'f'/],
      ['a new group', (lines) => (lines[1] = (lines[1] as string).replace('m,', 'x,')), /^rows of group 'x'$/],
      ['a row that is left out', (lines) => lines.splice(1, 1), /^counts of group 'm'/],
      ['a row that is repeated', (lines) => lines.push(lines[1] as string), /^counts of group 'm'/],
    ];
    for (const [what, change, where] of DATA) {
      it(`names ${what}`, async () => {
        const file = await report();
        const lines = rows();
        change(lines);
        const found = await verify(file, '--csv', write('other.csv', lines));
        const failed = failures(found);
        expect([found.code, Object.keys(failed)]).to.deep.equal([1, ['data']]);
        expect(
          failed['data']?.some((place) => where.test(place)),
          failed['data']?.join('\n'),
        ).to.equal(true);
      });
    }

    it('names each count that differs once', async () => {
      const file = await report();
      const lines = rows();
      lines[1] = (lines[1] as string).replace(/,([01]),/, (_, p: string) => `,${String(1 - Number(p))},`);
      const failed = failures(await verify(file, '--csv', write('other.csv', lines)));
      const named = failed['data']?.map((place) => place.replace(/\d/g, ''));
      const places = ['m', 'm', 'south', 'south'].map((group) => `counts of group '${group}', true label , decision `);
      expect(named).to.deep.equal(places);
    });

    it('compares groups by their labels, so that a missing or an added group changes no other group', async () => {
      const lines = rows().map((line, row) => `${line},${String(((row * 37) % 997) / 997)}`);
      const scored = (name: string, own: readonly string[]): string => {
        writeFileSync(inFolder(name), ['sex,region,p,y,s', ...own].join('\n'));
        return inFolder(name);
      };
      const all = scored('scored.csv', lines);
      const few = scored(
        'few.csv',
        lines.filter((line) => !line.startsWith('f')),
      );
      // The decision of 6 rows of group f is missing.
      for (const [args, n] of [
        [['--y-pred', 'p'], 294],
        [['--y-pred', 'p', '--y-true', 'y'], 294],
        [['--y-pred', 's', '--metric', 'mean_prediction_difference'], 300],
        [['--score', 's', '--y-true', 'y', '--metric', 'roc_auc_difference'], 300],
        [['--y-pred', 'p', '--control', 'region'], 294],
      ] as const) {
        for (const [made, given, sentence, reported, computed] of [
          [all, few, "Group 'f' is missing from the data.", n, undefined],
          [few, all, "Group 'f' is not in the report.", undefined, n],
        ] as const) {
          await runCli(['validate', '--csv', made, ...args, '--sensitive', 'sex', '--out', inFolder('groups.json')]);
          const { code, checks } = await verify(inFolder('groups.json'), '--csv', given);
          const { message, differences = [] } = checks.find(({ name }) => name === 'data') ?? {};
          expect([code, message], args.join(' ')).to.satisfy(([rc, text]: [number, string]) => rc === 1 && text.endsWith(sentence)); // prettier-ignore
          const [first, ...others] = differences.filter(({ where }) => !where.endsWith('.n_dropped'));
          expect([first?.where, first?.reported, first?.computed]).to.deep.equal(["rows of group 'f'", reported, computed]); // prettier-ignore
          expect(others.filter(({ where }) => !/^rows of group '\w+\|\|f'/.test(where))).to.deep.equal([]);
        }
      }
    });

    it('the order of rows and the format of the file change nothing', async () => {
      const file = await report('report.json', rows(), ['--sample-weight', 'y']);
      const shuffled = write('shuffled.csv', rows().reverse());
      await runDuckDb(`COPY (SELECT * FROM '${shuffled}' ORDER BY hash(sex, p, y)) TO '${inFolder('rows.parquet')}'`);
      for (const data of [shuffled, inFolder('rows.parquet')]) {
        const { passed, checks } = await verify(file, '--csv', data);
        expect(passed, JSON.stringify(checks)).to.equal(true);
        const found = checks.find(({ name }) => name === 'data');
        expect(found?.message).to.contain('another SHA-256').and.to.contain('all numbers are the same');
      }
    });

    it('finds counts that were invented, which only the data can show', async () => {
      const lines = rows();
      lines.fill('f,north,1,1', 0, 60);
      const invented = await report('invented.json', lines);
      write('rows.csv', rows());
      expect((await verify(invented)).passed).to.equal(true);
      expect(failures(await verify(invented, '--csv', inFolder('rows.csv')))).to.have.keys(['data']);
    });

    for (const more of [
      ['--score', 's'],
      ['--control', 'region'],
      ['--cluster', 'region', '--strata', 'region'],
      ['--min-cell', '40'],
      ['--average', 'macro'],
    ]) {
      it(`verifies a report with ${more.join(' ')}`, async () => {
        const isScore = more[0] === '--score';
        const lines = rows().map((line, row) => `${line},${String(((row * 37) % 997) / 997)}`);
        writeFileSync(inFolder('scored.csv'), ['sex,region,p,y,s', ...lines].join('\n'));
        const outcome = isScore ? ['--metric', 'roc_auc_difference'] : ['--y-pred', 'p'];
        const truth = more[0] === '--min-cell' ? [] : ['--y-true', 'y'];
        const args = ['--csv', inFolder('scored.csv'), ...outcome, ...truth, '--sensitive', 'sex', ...more];
        const { stderr } = await runCli([
          'validate',
          ...args,
          '--out',
          inFolder('more.json'),
          '--out',
          inFolder('more.html'),
        ]);
        expect(stderr).not.to.contain('error');
        for (const file of ['more.json', 'more.html']) {
          const { passed, checks } = await verify(inFolder(file), '--csv', inFolder('scored.csv'));
          expect(passed, JSON.stringify(checks)).to.equal(true);
        }
      });
    }
  });

  describe('of a page', () => {
    it('finds nothing in an untouched page', async () => {
      const { passed, checks } = await verify(await report('report.html'), '--csv', inFolder('rows.csv'));
      const names = ['checksums', 'results', 'data', 'page', 'provenance'];
      expect([passed, checks.map(({ name }) => name)]).to.deep.equal([true, names]);
    });

    it('names a digit, a word and a line that only the page shows', async () => {
      const text = readFileSync(await report('report.html'), 'utf8');
      const shown = /Value<\/dt>\s*<dd[^>]*>([0-9.]+)/.exec(text)?.[1] ?? '0.1';
      for (const [from, to] of [
        [shown, '0.0001'],
        ['FAIL', 'PASS'],
        ['</main>', '<p>Checked.</p></main>'],
      ] as const) {
        expect(text).to.contain(from);
        writeFileSync(inFolder('changed.html'), text.replace(from, to));
        const found = await verify(inFolder('changed.html'));
        expect(Object.keys(failures(found))).to.deep.equal(['page']);
        expect(found.checks[0]?.message).to.equal('The results in the page are as they were written.');
      }
    });
  });

  describe('of a page that compares two reports, or that another version made', () => {
    const compared = async (): Promise<string> => {
      const earlier = await report('earlier.json', rows().slice(100));
      return report('compared.html', rows(), ['--compare', earlier]);
    };

    it('finds a forged verdict and a forged number', async () => {
      const page = await compared();
      const csv = ['--csv', inFolder('rows.csv')];
      expect(await verify(page, ...csv)).to.include({ code: 0, passed: true });
      const text = readFileSync(page, 'utf8');
      for (const [from, to] of [
        ['FAIL', 'PASS'],
        ['0.1', '0.0'],
      ] as const) {
        const start = text.indexOf('<main');
        const forged = text.slice(0, start) + text.slice(start).replace(from, to);
        expect(forged).not.to.equal(text);
        writeFileSync(page, forged);
        const found = await verify(page, ...csv);
        expect([found.code, failures(found)]).to.deep.equal([1, { page: [found.checks.find(({ name }) => name === 'page')?.differences[0]?.where] }]); // prettier-ignore
      }
    });

    it('does not call a page verified whose text could not be compared, unless it is signed', async () => {
      const page = await compared();
      const text = readFileSync(page, 'utf8');
      const from = text.lastIndexOf('<script type="application/json"');
      const json = text.slice(text.indexOf('>', from) + 1, text.indexOf('</script>', from));
      const value = JSON.parse(json);
      value.report.manifest.evenhand = '0.1.0';
      forge(value.report);
      writeFileSync(
        page,
        text.replace(json, () => JSON.stringify(value).replaceAll('<', '\\u003c')),
      );
      const { code, stdout } = await runCli(['verify', page, '--csv', inFolder('rows.csv')]);
      expect(code, stdout).to.equal(1);
      expect(stdout.replaceAll(/\s+/g, ' ')).to.match(
        /^NOT VERIFIED The page was made by version 0\.1\.0, and this is version/,
      );
    });

    it('says what the report decided', async () => {
      const { stdout } = await runCli(['verify', await report(), '--csv', inFolder('rows.csv')]);
      expect(stdout.replaceAll(/\s+/g, ' ')).to.match(/^VERIFIED .* The verdict of the report is FAIL\./);
    });
  });

  describe('of a signed report', () => {
    async function signed(): Promise<{ file: string; key: string }> {
      await runCli(['keygen', '--out', inFolder('audit')]);
      return {
        file: await report('report.json', rows(), ['--sign', inFolder('audit.pem')]),
        key: inFolder('audit.pub.pem'),
      };
    }

    it('accepts the key of its author, and no other', async () => {
      const { file, key } = await signed();
      expect((await verify(file, '--key', key)).passed).to.equal(true);
      await runCli(['keygen', '--out', inFolder('other')]);
      const { code, checks } = await verify(file, '--key', inFolder('other.pub.pem'));
      expect([code, checks.at(-1)?.message]).to.satisfy(([rc, message]: [number, string]) => rc === 1 && message.includes('not signed with this key')); // prettier-ignore
      expect(statSync(inFolder('audit.pem')).mode & 0o077).to.equal(0);
    });

    it('rejects a report that was changed after it was signed, with all checksums replaced', async () => {
      const { file, key } = await signed();
      const body = JSON.parse(readFileSync(file, 'utf8'));
      body.manifest.command = 'evenhand validate --csv better.csv';
      forge(body);
      writeFileSync(file, JSON.stringify(body));
      expect((await verify(file)).passed).to.equal(true);
      expect(failures(await verify(file, '--key', key))).to.have.keys(['signature']);
    });

    it('does not call a report verified that was compared with nothing else, and lists what was not checked', async () => {
      const { file, key } = await signed();
      const of = async (...args: string[]): Promise<unknown[]> => {
        const { code, stdout } = await runCli(['verify', file, ...args]);
        return [code, /^\S+/.exec(stdout)?.[0], ...[...stdout.matchAll(/^Not checked: (\S+)/gm)].map(([, name]) => name)]; // prettier-ignore
      };
      expect(await of()).to.deep.equal([0, 'CONSISTENT', 'data', 'provenance', 'signature']);
      expect(await of('--counts-only')).to.deep.equal([0, 'CONSISTENT', 'data', 'provenance', 'signature']);
      expect(await of('--csv', inFolder('rows.csv'))).to.deep.equal([0, 'VERIFIED', 'provenance', 'signature']);
      expect(await of('--key', key)).to.deep.equal([0, 'VERIFIED', 'data']);
      expect(await of('--key', key, '--csv', inFolder('rows.csv'))).to.deep.equal([0, 'VERIFIED']);
    });

    it('names the date of a page among what was not checked, unless a signature covers it', async () => {
      const { key } = await signed();
      const page = await report('page.html', rows(), ['--sign', inFolder('audit.pem')]);
      const text = readFileSync(page, 'utf8');
      const date = new Date().toISOString().slice(0, 4);
      writeFileSync(page, text.replaceAll(`${date}-`, '2001-'));
      const csv = ['--csv', inFolder('rows.csv')];
      const { passed, checks } = await verify(page, ...csv);
      expect(passed).to.equal(true);
      const found = checks.find(({ name }) => name === 'provenance');
      expect(found?.passed).to.equal(null);
      expect(found?.message)
        .to.include('The date of the report: nothing in the data shows when it was made, and no checksum covers it.')
        .and.match(
          /The command, its options, the version of evenhand, .*: the data do not show them. Only checksums cover them/,
        );
      expect(failures(await verify(page, ...csv, '--key', key))).to.have.keys(['signature']);
      writeFileSync(page, text);
      const signedChecks = (await verify(page, ...csv, '--key', key)).checks;
      expect(signedChecks.map(({ name, passed: isSame }) => [name, isSame])).to.deep.equal([
        ...['checksums', 'results', 'data', 'page', 'signature'].map((name) => [name, true]),
      ]);
      const json = (await verify(await report('report.json'), ...csv)).checks;
      expect(json.find(({ name }) => name === 'provenance')?.message).not.to.include('The date');
    });

    it('rejects a changed envelope', async () => {
      const { file, key } = await signed();
      const envelope = JSON.parse(readFileSync(`${file}.dsse.json`, 'utf8'));
      const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
      payload.predicate.result = 'PASSED';
      const changed = [
        { ...envelope, payload: Buffer.from(JSON.stringify(payload)).toString('base64') },
        { ...envelope, signatures: [] },
        { ...envelope, payloadType: 'text/plain' },
        { ...envelope, signatures: [{ ...envelope.signatures[0], sig: 'AAAA' }] },
      ];
      for (const one of changed) {
        writeFileSync(inFolder('changed.dsse.json'), JSON.stringify(one));
        const found = await verify(file, '--key', key, '--signature', inFolder('changed.dsse.json'));
        expect(failures(found)).to.have.keys(['signature']);
      }
    });

    it('is an envelope that other tools can read: DSSE, in-toto statement, Ed25519', async () => {
      const { file, key } = await signed();
      const { payload, payloadType, signatures } = JSON.parse(readFileSync(`${file}.dsse.json`, 'utf8'));
      const bytes = Buffer.from(payload, 'base64');
      // https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
      const signedBytes = Buffer.concat([
        Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `),
        bytes,
      ]);
      expect(verifyBytes(null, signedBytes, readFileSync(key, 'utf8'), Buffer.from(signatures[0].sig, 'base64'))).to.equal(true); // prettier-ignore
      const statement = JSON.parse(bytes.toString());
      expect([payloadType, statement._type]).to.deep.equal(['application/vnd.in-toto+json', 'https://in-toto.io/Statement/v1']); // prettier-ignore
      expect(statement.subject).to.deep.equal([{ name: 'report.json', digest: { sha256: sha256(readFileSync(file, 'utf8')) } }]); // prettier-ignore
      expect(statement.predicate.result).to.equal('FAILED');
    });

    it('rejects keys of other kinds, and a password that is missing', async () => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      writeFileSync(inFolder('rsa.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      await runCli(['keygen', '--out', inFolder('locked')], { env: { EVENHAND_KEY_PASSWORD: 'a password' } });
      await runCli(['keygen', '--out', inFolder('open')]);
      const { file } = await signed();
      const cases: [string[], RegExp][] = [
        [['--sign', inFolder('rsa.pem'), '--out', inFolder('x.json')], /It is a key for rsa, not for Ed25519/],
        [['--sign', inFolder('locked.pem'), '--out', inFolder('x.json')], /encrypted with another password/],
        [['--sign', inFolder('open.pem')], /--sign signs reports, but no report is written/],
      ];
      for (const [args, message] of cases) {
        const { code, stderr } = await runCli(['validate', '--csv', inFolder('rows.csv'), ...ARGS, ...args]);
        expect(stderr).to.match(message);
        expect(code).to.equal(2);
      }
      const shown = await runCli(['verify', file, '--key', inFolder('open.pem')]);
      expect([shown.code, shown.stderr]).to.satisfy(([code, text]: [number, string]) => code === 2 && text.includes('private key')); // prettier-ignore
      const again = await runCli(['keygen', '--out', inFolder('open')]);
      expect(again.stderr).to.contain('keys are never replaced');
    });
  });

  const UNREADABLE: readonly (readonly [string, string, RegExp])[] = [
    ['text', 'hello', /no manifest with statistics/],
    ['a result without a manifest', '{"passed":true,"metrics":{}}', /no manifest with statistics/],
    ['nothing', '', /no manifest with statistics/],
    ['a page of something else', '<!doctype html><p>x', /no manifest with statistics/],
  ];
  for (const [what, text, message] of UNREADABLE) {
    it(`says that ${what} is not a report`, async () => {
      writeFileSync(inFolder('odd'), text);
      const { code, stderr } = await runCli(['verify', inFolder('odd')]);
      expect(stderr.trimEnd()).to.match(message).and.not.to.contain('\n');
      expect(code).to.equal(2);
    });
  }
});
