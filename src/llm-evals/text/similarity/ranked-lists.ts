import type { OptionNames } from '../../../internal/known-options.ts';
import { oneOf } from '../../../internal/one-of.ts';

const SCALES = ['published', 'unit'] as const;

/** How a similarity of ranked lists is scaled: as published, where equal lists stay below 1, or so that they give 1. */
export type RankScale = (typeof SCALES)[number];

/** What a similarity of ranked lists may be told. */
export interface RankSimilarityOptions {
  /**
   * `published` gives the numbers of LangFair; `unit` makes equal lists 1.
   * @defaultValue `'published'`
   */
  readonly scale?: RankScale;
}

/** Lists the options of {@link RankSimilarityOptions}. */
export const RANK_SIMILARITY_OPTION_NAMES: OptionNames<RankSimilarityOptions> = { scale: true };

/** @throws {ValueError} for an unknown scale */
export function resolveScale({ scale }: RankSimilarityOptions): RankScale {
  return oneOf('scale', scale ?? 'published', SCALES);
}

/** The rank of every item, from 0; a repeated item has its first one. */
export function ranksOf(list: readonly string[]): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const item of list) if (!ranks.has(item)) ranks.set(item, ranks.size);
  return ranks;
}
