import { manifestOf, type Provenance, type ReportManifest } from '../document/provenance.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { isMapping } from '../internal/values.ts';
import { checksumOf } from '../io/checksum.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import { statsFromJson, type StatsJson, statsToJson } from '../metrics/statistics/stats-json.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import type { AttributeStatistics, FileValidation, KindStatistics } from './measure-attributes.ts';

/** The statistics of one attribute as JSON. */
interface AttributeStatsJson {
  readonly stats: StatsJson;
  readonly readings?: GroupStats['readings'];
  readonly classes?: readonly {
    readonly class_name: string;
    readonly is_predicted: boolean;
    readonly stats: StatsJson;
  }[];
  readonly crossed?: {
    readonly stats: StatsJson;
    readonly cells: NonNullable<AttributeStatistics['crossed']>['cells'];
  };
}

/** The statistics of a report as JSON, by kind and in the order of the attributes. */
export type StatisticsJson = readonly {
  readonly kind: GroupStats['kind'];
  readonly attributes: readonly AttributeStatsJson[];
}[];

/** SHA-256 checksums of the parts of a report, in hexadecimal digits. */
export interface EvidenceChecksums {
  /** Of the results: everything outside the manifest. */
  readonly results: string;
  /** Of the statistics. It does not depend on the order of rows or on the format of the files. */
  readonly statistics: string;
  /** Of the manifest with the two other checksums. */
  readonly manifest: string;
}

/** A manifest from which the results can be computed again. */
export interface EvidenceManifest extends ReportManifest {
  /** All options of the validation, with its gates. */
  readonly request: ValidateRequest;
  /** null if there are more than {@link MAX_NUMBERS} numbers; the results can then only be checked with the data. */
  readonly statistics: StatisticsJson | null;
  readonly sha256: EvidenceChecksums;
}

const PROVENANCE_NAMES: OptionNames<Provenance> = {
  date: true,
  command: true,
  options: true,
  inputs: true,
  rows: true,
  varies: true,
};

/** The largest number of numbers of statistics in a report. */
const MAX_NUMBERS = 200_000;

/**
 * Creates the manifest of a report: the version, the command and its options, the checksums of the input files, and the
 * statistics of the groups, from which `verifyReport` computes all results again.
 * @param results the results of the report, as `validationToJson` returns them
 * @returns a manifest without statistics and checksums if the validation does not hold what it was computed from
 */
export function createManifest(
  validation: FileValidation,
  results: object,
  provenance: Provenance,
): ReportManifest | EvidenceManifest {
  assertKnownOptions('createManifest', provenance, PROVENANCE_NAMES);
  const { counted } = validation;
  const manifest = manifestOf(provenance);
  if (counted === undefined) return manifest;
  const statistics = statisticsToJson(counted.statistics);
  const own = { ...manifest, request: counted.request, statistics: limitedStatistics(statistics) };
  const parts = { results: resultsChecksum(results), statistics: contentHash(statistics) };
  return { ...own, sha256: { ...parts, manifest: manifestChecksum(own, parts) } };
}

/** Returns the statistics; null if they are too many for a report. */
export function limitedStatistics(statistics: StatisticsJson): StatisticsJson | null {
  return countNumbers(statistics) > MAX_NUMBERS ? null : statistics;
}

/** Returns the SHA-256 of the results of a report. */
export function resultsChecksum(results: object): string {
  return checksumOf(canonicalJson(results));
}

/** Returns the SHA-256 of a manifest without its statistics, which have their own checksum. */
export function manifestChecksum(manifest: object, parts: Omit<EvidenceChecksums, 'manifest'>): string {
  return checksumOf(canonicalJson({ ...manifest, statistics: null, sha256: parts }));
}

/** Returns statistics as JSON. */
export function statisticsToJson(statistics: readonly KindStatistics[]): StatisticsJson {
  return statistics.map(([kind, attributes]) => ({
    kind,
    attributes: attributes.map(({ stats, classes, crossed }) => ({
      ...(classes === undefined
        ? { stats: statsToJson(stats) }
        : {
            stats: {},
            classes: classes.map(({ className = '', isPredicted, stats: own }) => ({
              class_name: className,
              is_predicted: isPredicted,
              stats: statsToJson(own),
            })),
          }),
      ...((stats.readings ?? []).length === 0 ? {} : { readings: stats.readings }),
      ...(crossed === undefined ? {} : { crossed: { stats: statsToJson(crossed.stats), cells: crossed.cells } }),
    })),
  }));
}

/**
 * Reads statistics from JSON.
 * @throws {DataValidationError} if a field is missing or has the wrong size
 */
export function statisticsFromJson(json: StatisticsJson): KindStatistics[] {
  return json.map(({ kind, attributes }): KindStatistics => [
    kind,
    attributes.map(({ stats, readings = [], classes, crossed }): AttributeStatistics => {
      const read = classes?.map(({ class_name: className, is_predicted: isPredicted, stats: own }) => ({
        ...{ className, isPredicted },
        stats: { ...statsFromJson(own), readings },
      }));
      return {
        ...(read === undefined
          ? { stats: { ...statsFromJson(stats), readings } }
          : { stats: (read[0] as (typeof read)[number]).stats, classes: read }),
        crossed: crossed && { stats: statsFromJson(crossed.stats), cells: crossed.cells },
      };
    }),
  ]);
}

/** The significant digits of numbers in a content hash: sums of fractions depend on their order in further digits. */
const CONTENT_DIGITS = 12;

/** Returns the SHA-256 of statistics. Names of clusters are not part of it, because they are numbered by row. */
export function contentHash(statistics: StatisticsJson): string {
  return checksumOf(
    canonicalJson(statistics, (name, value) => {
      if (name === 'entries') return undefined;
      return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(CONTENT_DIGITS)) : value;
    }),
  );
}

/**
 * Returns JSON with sorted names and without spaces (RFC 8785). The same value has the same text in every version of Node,
 * and on every machine.
 */
function canonicalJson(value: unknown, replace: (name: string, value: unknown) => unknown = (_, own) => own): string {
  return JSON.stringify(value, (name, given: unknown) => {
    const own = replace(name, given);
    if (!isMapping(own)) return own;
    return Object.fromEntries(Object.entries(own).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  });
}

function countNumbers(value: unknown): number {
  if (Array.isArray(value)) {
    return typeof value[0] === 'number' ? value.length : value.reduce((sum: number, own) => sum + countNumbers(own), 0);
  }
  return isMapping(value) ? Object.values(value).reduce((sum: number, own) => sum + countNumbers(own), 0) : 0;
}
