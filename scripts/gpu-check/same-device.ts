/** Words that makers put around a device's name, and that tell no two devices apart. */
const FILLING = new Set(['nvidia', 'amd', 'intel', 'corporation', 'r', 'tm', 'graphics', 'gpu']);

/** Words that make another device of a name: an "RTX 3080 Ti" is no "RTX 3080". */
const VARIANTS = new Set(['ti', 'super', 'laptop', 'mobile', 'max', 'ada', 'pro', 'xt', 'd', 'q']);

/**
 * Whether a name and a text tell of one device: all words of the one stand in the other, whatever their order, and the
 * words that tell variants apart stand in both. An empty name is no device's.
 */
export function isSameDevice(one: string, other: string): boolean {
  const [few, many] = [wordsOf(one), wordsOf(other)].toSorted((a, b) => a.size - b.size) as [Set<string>, Set<string>];
  if (few.size === 0) return false;
  return [...few].every((word) => many.has(word)) && [...many].every((word) => few.has(word) || !VARIANTS.has(word));
}

function wordsOf(name: string): Set<string> {
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return new Set(words.filter((word) => !FILLING.has(word)));
}
