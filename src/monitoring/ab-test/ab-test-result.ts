import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { toSnakeCase } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { abTestDocument } from './ab-test-document.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';

/** What comparing two arms found. Frozen, with the settings that made it. */
export class ABTestResult implements ABTestFields {
  readonly n!: ABTestFields['n'];
  readonly rows!: ABTestFields['rows'];
  readonly comparisons!: ABTestFields['comparisons'];
  readonly business!: ABTestFields['business'];
  readonly nTests!: ABTestFields['nTests'];
  readonly checks!: ABTestFields['checks'];
  readonly warnings!: ABTestFields['warnings'];
  readonly finding!: ABTestFields['finding'];
  readonly verdict!: ABTestFields['verdict'];
  readonly settings!: ABTestFields['settings'];

  constructor(fields: ABTestFields) {
    Object.assign(this, fields);
    Object.freeze(this);
  }

  /** The report as Markdown. */
  toMarkdown(): string {
    return documentToMarkdown(abTestDocument(this));
  }

  /** The report as an HTML page that stands alone, with pictures. */
  async toHtml(): Promise<string> {
    return documentToHtml(abTestDocument(this));
  }

  /** Everything, under names in snake_case; undefined numbers are null. */
  toJSON(): ABTestJson {
    return abTestToJson(this);
  }
}

/** A result as JSON: the fields of {@link ABTestFields} in snake_case, and the version that made it. */
export type ABTestJson = Readonly<Record<string, unknown>>;

/** A result as JSON; pairs stand apart from the comparisons that they belong to, in `rows` and `business_rows`. */
function abTestToJson(result: ABTestFields): ABTestJson {
  const { finding, verdict, n, warnings, rows, comparisons, business, nTests, checks, settings } = result;
  const fields = {
    finding,
    verdict,
    n,
    warnings,
    rows,
    comparisons: comparisons.map(withoutRows),
    businessRows: business.flatMap((comparison) => comparison.rows),
    business: business.map(withoutRows),
    nTests,
    checks,
    settings,
  };
  return { ...(withSnakeKeys(fields) as Record<string, unknown>), version: VERSION };
}

function withoutRows({ rows: _, ...others }: ABComparison): Omit<ABComparison, 'rows'> {
  return others;
}

/** Keys are the names of our own fields everywhere: labels from data are values, so none is changed. */
function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [toSnakeCase(key), withSnakeKeys(own)]));
}
