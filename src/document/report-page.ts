import { createHash } from 'node:crypto';

import { type Html, markup, trusted } from '../internal/html.ts';
import { REPORT_STYLE } from './report-style.ts';

/** Nothing is loaded or sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The parts of a page. */
export interface ReportPage {
  /** What stands in the tab. */
  readonly title: string;
  readonly header: Html;
  readonly main: Html;
  readonly footer: Html;
  /** First of all on the page: a way past what repeats. */
  readonly skipLink?: Html | undefined;
  /** Rules after those of every report. */
  readonly style?: string | undefined;
  /**
   * JavaScript at the end of the page, each text without what could end its element. These may run, let through by
   * their hashes, and nothing else may.
   * @defaultValue none: nothing runs
   */
  readonly scripts?: readonly string[] | undefined;
}

/** A page that stands alone: nothing is loaded from elsewhere. */
export function reportPage(page: ReportPage): string {
  const { title, header, main, footer, skipLink, style = '', scripts = [] } = page;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(REPORT_STYLE + style)}</style>
</head>
<body>
${skipLink}<header>
${header}
</header>
<main>
${main}
</main>
<footer>
${footer}
</footer>
${scripts.map((script) => markup`<script>${trusted(script)}</script>\n`)}</body>
</html>
`.text;
}

function policyOf(scripts: readonly string[]): string {
  if (scripts.length === 0) return POLICY;
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return `${POLICY}; script-src ${hashes.join(' ')}`;
}
