import { decodePart } from '../../internal/values.ts';

/** Optional details of a tracking error. */
interface TrackingFailureDetails {
  /** The error code of MLflow, such as RESOURCE_DOES_NOT_EXIST. */
  readonly errorCode?: string;
  /** Whether the same call may succeed later. */
  readonly isTransient?: boolean;
  /** Whether the server certainly did nothing, so that even a call that creates something may be repeated. */
  readonly isUndone?: boolean;
  /** The waiting time that the server requests, in milliseconds. */
  readonly retryAfterMillis?: number | undefined;
  readonly cause?: unknown;
}

/** Thrown within the tracking code if something cannot be tracked. Callers only see its message. */
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

/** The environment variables; those read are the ones of the MLflow client. */
export type TrackingEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the server and its credentials: those in the address, else `MLFLOW_TRACKING_USERNAME` with
 * `MLFLOW_TRACKING_PASSWORD`, else `MLFLOW_TRACKING_TOKEN`.
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
    // The rest of the address may hold a password.
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
