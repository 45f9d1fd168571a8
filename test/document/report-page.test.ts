import { createHash } from 'node:crypto';

import { expect } from 'chai';

import { pageScript } from '../../src/document/page-script.ts';
import { reportPage } from '../../src/document/report-page.ts';
import { markup } from '../../src/internal/html.ts';

const parts = { title: 'T', header: markup`<h1>T</h1>`, main: markup`<p>M</p>`, footer: markup`<p>F</p>` };
const policyOf = (html: string) => /Security-Policy" content="([^"]*)"/.exec(html)?.[1]?.replaceAll('&#39;', "'");

describe('the page of a report', () => {
  it('allows no resources and no scripts', () => {
    const html = reportPage(parts);
    expect(policyOf(html)).to.equal(
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
    );
    expect(html).to.not.include('<script');
  });

  it('allows only its own scripts, by their hashes', () => {
    const scripts = ['const a = 1;', 'a + 1;\n'];
    const html = reportPage({ ...parts, scripts: scripts.map(pageScript) });
    const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(policyOf(html)).to.match(/^default-src 'none'; /);
    expect(policyOf(html)?.split('; ').at(-1)).to.equal(`script-src ${hashes.join(' ')}`);
    expect(html).to.include('</footer>\n<script>const a = 1;</script>\n<script>a + 1;\n</script>\n</body>');
  });

  it('has a skip link and additional styles only if they are given', () => {
    const html = reportPage({ ...parts, skipLink: markup`<a href="#x">Skip</a>\n`, style: '.own { color: red; }' });
    expect(html).to.include('<body>\n<a href="#x">Skip</a>\n<header>').and.to.include('.own { color: red; }</style>');
    expect(reportPage(parts)).to.include('<body>\n<header>');
  });
});
