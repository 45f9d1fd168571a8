/** Words that vendors add to a device's name and that distinguish no devices. */
const FILLING = new Set(['nvidia', 'amd', 'intel', 'corporation', 'r', 'tm', 'graphics', 'gpu']);

/** Words that mark a different device: an "RTX 3080 Ti" is not an "RTX 3080". */
const VARIANTS = new Set(['ti', 'super', 'laptop', 'mobile', 'max', 'ada', 'pro', 'xt', 'd', 'q']);

/**
 * Returns whether two texts name the same device: one of them contains all words of the other, in any order, and the
 * words for variants are the same in both. An empty name matches no device.
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
