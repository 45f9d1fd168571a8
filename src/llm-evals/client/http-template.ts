import type { HttpEndpointConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { isMapping } from '../../internal/values.ts';

/** The names of the placeholders of a body. */
export const BODY_PLACEHOLDERS = ['prompt', 'system', 'messages', 'model', 'max_tokens', 'params'] as const;

/** The name of a placeholder of a body. */
type BodyPlaceholder = (typeof BODY_PLACEHOLDERS)[number];

/** The values of the placeholders of a body. */
export type BodyValues = Readonly<Record<BodyPlaceholder, unknown>>;

/** The body of a request if the configuration has none. */
export const DEFAULT_BODY = Object.freeze({ prompt: '{{prompt}}' });

const PLACEHOLDER = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

/** Matches a text that consists of a single placeholder. */
const ONLY_PLACEHOLDER = /^\{\{\s*([A-Za-z_]\w*)\s*\}\}$/;

/** Returns the names of all placeholders in the texts of a body. */
export function placeholdersInBody(body: unknown): ReadonlySet<string> {
  if (typeof body === 'string') return new Set([...body.matchAll(PLACEHOLDER)].map(([, name]) => String(name)));
  const inner = Array.isArray(body) ? (body as readonly unknown[]) : isMapping(body) ? Object.values(body) : [];
  return new Set(inner.flatMap((each) => [...placeholdersInBody(each)]));
}

/** The encoding of the values in a body. */
type BodyEncoding = 'json' | 'form' | 'plain';

/** Returns the encoding of a body by its content type. Without a content type, the body is JSON. */
export function encodingOf(headers: HttpEndpointConfig['headers']): BodyEncoding {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const [media = ''] = type.toLowerCase().split(';');
  if (media.trim() === '' || /[/+]json$/.test(media.trim())) return 'json';
  return media.trim() === 'application/x-www-form-urlencoded' ? 'form' : 'plain';
}

/**
 * Fills the placeholders of a body, and returns the text to send.
 *
 * In a JSON value, a text that consists of one placeholder becomes the value itself, so `"{{messages}}"` becomes a list.
 * In a text, the values are escaped for the encoding: in JSON, `"{{prompt}}"` stays a valid string whatever the prompt
 * contains, and `{{messages}}` becomes JSON. Each placeholder is filled once, so placeholders within a prompt are not
 * filled.
 */
export function fillBody(body: unknown, values: BodyValues, encoding: BodyEncoding): string {
  return typeof body === 'string' ? fillText(body, values, encoding) : JSON.stringify(fillValue(body, values));
}

function fillValue(body: unknown, values: BodyValues): unknown {
  if (typeof body === 'string') {
    const [, name] = ONLY_PLACEHOLDER.exec(body) ?? [];
    return isPlaceholder(name) ? values[name] : fillText(body, values, 'plain');
  }
  if (Array.isArray(body)) return body.map((each: unknown) => fillValue(each, values));
  if (!isMapping(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([key, each]) => [key, fillValue(each, values)]));
}

function fillText(text: string, values: BodyValues, encoding: BodyEncoding): string {
  return text.replaceAll(PLACEHOLDER, (written: string, name: string) =>
    isPlaceholder(name) ? encode(values[name], encoding) : written,
  );
}

function encode(value: unknown, encoding: BodyEncoding): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (encoding === 'form') return encodeURIComponent(text);
  return encoding === 'json' && typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : text;
}

function isPlaceholder(name: string | undefined): name is BodyPlaceholder {
  return BODY_PLACEHOLDERS.some((known) => known === name);
}

/** Values with which a template is checked. They contain characters that need to be escaped. */
const SAMPLE: BodyValues = {
  prompt: 'a "quoted"\nline \\',
  system: '"',
  messages: [{ role: 'user', content: '"' }],
  model: '"',
  max_tokens: 1,
  params: { a: '"' },
};

/** Returns whether a body with filled placeholders is valid JSON. */
export function isJsonTemplate(body: unknown): boolean {
  try {
    JSON.parse(fillBody(body, SAMPLE, 'json'));
    return true;
  } catch {
    return false;
  }
}
