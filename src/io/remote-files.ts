import { ConfigValidationError, type DataValidationError, DependencyError } from '../exceptions/index.ts';
import { type DataFile, isRemote } from '../schemas/data-source.ts';
import { cannotRead, escapeGlob } from './csv-header.ts';
import { quoteLiteral, type SqlSession } from './sql-engine.ts';

/** The environment variables with credentials. Their values are not shown. */
const SECRETS = {
  KEY_ID: 'AWS_ACCESS_KEY_ID',
  SECRET: 'AWS_SECRET_ACCESS_KEY',
  SESSION_TOKEN: 'AWS_SESSION_TOKEN',
} as const;

/** The environment variable with the path of DuckDB's extension httpfs. */
const EXTENSION = 'EVENHAND_DUCKDB_HTTPFS';

/** The maximum number of lines of a header. A quoted name may contain newlines. */
const MAX_HEADER_LINES = 100;

/**
 * Prepares a database for files on S3: loads the extension, and sets the credentials and the endpoint from the
 * environment. Nothing is downloaded.
 * @throws {DependencyError} if the extension is not installed
 * @throws {ConfigValidationError} if AWS_ENDPOINT_URL is not a URL
 */
export async function openRemote(session: SqlSession, env = process.env): Promise<void> {
  const { [EXTENSION]: extension = '', AWS_REGION: region = '', AWS_ENDPOINT_URL: endpoint = '' } = env;
  const options = Object.entries({
    ...Object.fromEntries(Object.entries(SECRETS).map(([option, name]) => [option, env[name] ?? ''])),
    REGION: region,
    ...(endpoint === '' ? {} : endpointOptions(endpoint)),
  }).flatMap(([name, value]) => (value === '' ? [] : [`${name} ${quoteLiteral(value)}`]));
  try {
    await session.rows(`LOAD ${extension === '' ? 'httpfs' : quoteLiteral(extension)}`);
  } catch (cause) {
    throw await noExtension(session, extension, cause);
  }
  // In memory, for this database only.
  await session.rows(`CREATE OR REPLACE TEMPORARY SECRET evenhand (${['TYPE s3', ...options].join(', ')})`);
}

/** Returns the options for an S3 service other than that of Amazon. */
function endpointOptions(endpoint: string): Record<string, string> {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConfigValidationError('AWS_ENDPOINT_URL must be a URL that begins with http:// or https://.', {
      context: { parameter: 'AWS_ENDPOINT_URL' },
      suggestion: 'Write https://HOST or https://HOST:PORT.',
    });
  }
  return {
    ENDPOINT: `${url.host}${url.pathname.replace(/\/$/, '')}`,
    USE_SSL: String(url.protocol === 'https:'),
    URL_STYLE: 'path',
  };
}

async function noExtension(session: SqlSession, extension: string, cause: unknown): Promise<DependencyError> {
  const { oneLine } = await import('./duckdb.ts');
  const [row] = await session.rows('SELECT version()');
  const version = String(row?.[0]).replace(/^v/, '');
  return new DependencyError("Files on S3 need DuckDB's extension httpfs, which cannot be loaded.", {
    context: { extension: 'httpfs', path: extension, version, reason: oneLine(cause) },
    suggestion: `Install it with: python3 -m pip install duckdb-extension-httpfs==${version}, and set ${EXTENSION} to the path of its file httpfs.duckdb_extension. Or run INSTALL httpfs in DuckDB ${version}.`,
    cause,
  });
}

/** Returns the paths that match a glob on S3. */
export async function globRemote(session: SqlSession, glob: string): Promise<string[]> {
  try {
    return (await session.rows(`SELECT file FROM glob(${quoteLiteral(glob)})`)).map(([path]) => String(path));
  } catch (cause) {
    throw await remoteProblem(glob, cause);
  }
}

/**
 * Checks that a file on S3 exists and is not empty.
 * @throws {DataValidationError} if it does not, or the storage does not answer
 */
export async function assertRemoteFile(session: SqlSession, { path, name }: DataFile): Promise<void> {
  const rows = await session
    .rows(`SELECT size FROM read_blob(${quoteLiteral(escapeGlob(path))})`)
    .catch(async (cause: unknown) => {
      throw await remoteProblem(name, cause);
    });
  if (Number(rows[0]?.[0]) === 0) throw cannotRead(name, 'the file is empty', 'Export it again, with a header line.');
}

/** Returns the first lines of a text file on S3. */
export async function readRemoteLines(session: SqlSession, { path, name }: DataFile): Promise<string> {
  const options = `auto_detect=false, header=false, delim='\x01', quote='', escape='', columns={'line': 'VARCHAR'}`;
  const lines = `read_csv(${quoteLiteral(escapeGlob(path))}, ${options})`;
  const rows = await session
    .rows(`SELECT line FROM ${lines} LIMIT ${String(MAX_HEADER_LINES)}`)
    .catch(async (cause: unknown) => {
      throw await remoteProblem(name, cause);
    });
  return rows.map(([line]) => (typeof line === 'string' ? line : '')).join('\n');
}

/** Returns the error for a query that failed because a storage did not answer; undefined for other errors. */
export async function storageProblem(
  files: readonly DataFile[],
  cause: unknown,
): Promise<DataValidationError | undefined> {
  const isOfStorage = cause instanceof Error && /^(HTTP|IO) Error/.test(cause.message);
  const remote = files.filter(({ path }) => isRemote(path));
  const [first] = remote;
  if (!isOfStorage || first === undefined) return undefined;
  const named = remote.find(({ path }) => cause.message.includes(path)) ?? first;
  return remoteProblem(named.name, cause);
}

/** Returns the error for a file on S3, without the credentials that a storage may repeat. */
async function remoteProblem(name: string, cause: unknown): Promise<DataValidationError> {
  const { oneLine } = await import('./duckdb.ts');
  const reason = Object.values(SECRETS).reduce((text, variable) => {
    const secret = process.env[variable] ?? '';
    return secret === '' ? text : text.replaceAll(secret, `[${variable}]`);
  }, oneLine(cause));
  const [problem, suggestion] = /HTTP 404/.test(reason)
    ? ['there is no such file', 'Check the bucket and the path.']
    : /HTTP 40[013]/.test(reason)
      ? [
          'the storage refuses access',
          'Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and check the rights of the user.',
        ]
      : ['it cannot be read from the storage', 'Check the network and AWS_ENDPOINT_URL.'];
  return cannotRead(name, `${problem} (${reason.replace(/[.!?]$/, '')})`, suggestion);
}
