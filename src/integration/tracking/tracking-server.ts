import { FairnessToolkitError } from '../../exceptions/index.ts';
import { fetchFailureOf, readLimitedText, retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { backoffMillis, sleep, withTimeLimit } from '../../internal/retry.ts';
import { decodePart, isMapping, parseObject } from '../../internal/values.ts';

/** Optional details of a tracking error. */
interface TrackingFailureDetails {
  /** The error code of MLflow, such as RESOURCE_DOES_NOT_EXIST. */
  readonly errorCode?: string;
  /** Whether the same call may succeed later. */
  readonly isTransient?: boolean;
  /**
   * Whether it is certain that the server did not process the call. If so, even a call that creates something may be
   * repeated.
   */
  readonly isUndone?: boolean;
  /** The waiting time that the server requests, in milliseconds. */
  readonly retryAfterMillis?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Thrown within the tracking code if something cannot be tracked. Callers of the library see only the message of this
 * error.
 */
export class TrackingFailure extends Error {
  readonly errorCode: string | undefined;
  readonly isTransient: boolean;
  readonly isUndone: boolean;
  readonly retryAfterMillis: number | undefined;

  constructor(reason: string, details: TrackingFailureDetails = {}) {
    super(reason, { cause: details.cause });
    this.name = 'TrackingFailure';
    this.errorCode = details.errorCode;
    this.isTransient = details.isTransient ?? false;
    this.isUndone = details.isUndone ?? false;
    this.retryAfterMillis = details.retryAfterMillis;
  }
}

/** A tracking server and its credentials. */
export interface TrackingServer {
  /** The address without credentials and without a trailing slash. */
  readonly address: string;
  /** The value of the Authorization header; undefined without credentials. */
  readonly authorization: string | undefined;
  /** Texts that must not appear in messages. */
  readonly secrets: readonly string[];
}

/** Environment variables, with the names that the MLflow client uses. */
type TrackingEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the server and its credentials. The credentials come from the address, else from `MLFLOW_TRACKING_USERNAME` and
 * `MLFLOW_TRACKING_PASSWORD`, else from `MLFLOW_TRACKING_TOKEN`.
 * @throws {TrackingFailure} if no http or https address of a server is given
 */
export function findTrackingServer(uri: string | undefined, environment: TrackingEnvironment): TrackingServer {
  const url = parseAddress(nonEmpty(uri) ?? nonEmpty(environment['MLFLOW_TRACKING_URI']));
  const credentials = credentialsOf(url, environment);
  return { address: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, ...credentials };
}

/** Parses the address of the server. */
function parseAddress(uri: string | undefined): URL {
  if (uri === undefined) {
    throw new TrackingFailure(
      'no server is configured: set MLFLOW_TRACKING_URI to the address of an MLflow tracking server',
    );
  }
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(uri) ?? [];
  if (scheme === undefined || !/^https?$/i.test(scheme)) {
    // The message does not show the rest of the address, which may contain a password.
    throw new TrackingFailure(
      `the tracking address must be an http or https URL, not ${scheme === undefined ? 'a name or a path' : `'${scheme}:'`}; for runs in files or in a database, start 'mlflow server'`,
    );
  }
  if (!URL.canParse(uri)) throw new TrackingFailure('the tracking address is not a valid URL');
  return new URL(uri);
}

function credentialsOf(url: URL, environment: TrackingEnvironment): Omit<TrackingServer, 'address'> {
  const user = nonEmpty(environment['MLFLOW_TRACKING_USERNAME']);
  const password = nonEmpty(environment['MLFLOW_TRACKING_PASSWORD']);
  const token = nonEmpty(environment['MLFLOW_TRACKING_TOKEN']);
  if (url.username !== '' || url.password !== '') return basic(decodePart(url.username), decodePart(url.password));
  if (user !== undefined && password !== undefined) return basic(user, password);
  if (token === undefined) return { authorization: undefined, secrets: [] };
  if (!/^[\x21-\x7E]+$/.test(token)) {
    throw new TrackingFailure('MLFLOW_TRACKING_TOKEN has characters that an HTTP header cannot hold');
  }
  return { authorization: `Bearer ${token}`, secrets: [token] };
}

function basic(user: string, password: string): Omit<TrackingServer, 'address'> {
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  return {
    authorization: `Basic ${encoded}`,
    secrets: [encoded, password, encodeURIComponent(password)].filter((text) => text !== ''),
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** The maximum length of a server's message in the log. */
const MAX_MESSAGE_LENGTH = 300;

/**
 * Returns the JSON of a response; null if the response is empty, as after an upload.
 * @throws {TrackingFailure} for a status other than 2xx, or content that is not a JSON object
 */
function readAnswer(response: Response, text: string): unknown {
  const { status } = response;
  if (status >= 300 && status < 400) throw redirected(response);
  const answer = text === '' ? null : parseObject(text);
  if (!response.ok) throw refused(response, answer);
  if (answer === undefined) {
    throw new TrackingFailure(
      `the response is not from MLflow (HTTP ${String(status)} without JSON): check the address`,
    );
  }
  return answer;
}

/** Returns the text that a path of keys leads to in a response; undefined if there is no such text. */
export function textAt(answer: unknown, ...names: readonly string[]): string | undefined {
  const found = names.reduce<unknown>(
    (value, name) => (isMapping(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    answer,
  );
  return typeof found === 'string' ? found : undefined;
}

/**
 * Returns the text at a path of keys in a response of MLflow. Every response must contain this path.
 * @throws {TrackingFailure} if the text is missing or empty
 */
export function requiredTextAt(answer: unknown, ...names: readonly string[]): string {
  const found = textAt(answer, ...names);
  if (found !== undefined && found !== '') return found;
  throw new TrackingFailure(`the response is not from MLflow (it has no ${names.join('.')}): check the address`);
}

function refused({ status, headers }: Response, answer: unknown): TrackingFailure {
  const errorCode = textAt(answer, 'error_code');
  const words = [errorCode, textAt(answer, 'message')].filter((word) => word !== undefined).join(': ');
  const said = words === '' ? '' : `, ${oneLine(words)}`;
  const advice = status === 401 || status === 403 ? '; check the credentials' : '';
  return new TrackingFailure(`the server answered HTTP ${String(status)}${said}${advice}`, {
    ...(errorCode === undefined ? {} : { errorCode }),
    isTransient: status === 429 || status >= 500,
    isUndone: status === 429 || status === 503,
    retryAfterMillis: retryAfterMillis(headers, machineClock(), { maxSeconds: MAX_RETRY_AFTER_SECONDS }),
  });
}

function redirected({ status, headers }: Response): TrackingFailure {
  const location = headers.get('location') ?? '';
  const elsewhere = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return new TrackingFailure(`the server redirects${elsewhere} (HTTP ${String(status)}): name the final address`);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
}

/** The maximum size of a response: 1 MiB. The responses of MLflow about a run are much smaller. */
const MAX_BYTES = 2 ** 20;

/**
 * Returns a response's text.
 * @throws {TrackingFailure} if the text has more than 1 MiB after decompression; a retry would not help
 * @throws {DataValidationError} if the text is not UTF-8
 */
async function readText(response: Response): Promise<string> {
  const { text, isComplete } = await readLimitedText(response, MAX_BYTES);
  if (!isComplete) throw new TrackingFailure('the response is longer than 1 MiB');
  return text;
}

/** A call of the REST API. */
interface ServerCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The path after the server's address, with the query. */
  readonly path: string;
  /** The body of the call. Bytes are sent unchanged, and all other values are sent as JSON. */
  readonly body?: unknown;
  /**
   * Whether the call is idempotent.
   * @defaultValue true
   */
  readonly isRepeatable?: boolean;
}

/**
 * Calls the server and returns its answer as parsed JSON.
 * @throws {TrackingFailure} if the call fails and there are no retries left
 */
export type CallServer = (call: ServerCall) => Promise<unknown>;

/** Options of {@link callerOf}. */
interface CallServerOptions {
  /** The time limit of one attempt, in milliseconds. */
  readonly timeoutMillis: number;
  /** A signal that ends the current call or the wait before a retry. */
  readonly signal: AbortSignal;
}

/** The maximum number of retries after a transient failure. */
const MAX_RETRIES = 3;

const BACKOFF = { baseMillis: 250 };

/** The maximum waiting time that a server can request, about 11 days. A longer request is ignored. */
const MAX_RETRY_AFTER_SECONDS = 999_999;

/** Codes of errors that occur before a connection exists, so that the server has not received the call. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * Returns a function that calls the server. After a network failure, a timeout, 429 or 5xx, the function retries up to
 * three times. It waits 250, 500 and 1000 milliseconds, or the time in the Retry-After header.
 */
export function callerOf(server: TrackingServer, options: CallServerOptions): CallServer {
  return async (call) => {
    for (let retry = 0; ; retry++) {
      try {
        return await callOnce(server, call, options);
      } catch (cause) {
        const problem = problemOf(cause, options.signal);
        if (retry >= MAX_RETRIES || !mayRepeat(call, problem)) throw problem;
        await pause(problem.retryAfterMillis ?? backoffMillis(retry, BACKOFF), options.signal);
      }
    }
  };
}

async function callOnce(
  server: TrackingServer,
  { method, path, body }: ServerCall,
  { timeoutMillis, signal }: CallServerOptions,
): Promise<unknown> {
  const isBytes = body instanceof Uint8Array;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = isBytes ? 'application/octet-stream' : 'application/json';
  if (server.authorization !== undefined) headers['authorization'] = server.authorization;
  const exceeded = (): Error =>
    new TrackingFailure(`the server did not respond within ${seconds(timeoutMillis)}`, { isTransient: true });
  return withTimeLimit(timeoutMillis, exceeded, signal, async (limit) => {
    const response = await fetch(`${server.address}${path}`, {
      method,
      headers,
      // A redirect would turn a POST into a GET, or carry credentials elsewhere.
      redirect: 'manual',
      signal: limit,
      ...(body === undefined ? {} : { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await readText(response).catch((cause: unknown) => {
      // An error status is reported even if the body cannot be read.
      if (response.ok || !FairnessToolkitError.isInstance(cause)) throw cause;
      return '';
    });
    return readAnswer(response, text);
  });
}

/** Returns a time in seconds for messages: '0.5 s'. */
export function seconds(millis: number): string {
  return `${String(millis / 1000)} s`;
}

/** Converts an error that a call threw to a {@link TrackingFailure}. A {@link TrackingFailure} stays unchanged. */
function problemOf(cause: unknown, signal: AbortSignal): TrackingFailure {
  const own = [cause, signal.aborted ? signal.reason : undefined].find((value) => value instanceof TrackingFailure);
  if (own !== undefined) return own;
  if (signal.aborted) return new TrackingFailure('tracking was stopped', { cause });
  // The response is not UTF-8. A retry would return the same bytes.
  if (FairnessToolkitError.isInstance(cause)) return new TrackingFailure(cause.message, { cause });
  const { code, message } = fetchFailureOf(cause) ?? { code: undefined, message: 'the reason is unknown' };
  return new TrackingFailure(`the server cannot be reached (${code ?? message})`, {
    isTransient: true,
    isUndone: code !== undefined && NEVER_CONNECTED.includes(code),
    cause,
  });
}

function mayRepeat({ isRepeatable = true }: ServerCall, problem: TrackingFailure): boolean {
  return problem.isTransient && (isRepeatable || problem.isUndone);
}

async function pause(millis: number, signal: AbortSignal): Promise<void> {
  await sleep(millis, signal).catch((cause: unknown) => {
    throw problemOf(cause, signal);
  });
}
