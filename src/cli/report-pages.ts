import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { decodeUtf8, tryDecodeUtf8 } from '../internal/decode-utf8.ts';
import { tryParseJson } from '../internal/values.ts';
import type { ReportPages } from './view-server.ts';

/** The maximum number of bytes of a report. A larger JSON file holds data. */
const LARGEST_BYTES = 64 * 2 ** 20;

/**
 * Returns the page of a report: an HTML page as it is, or a page made from the JSON of an evaluation. Returns undefined
 * if the file is no report.
 */
export async function reportOf(file: string): Promise<(() => Promise<string>) | undefined> {
  const extension = path.extname(file).toLowerCase();
  if (extension === '.html' || extension === '.htm') return async () => decodeUtf8(await readFile(file), file);
  if (extension !== '.json') return undefined;
  return (await pageOfJson(file)) === undefined ? undefined : async () => (await pageOfJson(file)) ?? '';
}

/** Returns the reports of evaluations in a folder. A JSON file with a page of the same name is omitted. */
export async function reportsIn(folder: string): Promise<ReportPages> {
  const names = (await readdir(folder)).sort();
  const pages = new Map<string, () => Promise<string>>();
  for (const name of names) {
    const base = path.basename(name, path.extname(name));
    if (path.extname(name) === '.json' && names.includes(`${base}.html`)) continue;
    const page = await reportOf(path.join(folder, name));
    if (page !== undefined) pages.set(name, page);
  }
  return pages;
}

async function pageOfJson(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > LARGEST_BYTES) return undefined;
  const [{ documentToHtml }, { isLlmEvalJson, llmEvalDocumentFromJson }] = await Promise.all([
    import('../document/document-to-html.ts'),
    import('../llm-evals/report/llm-eval-from-json.ts'),
  ]);
  // Data can be JSON lines.
  const json = tryParseJson(tryDecodeUtf8(await readFile(file)) ?? '');
  return isLlmEvalJson(json) ? documentToHtml(llmEvalDocumentFromJson(json)) : undefined;
}
