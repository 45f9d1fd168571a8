import { stripVTControlCharacters } from 'node:util';

import { expect } from 'chai';
import fc from 'fast-check';

import { documentToText } from '../../src/document/document-to-text.ts';
import type { ReportBlock, ReportDocument, ReportTable, ReportVerdict } from '../../src/document/report-document.ts';

const PLAIN = { width: Infinity, colours: false };

function reportOf(...blocks: ReportBlock[]): ReportDocument {
  return { title: '', subject: '', sections: [{ title: '', blocks }], made: [] };
}

function tableOf(
  columns: ReportTable['columns'],
  rows: ReportTable['rows'],
  layout: { width: number; colours?: boolean } = { width: Infinity },
): string[] {
  const table: ReportBlock = { kind: 'table', caption: '', columns, rows };
  return documentToText(reportOf(table), { colours: false, ...layout })
    .trimEnd()
    .split('\n');
}

/**
 * The columns that each text takes, as the terminals tmux, xterm and GNOME Terminal show it: East Asian wide and
 * fullwidth characters (UAX 11) and emoji take two, combining marks and joiners none.
 */
const WIDTHS: readonly (readonly [text: string, columns: number])[] = [
  ['abc', 3],
  ['漢字', 4],
  ['한국어', 6],
  ['ｶﾅ', 2],
  ['Ａ', 2],
  ['e\u0301', 1],
  ['👩🏽', 2],
  ['👨‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['✔️', 2],
  ['שלום', 4],
  ['→', 1],
  ['…', 1],
];

describe('a report as text: tables', () => {
  for (const [text, columns] of WIDTHS) {
    it(`gives ${JSON.stringify(text)} ${String(columns)} columns`, () => {
      // The rule is as wide as the widest cell.
      expect(tableOf([{ name: '' }], [[text]])[1]).to.equal('─'.repeat(columns));
    });
  }

  it('aligns numbers right and text left, and ends no line with spaces', () => {
    expect(
      tableOf(
        [{ name: 'Group' }, { name: 'n', isNumber: true }, { name: 'Note' }],
        [
          ['東京', '1', 'x'],
          ['b', '1,000', ''],
        ],
      ),
    ).to.deep.equal(['Group      n  Note', '─────  ─────  ────', '東京       1  x', 'b      1,000']);
  });

  it('wraps the names of columns before it shortens a cell', () => {
    expect(
      tableOf([{ name: 'Group' }, { name: 'False positive rate', isNumber: true }], [['female', '0.1']], { width: 20 }),
    ).to.deep.equal([
      '           False',
      '        positive',
      'Group       rate',
      '──────  ────────',
      'female       0.1',
    ]);
  });

  it('shortens long text with an ellipsis before it leaves out a column', () => {
    const lines = tableOf(
      [{ name: 'Group' }, { name: 'Rate', isNumber: true }],
      [
        ['a'.repeat(80), '0.10'],
        ['b'.repeat(80), '0.20'],
      ],
      { width: 30 },
    );
    expect(lines.slice(2)).to.deep.equal([`${'a'.repeat(23)}…  0.10`, `${'b'.repeat(23)}…  0.20`]);
  });

  it('does not shorten two labels to the same text, but wraps them', () => {
    const lines = tableOf(
      [{ name: 'Group' }, { name: 'Rate', isNumber: true }],
      [
        [`${'a'.repeat(40)}1`, '0.10'],
        [`${'a'.repeat(40)}2`, '0.20'],
      ],
      { width: 30 },
    );
    expect(lines.slice(2)).to.deep.equal([
      `${'a'.repeat(24)}  0.10`,
      `${'a'.repeat(16)}1`,
      `${'a'.repeat(24)}  0.20`,
      `${'a'.repeat(16)}2`,
    ]);
  });

  it('leaves out columns from the right, but neither the first nor an essential one, and names them', () => {
    const names = ['Metric', 'Value', 'Interval', 'n', 'Seed', 'Verdict'];
    const columns = names.map((name) => ({ name, isEssential: name === 'Value' || name === 'Verdict' }));
    const row = ['selection rate', '0.123456789', '0.1 to 0.2', '1,000,000', '123,456,789', 'fail'].map((text) => text.padEnd(11, 'x')); // prettier-ignore
    const lines = tableOf(columns, [row], { width: 60 });
    expect(lines[0]?.trim().split(/\s+/)).to.deep.equal(['Metric', 'Value', 'Interval', 'Verdict']);
    expect(lines.at(-1)).to.equal('Columns left out at this width: n, Seed; --json shows all.');
  });

  it('has no column without a text, and names equal columns that are left out once', () => {
    expect(tableOf([{ name: 'a' }, { name: '' }, { name: 'b' }], [['1', '', '2']])).to.deep.equal([
      'a  b',
      '─  ─',
      '1  2',
    ]);
    const columns = ['Metric', 'Interval', 'Interval'].map((name) => ({ name, isNumber: true }));
    const lines = tableOf(columns, [columns.map(() => '1'.repeat(30))], { width: 40 });
    expect(lines.slice(-2)).to.deep.equal(['Columns left out at this width:', 'Interval; --json shows all.']);
  });

  it('cuts nothing without a terminal', () => {
    const cell = 'word '.repeat(60).trim();
    expect(tableOf([{ name: 'a' }, { name: 'b' }], [[cell, cell]]).at(-1)).to.equal(`${cell}  ${cell}`);
  });

  it('wraps the cells of a column of sentences', () => {
    expect(
      tableOf([{ name: 'a' }, { name: 'Reason', wraps: true }], [['x', 'one two three four five six']], { width: 24 }),
    ).to.deep.equal(['a  Reason', '─  ─────────────────────', 'x  one two three four', '   five six']);
  });

  it('is at most as wide as the terminal, whatever the labels', () => {
    const single = WIDTHS.filter(([text]) => Array.from(new Intl.Segmenter().segment(text)).length === 1);
    const columnsOf = (line: string): number =>
      single.reduce((rest, [text, columns]) => rest.replaceAll(text, '#'.repeat(columns)), line).length;
    const label = fc
      .array(fc.constantFrom(' ', 'a', 'z', ...single.map(([text]) => text)), { maxLength: 90 })
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(label, fc.float(), label), { maxLength: 6 }),
        fc.integer({ min: 40, max: 160 }),
        (cells, width) => {
          const columns = [
            { name: 'Group' },
            { name: 'Value', isNumber: true },
            { name: 'Finding', isEssential: true },
          ];
          const rows = cells.map(([group, value, finding]) => [group, value.toPrecision(4), finding]);
          for (const line of tableOf(columns, rows, { width })) expect(columnsOf(line), line).to.be.at.most(width);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('shows no header without columns, and the header without rows', () => {
    expect(tableOf([{ name: 'Group' }], [])).to.deep.equal(['Group', '─────']);
    expect(tableOf([], [])).to.deep.equal(['']);
  });
});

describe('a report as text', () => {
  it('starts with the verdict and its reasons', () => {
    const report: ReportDocument = {
      title: 'Title',
      subject: 'Subject',
      verdict: { kind: 'fail', title: 'FAIL at threshold 0.1', sentences: ['The gap is 0.2.'] },
      sections: [
        { title: 'Empty', blocks: [] },
        { title: 'Part', blocks: [{ kind: 'list', items: ['x'] }] },
      ],
      made: [['Seed', '42']],
    };
    expect(documentToText(report, PLAIN)).to.equal(
      'FAIL at threshold 0.1\n  The gap is 0.2.\n\nTitle\nSubject\n\nPart\n\n- x\n\nHow this was made\n\nSeed  42\n',
    );
  });

  it('wraps prose at the width, at most at 100, and indents the items of lists', () => {
    const block: ReportBlock = { kind: 'list', items: ['aaa bbb ccc', 'ddd'] };
    expect(documentToText(reportOf(block), { width: 9, colours: false })).to.equal('- aaa bbb\n  ccc\n- ddd\n');
    const words = Array.from({ length: 60 }, () => 'word').join(' ');
    for (const width of [Infinity, 160]) {
      const [first = ''] = documentToText(reportOf({ kind: 'paragraph', text: words }), { width, colours: false }).split('\n'); // prettier-ignore
      expect(first.length).to.equal(99);
    }
  });

  it('does not break a long word, so that a path can be copied', () => {
    const path = `/${'a'.repeat(70)}`;
    expect(documentToText(reportOf({ kind: 'paragraph', text: `see ${path} now` }), { width: 40, colours: false })).to.equal(`see\n${path}\nnow\n`); // prettier-ignore
  });

  it('shows commands unchanged', () => {
    const command = `evenhand ${'--option value '.repeat(20)}end`;
    expect(documentToText(reportOf({ kind: 'code', text: `${command}\nx` }), { width: 40, colours: false })).to.equal(`  ${command}\n  x\n`); // prettier-ignore
  });

  it('aligns facts, and omits charts', () => {
    const facts: ReportBlock = {
      kind: 'facts',
      facts: [
        { name: 'Rows', value: '10', remark: 'held out' },
        { name: 'Accuracy', value: '90%' },
      ],
    };
    const chart = (): never => {
      throw new Error('drawn');
    };
    expect(documentToText(reportOf(facts, { kind: 'picture', chart }), PLAIN)).to.equal('Rows      10 (held out)\nAccuracy  90%\n'); // prettier-ignore
  });

  it('shows pairs of answers as text', () => {
    const pairs: ReportBlock = {
      kind: 'pairs',
      pairs: [
        {
          title: 'nurse',
          sides: [
            { name: 'she', asked: [{ text: 'Is ', isMarked: false }, { text: 'she', isMarked: true }], said: 'Yes.\nShe is.' }, // prettier-ignore
            {
              name: 'he',
              asked: [
                { text: 'Is ', isMarked: false },
                { text: 'he', isMarked: true },
              ],
              said: '',
            },
          ],
        },
      ],
    };
    expect(documentToText(reportOf(pairs), PLAIN)).to.equal(
      'nurse\n\nPrompt (she): Is *she*\n  Yes.\n  She is.\n\nPrompt (he): Is *he*\n  (no text)\n',
    );
  });

  it('has no characters that control the terminal', () => {
    const hostile = 'a\u001b[2J\u202eb\rc\nd';
    const report: ReportDocument = {
      title: hostile,
      subject: hostile,
      verdict: { kind: 'none', title: hostile, sentences: [hostile] },
      sections: [
        {
          title: hostile,
          blocks: [
            { kind: 'heading', text: hostile },
            { kind: 'code', text: hostile },
            { kind: 'note', title: hostile, items: [hostile] },
            { kind: 'facts', facts: [{ name: hostile, value: hostile, remark: hostile }] },
            { kind: 'table', caption: hostile, columns: [{ name: hostile }], rows: [[hostile]] },
            { kind: 'pairs', pairs: [{ title: hostile, sides: [{ name: hostile, asked: [{ text: hostile, isMarked: true }], said: hostile }, { name: '', asked: [], said: '' }] }] }, // prettier-ignore
          ],
        },
      ],
      made: [[hostile, hostile]],
    };
    // eslint-disable-next-line no-control-regex -- these characters are intended
    expect(documentToText(report, PLAIN)).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
});

describe('a report as text: colours', () => {
  const codes: readonly (readonly [ReportVerdict['kind'], number])[] = [
    ['pass', 32],
    ['fail', 31],
    ['undefined', 33],
    ['none', 2],
  ];
  for (const [kind, code] of codes) {
    it(`shows the verdict '${kind}' with the ANSI code ${String(code)}`, () => {
      const report: ReportDocument = { ...reportOf(), verdict: { kind, title: 'V', sentences: [] } };
      const [line = ''] = documentToText(report, { width: 80, colours: true }).split('\n');
      expect(line)
        .to.include(`\u001b[${String(code)}m`)
        .and.include('V');
    });
  }

  it('change nothing but the colours', () => {
    const report: ReportDocument = {
      title: 'T',
      subject: 'S',
      verdict: { kind: 'pass', title: 'PASS', sentences: ['because'] },
      sections: [
        {
          title: 'Part',
          blocks: [
            { kind: 'heading', text: 'H' },
            { kind: 'note', title: 'N', items: ['i'] },
            { kind: 'table', caption: 'C', columns: [{ name: 'a' }, { name: 'b' }], rows: [['1', '2']] },
          ],
        },
      ],
      made: [['Seed', '1']],
    };
    for (const width of [40, 160]) {
      const coloured = documentToText(report, { width, colours: true });
      expect(coloured).to.include('\u001b[1m');
      expect(stripVTControlCharacters(coloured)).to.equal(documentToText(report, { width, colours: false }));
    }
  });
});
