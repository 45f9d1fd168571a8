import { createParser } from 'eventsource-parser';

/** Whether the service accepts only requests with a key. */
export const NEEDS_KEY = document.documentElement.dataset['key'] === 'needed';

/** The key. It is kept in memory only: a page that is loaded again asks again. */
let key: string | undefined;

/** Keeps the key for the requests of this page, or forgets it. */
export function keepKey(given: string | undefined): void {
  key = given;
}

/** An answer of the service that is no result. */
export class ServiceError extends Error {
  readonly status: number;
  readonly suggestion: string | undefined;

  constructor(status: number, message: string, suggestion: string | undefined) {
    super(message);
    this.status = status;
    this.suggestion = suggestion;
  }
}

/** Returns an address of the service, which serves this page. */
export function serviceUrl(path: string): string {
  return `${document.documentElement.dataset['base'] ?? '.'}/${path}`;
}

/** Sends a request with the key. */
async function request(
  path: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Response> {
  const answer = await fetch(serviceUrl(path), {
    headers: key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` },
    // With credentials, the browser would open its own dialogue for a refused key.
    credentials: NEEDS_KEY ? 'omit' : 'same-origin',
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ServiceError(0, 'The service cannot be reached.', 'Is it still running?');
  });
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => ({}))) as { readonly detail?: string; readonly suggestion?: string };
  throw new ServiceError(
    answer.status,
    problem.detail ?? `The service answered ${String(answer.status)}.`,
    problem.suggestion,
  );
}

/** Returns an answer of the service in JSON. */
export async function readService<T>(path: string): Promise<T> {
  return (await (await request(path, { accept: 'application/json' })).json()) as T;
}

/** Returns a file of the service. */
export async function fileOfService(path: string, accept: string): Promise<Blob> {
  return (await request(path, { accept })).blob();
}

const RETRY_MILLIS = 2000;

/** Follows the progress of a run until it has ended, also after a lost connection. */
export async function followRun(
  id: string,
  onProgress: (progress: { readonly stage: string; readonly done: number; readonly total: number }) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = '0';
  const parser = createParser({
    onEvent: ({ id: own, event, data }) => {
      last = own ?? last;
      if (event === 'progress') onProgress(JSON.parse(data) as Parameters<typeof onProgress>[0]);
    },
  });
  while (!signal.aborted) {
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': last };
      const { status, body } = await request(`results/${encodeURIComponent(id)}/events`, headers, signal);
      if (status === 204 || body === null) return;
      parser.reset();
      const decoder = new TextDecoder();
      for (const reader = body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        parser.feed(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      // A run that is unknown, or a key that is refused, does not become another one by asking again.
      if (error instanceof ServiceError && error.status >= 400 && error.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
  }
}
