import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { abTestDocument } from './ab-test-document.ts';
import type { ABTestFields } from './ab-test-fields.ts';
import { type ABTestJson, abTestToJson } from './ab-test-json.ts';

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
