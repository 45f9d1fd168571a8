import type { DetectorReportBody, DetectorReportFields, DetectorReportMeta } from './detector-report-fields.ts';
import { reportToMarkdown } from './report-markdown.ts';
import { toWire, type WireReport } from './report-wire.ts';

/** What the detectors found in data. Frozen. */
export class DetectorReport implements DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;

  constructor(meta: DetectorReportMeta, body: DetectorReportBody) {
    this.meta = freezeDeep(meta);
    this.body = freezeDeep(body);
    Object.freeze(this);
  }

  /** The report as the wire has it: snake_case; a number that is undefined or infinite is null, with its reason beside it. */
  toJSON(): WireReport {
    return { meta: toWire(this.meta), body: toWire(this.body) };
  }

  /** The report as Markdown: the findings in words, then a table for every detector. */
  toMarkdown(): string {
    return reportToMarkdown(this);
  }
}

function freezeDeep<T extends object>(value: T): T {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freezeDeep(part);
  }
  return Object.freeze(value);
}
