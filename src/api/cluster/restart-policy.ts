/** What follows the end of a worker. */
export type AfterDeath = { readonly kind: 'replace'; readonly pauseMillis: number } | { readonly kind: 'give-up' };

/** A worker that lived less died quickly: it will hardly do better the next time. */
const QUICK_MILLIS = 5_000;

/** So many quick deaths in a row are enough. */
export const MOST_QUICK_DEATHS = 10;

const FIRST_PAUSE_MILLIS = 100;
const LONGEST_PAUSE_MILLIS = 2_000;

/**
 * Decides what follows when a worker ends: another at once, or, where workers end as soon as they begin, after a pause that
 * doubles from 0.1 s up to 2 s, and after ten of these in a row nothing any more.
 * @returns a function of how long the worker lived, in milliseconds
 */
export function createRestartPolicy(): (livedMillis: number) => AfterDeath {
  let quickDeaths = 0;
  return (livedMillis) => {
    quickDeaths = livedMillis < QUICK_MILLIS ? quickDeaths + 1 : 0;
    if (quickDeaths >= MOST_QUICK_DEATHS) return { kind: 'give-up' };
    if (quickDeaths <= 1) return { kind: 'replace', pauseMillis: 0 };
    return {
      kind: 'replace',
      pauseMillis: Math.min(FIRST_PAUSE_MILLIS * 2 ** (quickDeaths - 2), LONGEST_PAUSE_MILLIS),
    };
  };
}
