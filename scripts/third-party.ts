// Lists the packages of third parties that users of evenhand get.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** A package with its licence as an SPDX expression. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** A package in the lock file. */
export interface InstalledPackage extends ThirdParty {
  /** The path of the package in the lock file. */
  readonly folder: string;
  /** The checksum of the package's archive, as `sha512-…` in base64. */
  readonly integrity: string | undefined;
  /** The paths of the packages that it depends on. */
  readonly dependencies: readonly string[];
}

/** The entry of a package in package-lock.json. */
interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly link?: boolean;
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(path.join(root, name), 'utf8'));
}

/**
 * Returns the packages that npm installs with evenhand, on any platform, from the lock file. `npm sbom --omit peer` lists
 * only half of them: it leaves out packages that an optional peer needs too.
 */
export function installedPackages(): InstalledPackage[] {
  const packages = readLock();
  return Object.entries(packages)
    .filter(([folder, entry]) => folder !== '' && isInstalled(entry))
    .map(([folder, entry]) => ({
      ...describe(folder.slice(folder.lastIndexOf(FOLDER) + FOLDER.length), entry),
      folder,
      integrity: entry.integrity,
      dependencies: dependenciesOf(folder, packages),
    }));
}

/** Returns the paths of the packages that evenhand itself depends on. */
export function directDependencies(): string[] {
  return dependenciesOf('', readLock());
}

const FOLDER = 'node_modules/';

function readLock(): Readonly<Record<string, LockEntry>> {
  return (readJson('package-lock.json') as { readonly packages: Readonly<Record<string, LockEntry>> }).packages;
}

function isInstalled({ dev, devOptional, peer, link }: LockEntry): boolean {
  return ![dev, devOptional, peer, link].includes(true);
}

/** Returns the paths of a package's dependencies, each in the nearest folder above, as Node.js finds them. */
function dependenciesOf(folder: string, packages: Readonly<Record<string, LockEntry>>): string[] {
  const { dependencies, optionalDependencies } = packages[folder] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    for (let above = folder; ; above = above.slice(0, Math.max(0, above.lastIndexOf(`/${FOLDER}`)))) {
      const place = above === '' ? `${FOLDER}${name}` : `${above}/${FOLDER}${name}`;
      const entry = packages[place];
      if (entry !== undefined) return isInstalled(entry) ? [place] : [];
      if (above === '') return [];
    }
  });
}

/** Returns the packages of which the build copies or bundles parts, from dist/THIRD-PARTY.txt. */
export function bundledPackages(): ThirdParty[] {
  const file = path.join(root, 'dist/THIRD-PARTY.txt');
  if (!existsSync(file)) throw new Error('dist/THIRD-PARTY.txt does not exist. Run: npm run build');
  const [, ...parts] = readFileSync(file, 'utf8').split(`\n\n${'-'.repeat(80)}\n\n`);
  // The text of a licence may contain the same rule. The line after it is not a list of packages.
  const names = parts
    .flatMap((part) => part.split('\n', 1)[0]?.split(', ') ?? [])
    .filter((name) => existsSync(path.join(root, 'node_modules', name, 'package.json')));
  return [...new Set(names)].sort().map((name) => describe(name, readJson(`node_modules/${name}/package.json`) as LockEntry)); // prettier-ignore
}

function describe(name: string, { version = '', license = 'none' }: LockEntry): ThirdParty {
  return { name, version, license };
}
