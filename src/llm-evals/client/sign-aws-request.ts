import { createHash, createHmac } from 'node:crypto';

/** The credentials that sign requests to AWS, and the region of the service. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials; null for permanent credentials. */
  readonly sessionToken: string | null;
  readonly region: string;
}

/** A request to sign. */
export interface UnsignedRequest {
  readonly method: string;
  readonly address: string;
  readonly body: string;
  /** The headers to sign in addition to the host, the date and the session token. The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a request to AWS with Signature Version 4, and returns the headers to add: `x-amz-date`, `authorization` and,
 * for temporary credentials, `x-amz-security-token`. The path is encoded twice, as all services except S3 require.
 * @param service the name of the service in signatures, such as `bedrock`
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signAwsRequest(
  request: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken, region }: AwsCredentials,
  service: string,
  now: Date,
): Record<string, string> {
  const url = new URL(request.address);
  const date = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = date.slice(0, 8);
  const own = { 'x-amz-date': date, ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }) };
  const headers = Object.entries({ ...request.headers, ...own, host: url.host }).sort(byName);
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    url.pathname.split('/').map(encode).join('/'),
    canonicalQuery(url),
    ...headers.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    digest(request.body),
  ].join('\n');
  const scope = [day, region, service, 'aws4_request'];
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), digest(canonical)].join('\n');
  const key = scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  const credential = `Credential=${accessKeyId}/${scope.join('/')}`;
  return { ...own, authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}` };
}

function byName([first]: readonly [string, string], [second]: readonly [string, string]): number {
  return first < second ? -1 : 1;
}

/** Returns the query with encoded names and values, sorted by the encoded texts. */
function canonicalQuery({ searchParams }: URL): string {
  return [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort().join('&'); // prettier-ignore
}

/** Encodes every character except the unreserved characters of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function digest(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}
