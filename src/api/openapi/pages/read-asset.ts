import { readFile } from 'node:fs/promises';

import { decodeUtf8 } from '../../../internal/decode-utf8.ts';
import { type AssetName, assetPath } from './asset-files.ts';

/** A picture that ReDoc loads from the host of its makers; a page of ours asks no other host for anything. */
const OUTSIDE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** A transparent point. */
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const read = new Map<AssetName, Promise<Buffer>>();

/** The bytes of a file of the pages. Each is read once. */
export function readAsset(name: AssetName): Promise<Buffer> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const bytes = load(name);
  read.set(name, bytes);
  // Read again where it failed.
  bytes.catch(() => read.delete(name));
  return bytes;
}

async function load(name: AssetName): Promise<Buffer> {
  const bytes = await readFile(assetPath(name));
  return name === 'redoc.standalone.js'
    ? Buffer.from(decodeUtf8(bytes, name).replaceAll(OUTSIDE_LOGO, NO_PICTURE))
    : bytes;
}
