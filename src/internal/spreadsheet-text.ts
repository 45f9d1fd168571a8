/** What a spreadsheet takes for a formula: its first characters (OWASP, CSV injection), and something after them. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]./s;
const MARKED = /^'+[=+\-@\t\r\n＝＋－＠]./s;

/** No formula: a spreadsheet shows the number. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Returns a text as a cell that a spreadsheet shows and does not compute: one that begins with `=`, `+`, `-`, `@`, a tab
 * or a line end gets an apostrophe before it, unless it is a number. {@link unmarkCell} gives the text back.
 */
export function markCell(text: string): string {
  return (FORMULA.test(text) && !NUMBER.test(text)) || MARKED.test(text) ? `'${text}` : text;
}

/** Returns the text of a cell that {@link markCell} wrote; any other text as it is. */
export function unmarkCell(cell: string): string {
  return cell.startsWith("'") && MARKED.test(cell) ? cell.slice(1) : cell;
}
