import { formatCount } from '../../internal/format.ts';
import type { DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import type { Detector } from './detector.ts';
import { DETECTOR_NAMES, type DetectorName, DETECTORS } from './detectors.ts';
import { type ReportSection, reportTable } from './report-numbers.ts';

/** What a report without findings says; it is no claim that there is nothing to find. */
export const NO_FINDINGS = 'No test differed at the level asked for, and no column reaches the threshold of proxies.';

/** The facts at the head of a report. */
export function factsOf({
  version,
  rows,
  attributes,
  target,
  alpha,
  proxyThreshold,
  columnsTested,
}: DetectorReportMeta): string[] {
  return [
    `Rows: ${formatCount(rows)}`,
    `Attributes: ${attributes.join(', ')}`,
    ...(target === null ? [] : [`Target, not tested: ${target}`]),
    `Columns tested: ${String(columnsTested.length)}`,
    `Level of tests: ${String(alpha)}; threshold of proxies: ${String(proxyThreshold)}`,
    `evenhand ${version}`,
  ];
}

/** The sections of a report, one for each detector that found something to show, then what was not tested. */
export function sectionsOf({ meta, body }: DetectorReportFields): ReportSection[] {
  const sections = DETECTOR_NAMES.map((name: DetectorName) => (DETECTORS[name] as Detector).section(body[name], meta));
  const skipped = meta.skipped.map(({ column, attribute, reason }) => [
    column ?? 'every column',
    attribute ?? 'every attribute',
    reason,
  ]);
  const untested: ReportSection = {
    title: 'Not tested',
    intro: 'Besides the attributes themselves and the target.',
    tables: [reportTable('Columns', ['column', 'attribute', 'reason'], skipped)],
  };
  return [...sections, ...(skipped.length > 0 ? [untested] : [])];
}
