import { type SnakeFields, snakeFields } from '../../internal/arguments.ts';
import type { Subgroup, SubgroupSearch, SubgroupStep } from './find-subgroups.ts';

/** A reported subgroup in JSON. The keys of `columns` are names of columns. */
export interface SubgroupJson extends Omit<SnakeFields<Subgroup>, 'path'> {
  readonly path: readonly SnakeFields<SubgroupStep>[];
}

/** The result of `findSubgroups` in JSON. */
export interface SubgroupsJson extends Omit<SnakeFields<SubgroupSearch>, 'subgroups' | 'left_out'> {
  readonly subgroups: readonly SubgroupJson[];
  readonly left_out: readonly { readonly label: string; readonly explained_by: string }[];
}

/**
 * Converts the result of `findSubgroups` to JSON with keys in snake case.
 * @example
 * ```ts
 * import { findSubgroups, subgroupsToJson } from 'evenhand/metrics';
 *
 * const rows = Array.from({ length: 400 }, (_, row) => ({ site: row % 2 === 0 ? 'a' : 'b', hired: row % 2 }));
 * const { subgroups, searched } = subgroupsToJson(await findSubgroups(rows, { columns: ['site'], yPred: 'hired' }));
 * console.log(searched, subgroups[0]?.columns, subgroups[0]?.difference);
 * // 2 { site: 'a' } -1
 * ```
 */
export function subgroupsToJson({ subgroups, leftOut, ...search }: SubgroupSearch): SubgroupsJson {
  return {
    subgroups: subgroups.map(({ path, ...own }) => ({ ...snakeFields(own), path: path.map(snakeFields) })),
    ...snakeFields(search),
    left_out: leftOut.map(snakeFields),
  };
}
