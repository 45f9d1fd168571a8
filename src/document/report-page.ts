import { type Html, markup, trusted } from '../internal/html.ts';
import { REPORT_STYLE } from './report-style.ts';

/** Nothing is loaded, run or sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The parts of a page. */
export interface ReportPage {
  /** What stands in the tab. */
  readonly title: string;
  readonly header: Html;
  readonly main: Html;
  readonly footer: Html;
}

/** A page that stands alone: nothing is loaded from elsewhere. */
export function reportPage({ title, header, main, footer }: ReportPage): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(REPORT_STYLE)}</style>
</head>
<body>
<header>
${header}
</header>
<main>
${main}
</main>
<footer>
${footer}
</footer>
</body>
</html>
`.text;
}
