import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import type { PipelineConfig, TrainingConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { requireLevel, requireRate } from '../../stats/parameters.ts';
import { unknownColumn } from '../../table/index.ts';
import type { DetectorData } from './detector-data.ts';
import type { DetectorSettings } from './detector.ts';

/** Proportions of groups, by attribute. */
type Benchmarks = PipelineConfig['benchmarks'];

/** The part of a pipeline's configuration that the detectors use. */
export interface DetectorConfig {
  /** The names of the sensitive attributes, at least one. Each attribute is analysed separately. */
  readonly sensitive: PipelineConfig['sensitive'];
  /**
   * Intersections of attributes that are also analysed.
   * @defaultValue none
   */
  readonly intersections?: PipelineConfig['intersections'] | undefined;
  /**
   * Expected proportions of groups, by attribute. An intersection is named by its columns, joined by `||`. If an
   * attribute has no expected proportions, its groups are counted but not tested.
   * @defaultValue none
   */
  readonly benchmarks?: Benchmarks | undefined;
  /**
   * The significance level, in (0, 1). A finding is flagged if its adjusted p-value is at most this level.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * A column counts as a proxy if its association with an attribute is at least this value, in [0, 1].
   * @defaultValue 0.3
   */
  readonly proxyThreshold?: number | undefined;
  /** The training section. The `target` of this section is not validated here. */
  readonly training?: Pick<TrainingConfig, 'targetColumn'> | undefined;
  /**
   * Texts that mean a missing value in a database. In rows in memory, `runPipeline` replaces these texts.
   * @defaultValue the usual texts, such as NA and null
   */
  readonly naValues?: PipelineConfig['naValues'];
}

/** The configuration in which every default has been filled in. */
export interface ParsedDetectorConfig extends DetectorSettings {
  /** The columns of each attribute and intersection. Each attribute and each intersection occurs once. */
  readonly attributes: readonly (readonly string[])[];
  readonly benchmarks: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly target: string | undefined;
}

/**
 * Fills in the defaults of the configuration, and checks it against the data.
 * @throws {ValueError} if a value is out of its range, or there is no attribute
 * @throws {DataValidationError} if there are no rows, or a column does not exist
 */
export function parseDetectorConfig(
  config: DetectorConfig,
  data: Pick<DetectorData, 'title' | 'columnNames' | 'rowCount'>,
): ParsedDetectorConfig {
  const crossed = (config.intersections ?? []).map((columns) => [...new Set(columns)]);
  const attributes = [...config.sensitive.map((name) => [name]), ...crossed];
  if (attributes.length === 0 || attributes.some(({ length }) => length === 0)) {
    throw invalidParameter('sensitive', 'name at least one column', JSON.stringify(config.sensitive));
  }
  const target = config.training?.targetColumn;
  for (const name of [...attributes.flat(), ...(target === undefined ? [] : [target])])
    if (!data.columnNames.includes(name)) throw unknownColumn(name, data.columnNames, data.title);
  if (data.rowCount === 0) {
    throw new DataValidationError('The data have no rows, so there is nothing to analyse.', {
      code: 'empty-data',
      context: { argument: 'data' },
      suggestion: 'Provide at least one row.',
    });
  }
  return {
    attributes: [...new Map(attributes.map((columns) => [JSON.stringify(columns), columns])).values()],
    benchmarks: parseBenchmarks(config.benchmarks ?? {}),
    alpha: requireLevel('alpha', config.alpha ?? 0.05),
    proxyThreshold: requireRate('proxyThreshold', config.proxyThreshold ?? 0.3),
    target,
  };
}

function parseBenchmarks(benchmarks: Benchmarks): Map<string, Map<string, number>> {
  return new Map(Object.entries(benchmarks).map(([attribute, shares]) => [attribute, parseShares(attribute, shares)]));
}

function parseShares(attribute: string, shares: Benchmarks[string]): Map<string, number> {
  const entries = Object.entries(shares);
  const parameter = `benchmarks.${attribute}`;
  for (const [group, share] of entries) requireRate(`${parameter}.${group}`, share);
  if (entries.some(([, share]) => share > 0)) return new Map(entries);
  throw invalidParameter(parameter, 'have a share above 0', JSON.stringify(shares));
}
