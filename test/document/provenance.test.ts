import { execFileSync } from 'node:child_process';

import { expect } from 'chai';

import { documentToHtml } from '../../src/document/document-to-html.ts';
import { documentToMarkdown } from '../../src/document/document-to-markdown.ts';
import { type Provenance, provenanceLines, shellCommand } from '../../src/document/provenance.ts';
import type { ReportDocument } from '../../src/document/report-document.ts';

const provenance: Provenance = {
  date: new Date(Date.UTC(2026, 10, 23, 9, 5, 7)),
  command: "evenhand validate --csv 'my data.csv'",
  options: {},
  inputs: [
    { path: 'my data.csv', bytes: 12_345, sha256: 'ab'.repeat(32) },
    { path: '-', bytes: null, sha256: null },
  ],
  rows: 3000,
};
const report: ReportDocument = { title: 'T', subject: 'S', sections: [], made: [['evenhand', '1']], provenance };

describe('provenance', () => {
  it('has the date in UTC, the rows and the SHA-256 of each file', () => {
    expect(provenanceLines(provenance)).to.deep.equal([
      ['Date', '2026-11-23 09:05:07 UTC'],
      ['SHA-256 of my data.csv', `${'ab'.repeat(32)} (12,345 bytes)`],
      ['SHA-256 of -', 'none: it is not a regular file'],
      ['Rows read', '3,000'],
    ]);
  });

  it('is at the end of a report, with the command as a block that can be copied', async () => {
    const markdown = documentToMarkdown(report);
    expect(markdown).to.include('- Date: 2026-11-23 09:05:07 UTC');
    expect(markdown).to.match(/\n```sh\nevenhand validate --csv 'my data\.csv'\n```\n$/);
    const html = await documentToHtml(report);
    expect(html).to.include('<pre class="command"><code>evenhand validate --csv &#39;my data.csv&#39;</code></pre>');
    expect(html).to.include('reproduce this page byte for byte, except for the date.');
  });

  it('is absent if it is not known, and then the page is reproduced byte for byte', async () => {
    const { provenance: _, ...rest } = report;
    expect(documentToMarkdown(rest)).to.match(/## How this was made\n\n- evenhand: 1\n$/);
    expect(await documentToHtml(rest)).to.include('reproduce this page byte for byte.');
  });
});

describe('a shell command', () => {
  it('is written plainly if no argument needs quotes', () => {
    expect(shellCommand(['validate', '--csv', 'a/b-c_1.csv', '--sensitive', 'sex,race'])).to.equal(
      'evenhand validate --csv a/b-c_1.csv --sensitive sex,race',
    );
  });

  for (const text of [
    '',
    'two words',
    "it's",
    '"$HOME" `id` $(id) ! * ? [a] {b} ~ # & ; | < > ( ) \\',
    'demographic_parity_difference<=0.1',
    '~',
    'Größe 年齢 😀',
    'line\nbreak\ttab \u001b[31m',
    'right-to-left \u202E mark',
    '-dash=',
  ]) {
    it(`gives bash back ${JSON.stringify(text)}, on one printable line`, () => {
      const command = shellCommand(['x', text]);
      expect(command).to.not.match(/[\p{Cc}\p{Cf}]/u);
      const output = execFileSync('bash', ['-c', `evenhand() { printf '%s' "$2"; }; ${command}`]);
      expect(output.toString()).to.equal(text);
    });
  }
});
