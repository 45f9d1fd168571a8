/** Names that a sentence has room for. */
const MOST_NAMES = 8;

/** 'a', 'b' and 3 more. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `'${name}'`);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

/** "the group 'a'", or "the groups 'a', 'b' and 3 more". */
export function nameGroups(labels: readonly string[]): string {
  return `the group${labels.length === 1 ? '' : 's'} ${nameSome(labels)}`;
}
