import { decodePart } from '../../internal/values.ts';

/** Details of a {@link TrackingFault}. */
interface TrackingFaultDetails {
  /** MLflow's code for the error, such as RESOURCE_DOES_NOT_EXIST. */
  readonly errorCode?: string;
  /** Whether a retry may succeed. */
  readonly isTransient?: boolean;
  /** Whether the server has certainly done nothing, so that even a call that creates something can be retried. */
  readonly isUndone?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMillis?: number | undefined;
  readonly cause?: unknown;
}

/** The reason why something was not tracked. Internal: tracking reports its message and does not throw it. */
export class TrackingFault extends Error {
  readonly errorCode: string | undefined;
  readonly isTransient: boolean;
  readonly isUndone: boolean;
  readonly retryAfterMillis: number | undefined;

  constructor(reason: string, details: TrackingFaultDetails = {}) {
    super(reason, { cause: details.cause });
    this.name = 'TrackingFault';
    this.errorCode = details.errorCode;
    this.isTransient = details.isTransient ?? false;
    this.isUndone = details.isUndone ?? false;
    this.retryAfterMillis = details.retryAfterMillis;
  }
}

/** A tracking server. */
export interface TrackingServer {
  /** The address without credentials and without a trailing slash. */
  readonly address: string;
  /** The value of the Authorization header; undefined if there are no credentials. */
  readonly authorization: string | undefined;
  /** Texts that messages must not show. */
  readonly secrets: readonly string[];
}

/** The environment variables, with the same names as for MLflow's own client. */
export type TrackingEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the server and its credentials: those in the address, else `MLFLOW_TRACKING_USERNAME` with
 * `MLFLOW_TRACKING_PASSWORD`, else `MLFLOW_TRACKING_TOKEN`.
 * @param uri the address; `MLFLOW_TRACKING_URI` if it is undefined or empty
 * @throws {TrackingFault} if there is no http or https address, or the token is not valid
 */
export function findTrackingServer(uri: string | undefined, environment: TrackingEnvironment): TrackingServer {
  const url = parseAddress(nonEmpty(uri) ?? nonEmpty(environment['MLFLOW_TRACKING_URI']));
  const credentials = credentialsOf(url, environment);
  return { address: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, ...credentials };
}

/** Parses an address. No error shows what follows its scheme, which may contain a password. */
function parseAddress(uri: string | undefined): URL {
  if (uri === undefined) {
    throw new TrackingFault('no server is named: set MLFLOW_TRACKING_URI to the address of an MLflow tracking server');
  }
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(uri) ?? [];
  if (scheme === undefined || !/^https?$/i.test(scheme)) {
    throw new TrackingFault(
      `only a server with an http or https address can be tracked on, not ${scheme === undefined ? 'a name or a path' : `'${scheme}:'`}; runs in files or in a database are served by 'mlflow server'`,
    );
  }
  if (!URL.canParse(uri)) throw new TrackingFault('the tracking address is not a valid URL');
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
    throw new TrackingFault('MLFLOW_TRACKING_TOKEN has characters that an HTTP header cannot hold');
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
