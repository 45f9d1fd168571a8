import { distance } from 'fastest-levenshtein';

/** The known names nearest to a mistyped one, best first, at most three, none too far to be meant. */
export function nearestNames(wrong: string, known: readonly string[]): string[] {
  const lower = wrong.toLowerCase();
  return known
    .map((name) => ({ name, distance: distance(lower, name.toLowerCase()) }))
    .filter((entry) => entry.distance <= Math.max(2, Math.ceil(0.4 * Math.max(wrong.length, entry.name.length))))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((entry) => entry.name);
}

/** "Did you mean 'a' or 'b'?", or the list of what there is where nothing is near. */
export function suggestNames(wrong: string, known: readonly string[], what: string): string {
  const near = nearestNames(wrong, known);
  if (near.length > 0) return `Did you mean ${joinQuoted(near, 'or')}?`;
  const shown = known.slice(0, 12);
  const more = known.length > shown.length ? `, and ${String(known.length - shown.length)} more` : '';
  return `The ${what} are ${joinQuoted(shown, 'and')}${more}.`;
}

/** 'a', 'b' and 'c'. */
function joinQuoted(names: readonly string[], word: 'and' | 'or'): string {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1) ?? ''}`;
}
