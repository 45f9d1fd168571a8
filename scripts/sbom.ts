// Writes a software bill of materials in the JSON format of CycloneDX 1.5: the packages that npm installs with evenhand,
// and those that the build bundles. Run from the root, after `npm run build`:
//   node --import tsx scripts/sbom.ts [--out FILE]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { bundledPackages, directDependencies, installedPackages, type ThirdParty } from './third-party.ts';

/** A package in the bill. */
interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** Returns the bill of materials. The same sources give the same bill: it has no time and no random number. */
export function billOfMaterials() {
  const own = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8')) as ThirdParty;
  const root = componentOf(own);
  const installed = installedPackages();
  const references = new Map(installed.map((each) => [each.folder, componentOf(each)['bom-ref']]));
  const refsOf = (folders: readonly string[]) => [...new Set(folders.map((folder) => references.get(folder) ?? folder))].sort(); // prettier-ignore
  const bundled = bundledPackages().map((each) => ({
    ...componentOf(each),
    properties: [{ name: 'evenhand:bundled', value: 'true' }],
  }));
  const components = new Map<string, Component>();
  // A package can be both installed and bundled, and installed twice.
  for (const each of [...bundled, ...installed.map((one) => ({ ...componentOf(one), ...hashesOf(one.integrity) }))]) {
    components.set(each['bom-ref'], { ...components.get(each['bom-ref']), ...each });
  }
  const edges = new Map([[root['bom-ref'], refsOf(directDependencies())]]);
  for (const { folder, dependencies } of installed) {
    const reference = references.get(folder) ?? folder;
    edges.set(reference, [...new Set([...(edges.get(reference) ?? []), ...refsOf(dependencies)])]);
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: root },
    components: [...components.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: [...edges].map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}

function componentOf({ name, version, license }: ThirdParty): Component {
  const component = {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: /^[\w.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }],
  };
  return component;
}

/** Returns a checksum of the lock file in hexadecimal digits. */
function hashesOf(integrity: string | undefined): Pick<Component, 'hashes'> {
  const [, digest] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? [];
  if (digest === undefined) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'out/evenhand.cdx.json' } } });
  const bill = billOfMaterials();
  mkdirSync(path.dirname(path.resolve(values.out)), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${values.out}: ${String(bill.components.length)} components`);
}
