import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { toSnakeCase } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { abTestDocument } from './ab-test-document.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';

/** The result of comparing two arms. Frozen, with its settings. */
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

  /** Returns the report as Markdown. */
  toMarkdown(): string {
    return documentToMarkdown(abTestDocument(this));
  }

  /** Returns the report as a self-contained HTML page with charts. */
  async toHtml(): Promise<string> {
    return documentToHtml(abTestDocument(this));
  }

  /** Returns all fields with names in snake_case; undefined numbers are null. */
  toJSON(): ABTestJson {
    return abTestToJson(this);
  }
}

/** A result as JSON: the fields of {@link ABTestFields} in snake_case, and the version. */
export type ABTestJson = Readonly<Record<string, unknown>>;

/** Returns a result as JSON. Pairs are separate from their comparisons, in `rows` and `business_rows`. */
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

/** Converts all keys to snake_case. Keys are always field names and never labels from the data. */
function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [toSnakeCase(key), withSnakeKeys(own)]));
}
