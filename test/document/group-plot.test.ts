import { expect } from 'chai';
import fc from 'fast-check';

import { groupPlotText } from '../../src/document/group-plot.ts';
import { gateReportToSummary } from '../../src/document/gate-report.ts';
import { displayWidth } from '../../src/document/text-width.ts';

const BERKELEY = {
  title: 'Selection rate by gender',
  unit: 'share' as const,
  groups: [
    { label: 'female', n: 1835, value: 0.3, ci: [0.25, 0.35] as const },
    { label: 'male', n: 2691, value: 0.45, ci: null },
  ],
};

describe('a plot of groups with characters', () => {
  it('has the largest value at the top, and draws values and intervals at their positions on the axis', () => {
    // The axis goes from 0% to 45% in 40 steps: 0.25, 0.3, 0.35 and 0.45 are at steps 22.2, 26.7, 31.1 and 40.
    expect(groupPlotText(BERKELEY)).to.deep.equal([
      'Selection rate by gender',
      'From female to male: a gap of 15 percentage points',
      '',
      `male    n = 2,691  45.0%  ${' '.repeat(40)}┼`,
      `female  n = 1,835  30.0%  ${' '.repeat(22)}├────┼───┤`,
      `${' '.repeat(26)}0.0%${' '.repeat(32)}45.0%`,
    ]);
  });

  it('aligns wide characters, and shows no control characters and no line breaks of labels', () => {
    const groups = ['漢字', 'a\nb\u001b[31m', 'é'].map((label, n) => ({ label, n, value: n / 10, ci: null }));
    const lines = groupPlotText({ ...BERKELEY, groups });
    expect(lines).to.have.length(7);
    // eslint-disable-next-line no-control-regex
    expect(lines.join('')).not.to.match(/[\u0000-\u001f]/);
    const before = lines.slice(3, 6).map((line) => displayWidth(line.slice(0, line.indexOf('n = '))));
    expect(new Set(before).size).to.equal(1);
  });

  it('draws nothing without a finite value, and one line for equal values', () => {
    expect(groupPlotText({ ...BERKELEY, groups: [] })).to.deep.equal([]);
    expect(groupPlotText({ ...BERKELEY, groups: [{ label: 'a', n: 1, value: NaN, ci: null }] })).to.deep.equal([]);
    for (const value of [0, -5, 1e300]) {
      const groups = ['a', 'b'].map((label) => ({ label, n: 1, value, ci: null }));
      const bars = groupPlotText({ title: 'x', unit: 'number', groups }).filter((line) => line.includes('┼'));
      expect(bars, String(value)).to.have.length(2);
      expect(bars[0]?.slice(1)).to.equal(bars[1]?.slice(1));
    }
  });

  it('shows 20 groups at each end of many', () => {
    const groups = Array.from({ length: 100 }, (_, n) => ({ label: `g${String(n)}`, n, value: n, ci: null }));
    const lines = groupPlotText({ title: 'x', unit: 'number', groups });
    expect(lines.filter((line) => line.includes('┼'))).to.have.length(40);
    expect(lines.join('\n')).to.include('⋮ 60 more groups').and.to.include('g99').and.to.include('g0');
  });

  it('keeps values within their intervals and every line within the plot, for any numbers', () => {
    const number = fc.double({ noNaN: true, min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number, number), { minLength: 2, maxLength: 6 }), (rows) => {
        const groups = rows.map((ends, n) => {
          const [low = 0, value = 0, high = 0] = [...ends].sort((a, b) => a - b);
          return { label: `g${String(n)}`, n, value, ci: [low, high] as const };
        });
        const bars = groupPlotText({ title: 'x', unit: 'number', groups }).filter((line) => line.includes('┼'));
        expect(bars).to.have.length(groups.length);
        for (const bar of bars) expect(bar).to.match(/ {2}(?=.{1,41}$) *(?:├?─*┼─*┤?)$/u);
      }),
      {
        numRuns: 200,
        examples: [
          [
            [
              [0, 0, 0],
              [0, 0, 3e-323],
            ],
          ],
          [
            [
              [-3e-323, 0, 3e-323],
              [0, 0, 0],
            ],
          ],
        ],
      },
    );
  });
});

describe('the plots of a step summary', () => {
  const report = { command: 'evenhand validate', passed: true, cases: [], settings: {} };

  it('are in a block of code that no label can end', () => {
    const groups = ['```', '\n````\n<img src=x> @team', 'b'].map((label, n) => ({ label, n, value: n, ci: null }));
    const text = gateReportToSummary({ ...report, plots: [{ ...BERKELEY, groups }] });
    const lines = text.trimEnd().split('\n');
    const [open, close] = [lines.indexOf('`````text'), lines.length - 1];
    expect(open).to.be.above(0);
    expect(lines[close]).to.equal('`````');
    expect(lines.slice(open + 1, close).join('\n'))
      .to.include('```` <img src=x>')
      .and.not.to.include('`````');
  });

  it('are at most 12, and say how many more there are', () => {
    const text = gateReportToSummary({ ...report, plots: Array.from({ length: 15 }, () => BERKELEY) });
    expect(text.match(/Selection rate by gender/g)).to.have.length(12);
    expect(text).to.include('3 more plots are not shown.');
    expect(gateReportToSummary(report)).not.to.include('```');
  });
});
