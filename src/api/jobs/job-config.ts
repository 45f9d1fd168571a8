import { assertFewGroups } from '../../io/assert-few-groups.ts';
import { loadData } from '../../io/load-data.ts';
import { parseConfigText } from '../../pipeline/index.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-config.ts';
import type { Table } from '../../table/index.ts';
import { assertLoadable } from './assert-loadable.ts';
import { assertShortConfig, MOST_GROUPS } from './job-bounds.ts';

/**
 * The configuration of a form. The environment is the operator's, and names no profile for those who send forms.
 * @throws {ServiceProblem} 413 for one that is too long
 * @throws {ConfigValidationError} with all that is wrong in it
 */
export async function readJobConfig(text: string, profile: string | undefined): Promise<PipelineConfig> {
  assertShortConfig(text);
  return parseConfigText(text, 'config', { profile: profile ?? null });
}

/**
 * Loads the table of a form, where its attributes have few groups.
 * @throws {DataValidationError} for a table that is too large, or an attribute of too many groups
 */
export async function loadJobTable(path: string, { sensitive, intersections }: PipelineConfig): Promise<Table> {
  await assertLoadable(path);
  await assertFewGroups(path, [...sensitive.map((name) => [name]), ...intersections], MOST_GROUPS);
  return loadData(path, { labels: sensitive });
}
