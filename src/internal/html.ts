/** Markup that is safe to insert into a page. Create it with {@link markup} or {@link trusted}. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template: markup, text to escape, a number, an empty value, or a list of such values. */
export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[];

/** Matches unpaired surrogates and other characters that markup must not contain. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFFFE\uFFFF]|\p{Surrogate}/gu;

/** Escapes text from data for use in markup, including quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll(FORBIDDEN, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Builds markup from a template. Values that are not markup are escaped. */
export function markup(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.map((text, index) => text + render(parts[index])).join(''));
}

/** Declares text as safe markup. Use this function only for text that is already escaped. */
export function trusted(text: string): Html {
  return new Html(text);
}

function render(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(render).join('') : escapeHtml(String(part));
}
