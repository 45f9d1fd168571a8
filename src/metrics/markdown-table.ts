/** A Markdown table; bars in cells are escaped, columns padded so that the source reads as a table too. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')));
  const widths = header.map((_, column) => Math.max(3, ...escaped.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [head = [], ...body] = escaped;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n');
}
