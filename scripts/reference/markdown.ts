/** Returns text on one line that Markdown shows unchanged. Code spans stay code. */
export function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]+`)/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll(/[\\*<[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\$&`),
    )
    .join('');
}

/** Returns a code span. */
export function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** Returns a table whose cells are Markdown; nothing if there are no rows. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  // A pipe ends a cell even inside a code span.
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line), ''];
}

/** Returns a page: its lines, without repeated blank lines. */
export function page(lines: readonly string[]): string {
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** Returns the anchor that GitHub gives to a title. */
export function anchor(title: string): string {
  return `#${title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')}`;
}
