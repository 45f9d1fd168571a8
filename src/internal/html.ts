/** Markup that is safe to put into a page: made by {@link markup}, or vouched for by {@link trusted}. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: markup, text to escape, numbers, nothing, or several of these. */
export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[];

/** Characters that markup may not hold, and halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFFFE\uFFFF]|\p{Surrogate}/gu;

/** Text from data as markup that shows it as it is, also inside a quoted attribute. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll(FORBIDDEN, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Markup from a template; whatever is put in and is not markup itself is escaped. */
export function markup(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.map((text, index) => text + render(parts[index])).join(''));
}

/** Markup from a source that escapes by itself. */
export function trusted(text: string): Html {
  return new Html(text);
}

function render(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(render).join('') : escapeHtml(String(part));
}
