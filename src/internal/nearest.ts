import { distance } from 'fastest-levenshtein';

/** A name this close to a known one is a slip of a key; one further away may be an abbreviation. */
const TYPO_DISTANCE = 2;

/** The known names nearest to a mistyped one, best first, at most three, none too far to be meant. */
export function nearestNames(wrong: string, known: readonly string[]): string[] {
  const lower = wrong.toLowerCase();
  return known
    .map((name) => ({ name, distance: distance(lower, name.toLowerCase()) }))
    .filter((entry) => entry.distance <= mostDistance(wrong, entry.name))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((entry) => entry.name);
}

/**
 * Returns the known names that a mistyped one abbreviates (`diffBound` for
 * `differenceBound`), unless another is a typo away or none is; then the nearest.
 */
export function nearestOptions(wrong: string, known: readonly string[]): string[] {
  const near = nearestNames(wrong, known);
  const lower = wrong.toLowerCase();
  if (near.some((name) => distance(lower, name.toLowerCase()) <= TYPO_DISTANCE)) return near;
  const abbreviated = known.filter((name) => abbreviates(lower, name.toLowerCase()));
  return abbreviated.length > 0 ? abbreviated.slice(0, 3) : near;
}

function mostDistance(wrong: string, name: string): number {
  return Math.max(TYPO_DISTANCE, Math.ceil(0.4 * Math.max(wrong.length, name.length)));
}

/** Returns whether a text of three letters or more is a name with letters left out, but not its first. */
function abbreviates(text: string, name: string): boolean {
  if (text.length < 3 || text[0] !== name[0]) return false;
  let next = 0;
  for (const letter of name) if (letter === text[next]) next += 1;
  return next === text.length;
}

/** "Did you mean 'a' or 'b'?", or the list of what there is where nothing is near. */
export function suggestNames(
  wrong: string,
  known: readonly string[],
  what: string,
  near: readonly string[] = nearestNames(wrong, known),
): string {
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
