import { expect } from 'chai';

import { documentToHtml } from '../../src/document/document-to-html.ts';
import { documentToMarkdown } from '../../src/document/document-to-markdown.ts';
import type { ReportBlock, ReportDocument } from '../../src/document/report-document.ts';
import { cutItems, labelText, listed, plainText } from '../../src/document/report-text.ts';

const reportOf = (...blocks: ReportBlock[]): ReportDocument => ({
  title: 'T',
  subject: 'S',
  sections: [{ title: 'Part', blocks }],
  made: [],
});
const paragraph = (text: string): string =>
  documentToMarkdown(reportOf({ kind: 'paragraph', text }))
    .split('\n')
    .at(-2) ?? '';

describe('a report as Markdown', () => {
  // Texts that CommonMark and GitHub treat as markup, and texts that they do not.
  for (const [text, written] of [
    ['# title', '\\# title'],
    ['#tag', '#tag'],
    ['- item', '\\- item'],
    ['+ item', '\\+ item'],
    ['* item', '\\* item'],
    ['1. item', '1\\. item'],
    ['1) item', '1\\) item'],
    ['---', '\\---'],
    ['===', '\\==='],
    ['~~~', '\\~\\~\\~'],
    ['```', '\\`\\`\\`'],
    ['> quote', '\\> quote'],
    ['| cell |', '\\| cell \\|'],
    ['&lt;b&gt;', '\\&lt;b\\&gt;'],
    ['<!-- c -->', '\\<!-- c --\\>'],
    ['[a](b) ![c](d)', '\\[a\\](b) !\\[c\\](d)'],
    ['a_b*c*', 'a\\_b\\*c\\*'],
    ['back\\slash', 'back\\\\slash'],
    ['12.50%', '12.50%'],
    ['+10.00 points', '+10.00 points'],
    ['two\nlines\r\nand\u2028three', 'two lines and three'],
    ['turned \u202Eback\u0000', 'turned back'],
  ] as const) {
    it(`writes ${JSON.stringify(text)} as ${written}`, () => {
      expect(paragraph(text)).to.equal(written);
    });
  }

  it('omits sections without blocks, and charts', () => {
    const chart = (): never => {
      throw new Error('drawn');
    };
    const { sections, ...rest } = reportOf({ kind: 'picture', chart });
    expect(documentToMarkdown({ ...rest, sections: [{ title: 'Empty', blocks: [] }, ...sections] })).to.equal(
      '# T\n\nS\n\n## Part\n',
    );
  });

  it('keeps an empty cell empty', () => {
    const table: ReportBlock = {
      kind: 'table',
      caption: 'C',
      columns: [{ name: 'a' }, { name: '' }],
      rows: [['x', '']],
    };
    expect(documentToMarkdown(reportOf(table))).to.include('| x   |     |');
  });
});

describe('a report as HTML', () => {
  it('has headers for rows and columns of tables, and unique ids in each chart', async () => {
    const chart = () => ({ width: 1, height: 1, description: '', option: {} });
    const picture = (): ReportBlock => ({ kind: 'picture', chart });
    const html = await documentToHtml(
      reportOf(picture(), picture(), {
        kind: 'table',
        caption: 'C',
        columns: [{ name: 'a' }, { name: 'b', isNumber: true }],
        rows: [['="zr-0"', '1']],
      }),
      () => Promise.resolve('<svg><g id="zr-0"></g><g clip-path="url(#zr-0)"></g></svg>'),
    );
    expect(html).to.include('<g id="zr1-0"></g><g clip-path="url(#zr1-0)">');
    expect(html).to.include('<g id="zr2-0"></g><g clip-path="url(#zr2-0)">');
    expect(html).to.include('<th scope="row"><bdi>=&quot;zr-0&quot;</bdi></th><td class="number">1</td>');
  });
});

describe('texts of a report', () => {
  it('cut a long label and add its length', () => {
    expect(labelText('x'.repeat(300))).to.match(/^x{99}\u2026 \(300 characters\)$/);
    expect(labelText('short')).to.equal('short');
    expect(labelText(' ')).to.equal('(blank)');
    expect(plainText(' ')).to.equal('');
  });

  it('list names, and only the first of very many', () => {
    expect(listed([])).to.equal('none');
    expect(listed(['a'])).to.equal('a');
    expect(listed(['a', 'b', 'c'])).to.equal('a, b and c');
    expect(listed(Array.from({ length: 1015 }, () => 'a'))).to.match(/^(?:a, ){11}a and 1,003 more$/);
  });

  it('cut lists, and count the rest', () => {
    expect(cutItems(['a', 'b'], 2)).to.deep.equal(['a', 'b']);
    expect(cutItems(['a', 'b', 'c', 'd'], 2)).to.deep.equal(['a', 'b', '\u2026 and 2 more like these.']);
  });
});
