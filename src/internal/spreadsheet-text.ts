/**
 * Matches a text that a spreadsheet treats as a formula because of the text's first character (OWASP, CSV injection).
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]./s;
const MARKED = /^'+[=+\-@\t\r\n＝＋－＠]./s;

/** Matches a number, which a spreadsheet shows unchanged. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Adds an apostrophe to a text that a spreadsheet would run as a formula, so that the spreadsheet displays the text. A
 * text that starts with `=`, `+`, `-`, `@`, a tab or a line break gets a leading apostrophe, unless it is a number.
 * {@link unmarkCell} returns the original text.
 */
export function markCell(text: string): string {
  return (FORMULA.test(text) && !NUMBER.test(text)) || MARKED.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe that {@link markCell} added to a cell; returns any other text unchanged. */
export function unmarkCell(cell: string): string {
  return cell.startsWith("'") && MARKED.test(cell) ? cell.slice(1) : cell;
}
