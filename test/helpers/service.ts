import type { RequestListener } from 'node:http';

import type Koa from 'koa';
import inject, { type InjectOptions, type Response } from 'light-my-request';

import { createApp } from '../../src/api/app/create-app.ts';
import type { AppOptions } from '../../src/api/app/app-options.ts';

/** A JSON body. */
export type Json = Record<string, unknown>;

/** A service for the tests of one suite, used without a port. */
export interface TestService {
  ask(request: InjectOptions): Promise<Response>;
  /** Sends POST with a JSON body. */
  post(url: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends POST with a form. */
  form(url: string, fields: Readonly<Record<string, string>>, file?: TestFile, headers?: Json): Promise<Response>;
  /** Sends POST with the parts of a form. */
  formData(url: string, form: FormData, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Waits for the end of a run and returns it. */
  ended(runId: string): Promise<Json>;
}

/** A file of a form. */
export interface TestFile {
  readonly name: string;
  readonly content: string | Buffer;
}

/** Returns the listener of an app for a server of node:http. */
export function listenerOf(app: Pick<Koa, 'callback'>): RequestListener {
  const answer = app.callback();
  return (request, response) => void answer(request, response);
}

/** Sends a request to an app without a port. */
export function askApp(app: Pick<Koa, 'callback'>, request: InjectOptions): Promise<Response> {
  return inject(listenerOf(app), request);
}

/** Starts a service before the tests of a suite and ends it after them. */
export function useService(options: AppOptions = {}): TestService {
  let app: ReturnType<typeof createApp>;
  before(async function () {
    this.timeout(60_000);
    app = createApp({ keys: [], threads: 1, ...options });
    await app.ready();
  });
  after(async function () {
    this.timeout(60_000);
    await app.close(1000);
  });
  const ask = (request: InjectOptions): Promise<Response> => askApp(app, request);
  const post: TestService['post'] = (url, body, headers = {}) =>
    ask({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const form: TestService['form'] = (url, fields, file, headers = {}) => {
    const { type, payload } = formOf(fields, file);
    return ask({
      method: 'POST',
      url,
      headers: { 'content-type': type, ...(headers as Record<string, string>) },
      payload,
    });
  };
  const formData: TestService['formData'] = async (url, parts, headers = {}) => {
    // The platform encodes the form, as in any client that uses fetch.
    const encoded = new Request('http://127.0.0.1/', { method: 'POST', body: parts });
    return ask({
      method: 'POST',
      url,
      headers: { 'content-type': encoded.headers.get('content-type') ?? '', ...headers },
      payload: Buffer.from(await encoded.arrayBuffer()),
    });
  };
  return {
    ask,
    post,
    form,
    formData,
    ended: async (runId) => {
      for (let tries = 0; tries < 600; tries++) {
        const run = (await ask({ method: 'GET', url: `/results/${runId}` })).json<Json>();
        if (!['queued', 'running'].includes(String(run['status']))) return run;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`run ${runId} has not ended`);
    },
  };
}

const BOUNDARY = 'a-boundary-of-these-tests';

/** Encodes a form like a browser. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file?: TestFile,
): { readonly type: string; readonly payload: Buffer } {
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  if (file !== undefined) {
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"\r\nContent-Type: text/csv\r\n\r\n`;
    parts.push(Buffer.from(head), Buffer.from(file.content), Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${BOUNDARY}--\r\n`));
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, payload: Buffer.concat(parts) };
}
