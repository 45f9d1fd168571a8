import { expect } from 'chai';

import { type GateReport, gateReportToJunit, gateReportToSummary } from '../../src/document/gate-report.ts';
import { readJunit } from '../helpers/junit.ts';

const REPORT: GateReport = {
  command: 'evenhand validate',
  passed: false,
  settings: { '--csv': 'decisions.csv', '--metric': 'demographic_parity_difference<=0.1' },
  cases: [
    { attribute: 'sex', name: 'demographic_parity_difference <= 0.1', status: 'fail', message: 'FAIL: demographic_parity_difference 0.2000 > 0.1.' },
    { attribute: 'race', name: 'demographic_parity_difference <= 0.1', status: 'pass', message: 'PASS: demographic_parity_difference 0.0500 <= 0.1.' },
    { attribute: 'age', name: 'demographic_parity_difference <= 0.1', status: 'undefined', message: 'UNDEFINED: demographic_parity_difference has no value (no groups).' },
    { attribute: 'sex||race', name: 'no gate', status: null, message: 'No gate names this attribute.' },
  ],
}; // prettier-ignore

/** A label with markup, links, mentions, line breaks, control characters and an unpaired surrogate. */
const NASTY =
  'a]]>b<img src=x>|`c`\n[x](http://evil.example) www.evil.example @team \u0000\u0008\uFFFE\uD800\u202E\u{1F600}';

describe('a report of gates as JUnit XML', () => {
  it('has one test for each gate and attribute; only a pass passes', () => {
    const { counts, outcomes, output } = readJunit(gateReportToJunit(REPORT));
    expect(counts).to.include({ name: 'evenhand validate', tests: '4', failures: '1', errors: '1', skipped: '1' });
    expect(outcomes).to.deep.equal({
      'sex: demographic_parity_difference <= 0.1': 'failure',
      'race: demographic_parity_difference <= 0.1': 'pass',
      'age: demographic_parity_difference <= 0.1': 'error',
      'sex||race: no gate': 'skipped',
    });
    expect(output).to.include('--csv: decisions.csv\n').and.to.include('--metric: demographic_parity_difference<=0.1');
    expect(output).to.match(/evenhand \d+\.\d+\.\d+/);
  });

  it('has the message of a test that did not pass', () => {
    const xml = gateReportToJunit(REPORT);
    expect(xml).to.include('<failure message="FAIL: demographic_parity_difference 0.2000 &gt; 0.1."');
    expect(xml).to.include('<error message="UNDEFINED: demographic_parity_difference has no value (no groups)."');
  });

  it('follows the schema for any texts', () => {
    for (const status of ['pass', 'fail', 'undefined', null] as const) {
      const one = { attribute: NASTY, name: NASTY, status, message: NASTY, output: NASTY };
      const { outcomes } = readJunit(gateReportToJunit({ ...REPORT, settings: { [NASTY]: NASTY }, cases: [one] }));
      expect(Object.keys(outcomes)[0]).to.include('a]]>b<img src=x>|`c`').and.to.include('\u{1F600}');
    }
  });
});

describe('a report of gates as a step summary', () => {
  it('has the verdict, and a row for each gate and attribute', () => {
    const text = gateReportToSummary(REPORT);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines[0]).to.equal('### evenhand validate: FAIL');
    expect(text.replaceAll('\\', '')).to.include('1 of 3 gates passed.');
    expect(lines.filter((line) => line.startsWith('| **'))).to.have.length(0);
    expect(lines.filter((line) => /^\| (FAIL|PASS|UNDEFINED|none) \|/.test(line)).map((line) => line.split(' | ')[1]))
      .to.deep.equal(['sex', 'age', 'race', 'sex\\|\\|race']); // prettier-ignore
    expect(lines).to.include('| PASS | race | demographic\\_parity\\_difference \\<= 0.1 | demographic\\_parity\\_difference 0.0500 \\<= 0.1. |'); // prettier-ignore
  });

  it('never has a link, an image, markup or a mention, for any texts', () => {
    const cases = [{ attribute: NASTY, name: NASTY, status: 'fail' as const, message: NASTY }];
    const text = gateReportToSummary({ ...REPORT, cases });
    const row = text.split('\n').find((line) => line.startsWith('| FAIL')) ?? '';
    expect(row.match(/(?<!\\)\|/g)).to.have.length(5);
    expect(text).not.to.match(/:\/\/|www\.\w|@\w/);
    expect(text.replaceAll('<!-- -->', '')).not.to.match(/(?<!\\)[<`[]/);
    // eslint-disable-next-line no-control-regex
    expect(text).not.to.match(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text.split('\n').filter((line) => line.includes('evil'))).to.have.length(1);
  });

  it('stays below the size that GitHub accepts, and shows failures first', () => {
    const cases = Array.from({ length: 10_000 }, (_, index) => ({
      attribute: `a${String(index)}`.padEnd(500, 'x'),
      name: 'demographic_parity_difference <= 0.1',
      status: index === 9_999 ? ('fail' as const) : ('pass' as const),
      message: 'm'.repeat(500),
    }));
    const text = gateReportToSummary({ ...REPORT, cases });
    expect(Buffer.byteLength(text)).to.be.below(2 ** 19);
    expect(text).to.include('| FAIL').and.to.include('a9999');
    expect(text).to.match(/9,900 more/);
  });

  it('says UNDEFINED if that is the only reason to fail', () => {
    const cases = REPORT.cases.filter(({ status }) => status === 'undefined' || status === 'pass');
    expect(gateReportToSummary({ ...REPORT, cases })).to.match(/^### evenhand validate: UNDEFINED\n/m);
    const passed = REPORT.cases.filter(({ status }) => status === 'pass');
    expect(gateReportToSummary({ ...REPORT, passed: true, cases: passed })).to.match(/^### evenhand validate: PASS\n/m);
  });
});
