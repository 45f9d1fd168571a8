/**
 * Chooses which of the times held stay, where at most `most` may: the first, the
 * last, and those whose place in the order of arrival is a multiple of a step,
 * which doubles until they are few enough. Steps are counted among all times
 * that ever came, so that the whole past is left at even steps: dropping every
 * second of the times that are left, again and again, would leave nearly
 * nothing of it but the newest.
 * @param ordinals for each time held, how many came before it
 * @param count how many came in all
 * @param most at least 2
 * @returns places among the times held, ascending
 */
export function thinTimes(ordinals: ArrayLike<number>, count: number, most: number): readonly number[] {
  let kept = Array.from(ordinals, (_, place) => place);
  const last = kept.length - 1;
  for (let step = 2; kept.length > most && step < 2 * count; step *= 2) {
    kept = kept.filter((place) => place === 0 || place === last || (ordinals[place] as number) % step === 0);
  }
  // The time that came first can lie between the others.
  return kept.length > most ? [0, last] : kept;
}
