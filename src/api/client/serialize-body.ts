/**
 * A body as it is sent: texts and bytes as they are, an object with a file in it as a form, any other as JSON.
 * @param body what the types of the operation ask for
 */
export function serializeBody(body: unknown): string | Blob | FormData {
  if (typeof body === 'string' || body instanceof Blob || body instanceof FormData) return body;
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const entries: [string, unknown][] = Object.entries(body);
  return entries.some(([, value]) => value instanceof Blob) ? formOf(entries) : JSON.stringify(body);
}

/** Fields of a form are texts, whatever they stand for. */
function formOf(entries: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}
