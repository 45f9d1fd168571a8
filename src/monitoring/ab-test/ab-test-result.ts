import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { toSnakeCaseJson } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { abTestDocument } from './ab-test-document.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';

/** The result of comparing two arms, with the settings used. Frozen. */
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

  /** Returns all fields with names in snake_case. Undefined numbers are null. */
  toJSON(): ABTestJson {
    return abTestToJson(this);
  }
}

/** The JSON form of a result: the fields of {@link ABTestFields} in snake_case, and the version. */
export type ABTestJson = Readonly<Record<string, unknown>>;

/** Returns the JSON form of a result. The pairs of all comparisons are in `rows` and `business_rows`. */
function abTestToJson(result: ABTestFields): ABTestJson {
  const { finding, verdict, n, warnings, rows, comparisons, business, ...rest } = result;
  const businessRows = business.flatMap((comparison) => comparison.rows);
  const separate = { comparisons: comparisons.map(withoutRows), businessRows, business: business.map(withoutRows) };
  const fields = { finding, verdict, n, warnings, rows, ...separate, ...rest, version: VERSION };
  return toSnakeCaseJson(fields) as ABTestJson;
}

function withoutRows({ rows: _, ...others }: ABComparison): Omit<ABComparison, 'rows'> {
  return others;
}
