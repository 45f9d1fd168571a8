import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** A file of a documentation page. */
interface AssetFile {
  readonly mediaType: string;
  /** The development dependency of the file, and the path in it. The build copies the file under its name here. */
  readonly source: readonly [packageName: string, file: string];
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** The files of the pages, by the names under which they are built and served. */
export const ASSET_FILES = {
  'swagger-ui.min.css': { mediaType: 'text/css; charset=utf-8', source: ['swagger-ui-dist', 'swagger-ui.css'] },
  'swagger-ui-bundle.js': { mediaType: SCRIPT, source: ['swagger-ui-dist', 'swagger-ui-bundle.js'] },
  'swagger-ui-standalone-preset.js': {
    mediaType: SCRIPT,
    source: ['swagger-ui-dist', 'swagger-ui-standalone-preset.js'],
  },
  'favicon.png': { mediaType: 'image/png', source: ['swagger-ui-dist', 'favicon-32x32.png'] },
  'redoc.standalone.js': { mediaType: SCRIPT, source: ['redoc', 'bundles/redoc.standalone.js'] },
} as const satisfies Readonly<Record<string, AssetFile>>;

/** The name of a file of the pages. */
type AssetName = keyof typeof ASSET_FILES;

/**
 * Returns whether a file of the pages has this name. All other names are rejected, so that no path can lead to other
 * files.
 */
export function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSET_FILES, name);
}

/**
 * Returns the path of a file. The file is next to the compiled code, or, in a checkout, in the package that contains
 * it.
 */
function assetPath(name: AssetName): string {
  if (!import.meta.url.endsWith('.ts')) return fileURLToPath(new URL(`../assets/${name}`, import.meta.url));
  const [packageName, file] = ASSET_FILES[name].source;
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  return path.join(path.dirname(manifest), file);
}

/** A logo that ReDoc loads from an external host. Pages of the service must not load external resources. */
const OUTSIDE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** A transparent pixel. */
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const read = new Map<AssetName, Promise<Buffer>>();

/** Returns the bytes of a file of the pages. Each file is read once. */
export function readAsset(name: AssetName): Promise<Buffer> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const bytes = load(name);
  read.set(name, bytes);
  // Retry after a failure.
  bytes.catch(() => read.delete(name));
  return bytes;
}

async function load(name: AssetName): Promise<Buffer> {
  const bytes = await readFile(assetPath(name));
  return name === 'redoc.standalone.js'
    ? Buffer.from(decodeUtf8(bytes, name).replaceAll(OUTSIDE_LOGO, NO_PICTURE))
    : bytes;
}
