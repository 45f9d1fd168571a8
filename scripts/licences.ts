// Checks the licences of all packages that users get: those that npm installs with evenhand, and those that the build
// bundles. Prints a table, and exits with 1 if a licence is not allowed. Run from the root, after `npm run build`:
//   node --import tsx scripts/licences.ts
import { bundledPackages, installedPackages, type ThirdParty } from './third-party.ts';

/** The allowed licences by SPDX identifier, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  MIT: 'permissive',
  'Apache-2.0': 'permissive; the licence of evenhand',
  ISC: 'permissive',
  'BSD-2-Clause': 'permissive',
  'BSD-3-Clause': 'permissive',
  '0BSD': 'permissive',
  'BlueOak-1.0.0': 'permissive',
  'BSL-1.0': 'permissive (Boost)',
  'CC0-1.0': 'public domain',
  'CC-BY-3.0': 'attribution',
  'MPL-2.0': 'changes to its own files stay open; used unchanged, as separate files',
  'OFL-1.1': 'fonts that are part of software',
};

/** Returns whether an SPDX expression is satisfied by the allowed licences. It may have AND or OR, not both. */
export function isAllowed(expression: string): boolean {
  const inner = expression.replace(/^\((.*)\)$/, '$1');
  if (inner.includes(' OR ')) return inner.split(' OR ').some(isAllowed);
  if (inner.includes(' AND ')) return inner.split(' AND ').every(isAllowed);
  return Object.hasOwn(ALLOWED, inner);
}

/** Returns the names of packages by licence, the most frequent licence first. */
function byLicence(packages: readonly ThirdParty[]): [string, string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const { name, version, license } of packages) {
    groups.set(license, new Set([...(groups.get(license) ?? []), `${name}@${version}`]));
  }
  return [...groups]
    .map(([license, names]): [string, string[]] => [license, [...names].sort()])
    .sort(([, a], [, b]) => b.length - a.length);
}

if (process.argv[1] === import.meta.filename) {
  const groups = byLicence([...installedPackages(), ...bundledPackages()]);
  for (const [license, names] of groups) {
    const shown = names.length > 4 ? `${names.slice(0, 3).join(', ')} and others` : names.join(', ');
    console.log(`${license.padEnd(24)} ${String(names.length).padStart(4)}  ${ALLOWED[license] ?? ''}\n    ${shown}`);
  }
  const rejected = groups.filter(([license]) => !isAllowed(license));
  for (const [license, names] of rejected) {
    console.error(`The licence ${license} is not in the list of scripts/licences.ts: ${names.join(', ')}`);
  }
  if (rejected.length > 0) process.exitCode = 1;
}
