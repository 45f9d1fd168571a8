import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { CARD_FILE, MODEL_KIND, SWEEP_KIND } from './model-card.ts';

/**
 * Whether a folder is empty, or was written by `saveModel` and holds nothing
 * else: only then may it be replaced.
 */
export function holdsOnlyModel(folder: string): boolean {
  return holdsOnly(folder, MODEL_KIND, 'files');
}

/**
 * Whether a folder is empty, or holds the networks of a sweep and nothing else:
 * only then may it be replaced.
 */
export function holdsOnlyNetworks(folder: string): boolean {
  return holdsOnly(folder, SWEEP_KIND, 'networks');
}

/** Whether a folder has a card of a kind, and nothing beside what that card lists. */
function holdsOnly(folder: string, kind: string, list: string): boolean {
  try {
    const names = readdirSync(folder);
    if (names.length === 0) return true;
    const card = JSON.parse(decodeUtf8(readFileSync(path.join(folder, CARD_FILE)), 'The card')) as Record<
      string,
      unknown
    >;
    const listed = card[list];
    const expected: unknown[] = [CARD_FILE].concat(Array.isArray(listed) ? listed : []);
    return card['kind'] === kind && names.every((name) => expected.includes(name));
  } catch {
    return false;
  }
}
