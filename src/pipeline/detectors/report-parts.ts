import { formatCount } from '../../internal/format.ts';
import type { DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import type { Detector } from './detector.ts';
import { DETECTOR_NAMES, type DetectorName, DETECTORS } from './detectors.ts';
import { type ReportSection, reportTable } from './report-numbers.ts';

/** The text that a report without findings contains. The text does not claim that there are no differences. */
export const NO_FINDINGS =
  'No test found a difference at the requested level, and no column reaches the proxy threshold.';

/** Returns the facts about the analysis that a report lists at the top. */
export function factsOf(meta: DetectorReportMeta): string[] {
  return [
    `Rows: ${formatCount(meta.rows)}`,
    `Attributes: ${meta.attributes.join(', ')}`,
    ...(meta.target === null ? [] : [`Target, not tested: ${meta.target}`]),
    `Columns tested: ${String(meta.columnsTested.length)}`,
    `Significance level: ${String(meta.alpha)}; proxy threshold: ${String(meta.proxyThreshold)}`,
    `evenhand ${meta.version}`,
  ];
}

/** Returns the sections of a report: one section for each detector, then a section about what was not tested. */
export function sectionsOf({ meta, body }: DetectorReportFields): ReportSection[] {
  const sections = DETECTOR_NAMES.map((name: DetectorName) => (DETECTORS[name] as Detector).section(body[name], meta));
  const skipped = meta.skipped.map(({ column, attribute, reason }) => [
    column ?? 'every column',
    attribute ?? 'every attribute',
    reason,
  ]);
  const untested: ReportSection = {
    title: 'Not tested',
    intro: 'Columns that were not tested, in addition to the attributes and the target.',
    tables: [reportTable('Columns', ['column', 'attribute', 'reason'], skipped)],
  };
  return [...sections, ...(skipped.length > 0 ? [untested] : [])];
}
