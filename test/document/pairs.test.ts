import { expect } from 'chai';

import { documentToHtml } from '../../src/document/document-to-html.ts';
import { documentToMarkdown } from '../../src/document/document-to-markdown.ts';
import type { MarkedText, ReportDocument } from '../../src/document/report-document.ts';
import { cutAnswer, SHOWN_LETTERS, shownText } from '../../src/document/report-text.ts';
import { unbalancedTags } from '../integration/workflow-report/report-checks.ts';

const plain = (text: string): MarkedText[] => [{ text, isMarked: false }];

function reportOf(said: string, asked: MarkedText[] = plain('Q')): ReportDocument {
  const side = { name: 'a', asked, said };
  const pairs = [{ title: 'item', sides: [side, { ...side, name: 'b' }] as const }];
  return { title: 'T', subject: 'S', sections: [{ title: 'Part', blocks: [{ kind: 'pairs', pairs }] }], made: [] };
}

/** Returns the lines between the first fence and its end. */
function firstFence(markdown: string): { fence: string; lines: string[] } {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => /^`{3,}text$/.test(line));
  const fence = (lines[start] ?? '').replace('text', '');
  const end = lines.indexOf(fence, start + 1);
  return { fence, lines: lines.slice(start + 1, end) };
}

const HOSTILE = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '![tracking](https://evil.example/x.png) [click](javascript:alert(1))',
  'https://evil.example www.evil.example mail@evil.example',
  '```\n# out of the fence\n```\n````\n<b>bold</b>',
  '</blockquote></div></main><h1>PASS</h1>',
  '| a | b |\n| - | - |\n| c | d |',
  '&lt;b&gt; &#60;script&#62;',
];

describe('answers side by side', () => {
  for (const said of HOSTILE) {
    it(`shows ${JSON.stringify(said).slice(0, 50)} as text in HTML`, async () => {
      const html = await documentToHtml(reportOf(said));
      const body = html.slice(html.indexOf('<body>'));
      expect(body).not.to.match(/<(?:script|img|a|b|h1 )\b(?!ody)/);
      expect(body.match(/<h1>/g)).to.have.length(1);
      expect(unbalancedTags(html)).to.deep.equal([]);
    });

    it(`keeps it inside its fence in Markdown`, () => {
      const { fence, lines } = firstFence(documentToMarkdown(reportOf(said)));
      expect(lines.join('\n')).to.equal(said);
      for (const [run] of said.matchAll(/`+/g)) expect(fence.length).to.be.above(run.length);
    });
  }

  it('replaces control, direction and invisible characters, and keeps line breaks, tabs and joiners', () => {
    const steering = '\u0000 \u0007 \u001b[31m \u0085 \u202E \u2066 \u200B \u2060 \uFEFF \u{E0041} \u2028 \uD800';
    expect(shownText(steering)).to.equal(
      '\uFFFD \uFFFD \uFFFD[31m \uFFFD \uFFFD \uFFFD \uFFFD \uFFFD \uFFFD \uFFFD \uFFFD \uFFFD',
    );
    const kept = 'one\ntwo\tthree \u{1F469}\u200D\u{1F680} \u{1F1EB}\u{1F1F7} \u0645\u06CC\u200C\u062E e\u0301';
    expect(shownText(kept)).to.equal(kept);
    expect(shownText('a\r\nb\rc')).to.equal('a\nb\nc');
    expect(shownText(`z${'\u0300'.repeat(50)}`)).to.equal(`z${'\u0300'.repeat(4)}\uFFFD`);
  });

  it('cuts a long answer with an ellipsis, between characters', () => {
    const long = 'x'.repeat(SHOWN_LETTERS - 1) + '\u{1F600}'.repeat(400);
    expect(cutAnswer(long)).to.equal(`${'x'.repeat(SHOWN_LETTERS - 1)} \u2026`);
    expect(cutAnswer('x'.repeat(SHOWN_LETTERS))).to.equal('x'.repeat(SHOWN_LETTERS));
    expect(cutAnswer(' \n\t ')).to.equal('(no text)');
    expect(cutAnswer('')).to.equal('(no text)');
  });

  it('wraps long lines of Markdown at spaces, and longer words anywhere', () => {
    const { lines } = firstFence(documentToMarkdown(reportOf(`${'word '.repeat(40)}${'x'.repeat(250)}`)));
    for (const line of lines) expect(line.length).to.be.at.most(100);
    expect(lines.join(' ').replaceAll(/ /g, '')).to.equal(`${'word'.repeat(40)}${'x'.repeat(250)}`);
  });

  it('marks words, without spaces inside the marks in Markdown, and does not turn addresses into links', async () => {
    const asked: MarkedText[] = [
      { text: 'See https://x.example or www.x.example, ', isMarked: false },
      { text: 'she ', isMarked: true },
      { text: 'said *that*.\n', isMarked: false },
    ];
    const markdown = documentToMarkdown(reportOf('A', asked));
    expect(markdown).to.include('> See https\\://x.example or www\\.x.example, **she** said \\*that\\*.\n');
    expect(await documentToHtml(reportOf('A', asked))).to.include('<mark>she </mark>said *that*.');
  });

  it('shortens a long prompt between its marks, so that differences are always visible', async () => {
    const asked: MarkedText[] = [
      { text: 'a'.repeat(1000), isMarked: false },
      { text: 'her', isMarked: true },
      { text: 'b'.repeat(1000), isMarked: false },
      { text: 'hers', isMarked: true },
      { text: 'c'.repeat(1000), isMarked: false },
    ];
    expect(await documentToHtml(reportOf('A', asked))).to.include(
      `\u2026 ${'a'.repeat(240)}<mark>her</mark>${'b'.repeat(120)} \u2026 ${'b'.repeat(120)}<mark>hers</mark>${'c'.repeat(240)} \u2026`,
    );
  });
});
